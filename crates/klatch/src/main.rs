//! The command line of Klatch: one file per command.

#[macro_use]
mod output;

mod build;
mod calibrate;
mod compare;
mod conformance;
mod crowd;
mod floor;
mod instruments;
mod lab;
mod merge;
mod open;
mod plan;
mod platforms;
mod probe;
mod report;
mod run;
mod sched;
mod schema;
mod serve;
mod spread;
mod study;
mod trace;
mod workload;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use klatch_platforms::put_back_leftovers;
use klatch_privileges::act_as_invoker;
use klatch_record::error_chain;

/// Klatch: a chat-room benchmark for runtimes, servers, kernels and schedulers.
#[derive(Parser)]
#[command(name = "klatch", version = build::VERSION, max_term_width = 110)]
struct Klatch {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Box<run::Run>),
    Compare(compare::Compare),
    Calibrate(calibrate::Calibrate),
    Platforms(platforms::Platforms),
    Study(study::Study),
    Report(report::Report),
    Open(open::Open),
    Floor(floor::Floor),
    Instruments(instruments::Instruments),
    Serve(serve::Serve),
    Crowd(crowd::Crowd),
    Plan(plan::Plan),
    Merge(merge::Merge),
    Conformance(conformance::Conformance),
    Trace(trace::Trace),
    Sched(sched::Sched),
    Lab(lab::Lab),
    Probe(probe::Probe),
    Schema(schema::Schema),
}

/// Usage errors and whatever keeps a command from running.
const COULD_NOT_RUN: u8 = 2;
/// It cannot be told whether a score counts.
const UNKNOWN: u8 = 3;
/// What a shell expects of a program that Ctrl-C has stopped.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    // Before any thread starts and any file is opened.
    if let Err(error) = act_as_invoker() {
        eprintln!("klatch: {}", error_chain(&error));
        return ExitCode::from(COULD_NOT_RUN);
    }
    let command = Klatch::parse().command;
    // Server and crowd are started by a klatch that has looked already.
    if !matches!(command, Command::Serve(_) | Command::Crowd(_)) {
        put_back_leftovers().iter().for_each(|leftover| eprintln!("klatch: {leftover}"));
    }
    let done = match command {
        Command::Run(run) => run.execute(),
        Command::Compare(compare) => compare.execute(),
        Command::Calibrate(calibrate) => calibrate.execute(),
        Command::Platforms(platforms) => platforms.execute(),
        Command::Study(study) => study.execute(),
        Command::Report(report) => report.execute(),
        Command::Open(open) => open.execute(),
        Command::Floor(floor) => floor.execute(),
        Command::Instruments(instruments) => instruments.execute(),
        Command::Serve(serve) => serve.execute(),
        Command::Crowd(crowd) => crowd.execute(),
        Command::Plan(plan) => plan.execute(),
        Command::Merge(merge) => merge.execute(),
        Command::Conformance(conformance) => conformance.execute(),
        Command::Trace(trace) => trace.execute(),
        Command::Sched(sched) => sched.execute(),
        Command::Lab(lab) => lab.execute(),
        Command::Probe(probe) => probe.execute(),
        Command::Schema(schema) => schema.execute(),
    };
    let status = done.unwrap_or_else(|error| {
        eprintln!("klatch: {}", error_chain(error.as_ref()));
        ExitCode::from(COULD_NOT_RUN)
    });
    match output::end() {
        Ok(()) => status,
        Err(error) => {
            eprintln!("klatch: cannot write to standard output: {}", error_chain(&error));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}
