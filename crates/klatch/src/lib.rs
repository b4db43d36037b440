//! The command line of Klatch: one file per command.

mod advice;
mod browse;
mod calibrate;
mod compare;
mod completions;
mod conformance;
mod crowd;
mod doctor;
mod duet;
mod duet_side;
mod floor;
mod hdr;
mod help;
mod history;
mod hosts;
mod instruments;
mod interrupt;
mod lab;
mod login;
mod man;
mod merge;
mod next;
mod output;
mod pager;
mod plan;
mod platforms;
mod probe;
mod quantity;
mod report;
mod require;
mod run;
mod sched;
mod schema;
mod serve;
#[cfg(test)]
mod settings_tests;
mod shard_option;
mod simulate;
mod spread;
mod study;
mod trace;
mod transport;
mod usage_error;
mod use_file;
mod version;
mod web_files;
mod web_view;
mod workload;

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use klatch_host::privileges::act_as_invoker;
use klatch_platforms::restore_stale_sysctls;
use klatch_record::error_chain;

use crate::output::print_error;

/// Klatch loads a server with many connections whose every message is checked, and shows how fast it is, whether it scales, and where the time goes
#[derive(Parser)]
#[command(name = "klatch", version = version::VERSION, max_term_width = 110)]
struct Klatch {
    /// Print long texts as a whole, and not through the pager (PAGER, or less)
    #[arg(long)]
    no_pager: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Box<run::RunOfWorkload>),
    Compare(compare::Compare),
    Duet(Box<duet::Duet>),
    Study(study::Study),
    History(history::History),
    Report(report::Report),
    Platforms(platforms::Platforms),
    Instruments(instruments::Instruments),
    Calibrate(calibrate::Calibrate),
    Floor(floor::Floor),
    Conformance(conformance::Conformance),
    WebFiles(web_files::WebFiles),
    Browse(browse::Browse),
    Serve(serve::Serve),
    Crowd(crowd::Crowd),
    Plan(plan::Plan),
    Merge(merge::Merge),
    Trace(trace::Trace),
    Sched(sched::Sched),
    Lab(lab::Lab),
    Simulate(simulate::Simulate),
    Probe(probe::Probe),
    Schema(schema::Schema),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
    Man(man::Manual),
}

/// Exit status after a usage error, or an error that keeps a command from running.
const COULD_NOT_RUN: u8 = 2;
/// Exit status if there is no fault, but the score may not be the server's.
const UNKNOWN: u8 = 3;
/// Exit status if the data cannot decide a requirement, or could not show what a gate asks for.
const BLIND: u8 = 4;
/// Exit status if a requirement is not met.
const NOT_MET: u8 = 5;
/// Exit status after Ctrl-C, by the convention of shells: 128 + SIGINT.
const INTERRUPTED: u8 = 130;
/// What a shell adds to the number of the signal that ended a command, for its exit status.
const SIGNAL_BASE: i32 = 128;

/// Klatch's command line, for parsing without running anything.
#[must_use]
pub fn command_line() -> clap::Command {
    let command = Klatch::command();
    let template = help::template(&command);
    command.help_template(template)
}

/// Runs the command of this process's arguments.
#[must_use]
pub fn main() -> ExitCode {
    interrupt::survive_file_size_limit();
    // Before any thread starts and any file is opened.
    if let Err(error) = act_as_invoker() {
        print_error(format_args!("klatch: {}", error_chain(&error)));
        return ExitCode::from(COULD_NOT_RUN);
    }
    if let Some(topic) = help::topic(std::env::args()) {
        pager::print_long(topic);
        return end_of_output(ExitCode::SUCCESS);
    }
    let line: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let arguments = workload::with_own_help(command_line(), &line)
        .try_get_matches()
        .unwrap_or_else(|error| usage_error::answer(error, &line));
    let Klatch { no_pager, command } =
        Klatch::from_arg_matches(&arguments).unwrap_or_else(|error| error.exit());
    if no_pager {
        pager::disable();
    }
    // A klatch that starts servers and crowds has already restored the sysctls.
    if !matches!(command, Command::Serve(_) | Command::Crowd(_)) {
        restore_stale_sysctls().iter().for_each(|leftover| print_error(format_args!("klatch: {leftover}")));
    }
    let status = command.execute().unwrap_or_else(|error| {
        let advice = advice::advice(&error).map_or(String::new(), |advice| format!(": {advice}"));
        print_error(format_args!("klatch: {}{advice}", error_chain(error.as_ref())));
        ExitCode::from(COULD_NOT_RUN)
    });
    end_of_output(status)
}

/// The exit status of a process, passed on as shells do.
fn exit_as(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNAL_BASE + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The exit status of a command that ended with this one, when all that it printed is written.
fn end_of_output(status: ExitCode) -> ExitCode {
    match output::finish() {
        Ok(()) => status,
        Err(error) => {
            print_error(format_args!("klatch: cannot write to standard output: {}", error_chain(&error)));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

impl Command {
    fn execute(self) -> anyhow::Result<ExitCode> {
        match self {
            Command::Run(run) => run.0.execute(),
            Command::Compare(compare) => compare.execute(),
            Command::Duet(duet) => duet.execute(),
            Command::Study(study) => study.execute(),
            Command::History(history) => history.execute(),
            Command::Report(report) => report.execute(),
            Command::Platforms(platforms) => platforms.execute(),
            Command::Instruments(instruments) => instruments.execute(),
            Command::Calibrate(calibrate) => calibrate.execute(),
            Command::Floor(floor) => floor.execute(),
            Command::Conformance(conformance) => conformance.execute(),
            Command::WebFiles(files) => files.execute(),
            Command::Browse(browse) => browse.execute(),
            Command::Serve(serve) => serve.execute(),
            Command::Crowd(crowd) => crowd.execute(),
            Command::Plan(plan) => plan.execute(),
            Command::Merge(merge) => merge.execute(),
            Command::Trace(trace) => trace.execute(),
            Command::Sched(sched) => sched.execute(),
            Command::Lab(lab) => lab.execute(),
            Command::Simulate(simulate) => simulate.execute(),
            Command::Probe(probe) => probe.execute(),
            Command::Schema(schema) => schema.execute(),
            Command::Doctor(doctor) => doctor.execute(),
            Command::Completions(completions) => completions.execute(),
            Command::Man(manual) => manual.execute(),
        }
    }
}
