//! `klatch sched`.

use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use klatch_platforms::Setting;
use klatch_privileges::confine;
use klatch_schedulers::{Loaded, Report, Scheduler, SchedulerError, all, find, running, state};

/// Load a scheduler of history into this kernel (sched_ext), and run something under it.
#[derive(Args)]
pub(crate) struct Sched {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the schedulers; with a name its policy, knobs and statistics
    List {
        /// One of them
        name: Option<String>,
    },
    /// Tell which scheduler is in force
    Status,
    /// Print what the scheduler that is in force has counted so far
    Stats,
    /// Load a scheduler, run a command, check that the scheduler stayed in force, unload it
    ///
    /// Exit status: the command's; 1 if the scheduler did not stay in force, 2 if it could not be loaded.
    Run(Run),
}

#[derive(Args)]
struct Run {
    /// The scheduler
    name: String,
    /// Something to set about it; `klatch sched list NAME` tells what
    #[arg(long = "knob", value_name = "NAME=VALUE")]
    knobs: Vec<Setting>,
    /// Write what it counted to a new file, as JSON, instead of printing it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What is to run under it
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Sched {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action {
            Action::List { name: None } => {
                all().iter().for_each(|one| println!("{:<12}{}", one.name, one.shows()))
            }
            Action::List { name: Some(name) } => tell(find(&name)?),
            Action::Status => status()?,
            Action::Stats => stats()?,
            Action::Run(run) => return run.execute(),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn tell(one: &Scheduler) {
    println!("{}\n", one.about());
    for knob in one.knobs() {
        println!("knob {}={} ({}..={}): {}", knob.name, knob.default, knob.min, knob.max, knob.what);
    }
    one.stats().iter().for_each(|stat| println!("counts {}: {}", stat.name, stat.what));
}

fn status() -> anyhow::Result<()> {
    let there = state().ok_or(SchedulerError::NoSchedExt)?;
    let name = there.scheduler.unwrap_or_else(|| "the kernel's own".to_owned());
    println!("sched_ext is {}; in force: {name}; loaded {} times since the boot", there.state, there.loads);
    Ok(())
}

fn stats() -> anyhow::Result<()> {
    let (scheduler, observed) =
        running()?.ok_or_else(|| anyhow!("none of Klatch's schedulers is in force; klatch sched status"))?;
    println!("{}", scheduler.name);
    observed.stats.iter().for_each(|stat| println!("{:>14} {}: {}", stat.value, stat.name, stat.what));
    Ok(())
}

impl Run {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let knobs: Vec<(String, String)> =
            self.knobs.into_iter().map(|setting| (setting.name, setting.value)).collect();
        // Ctrl-C is for the command; klatch ends after it.
        ctrlc::set_handler(|| {})?;
        let loaded = Loaded::load(find(&self.name)?, &knobs)?;
        let (program, arguments) = self.command.split_first().context("a command is required")?;
        let mut command = Command::new(program);
        command.args(arguments);
        confine(&mut command);
        let ended = command.status();
        let report = loaded.report();
        loaded.unload();
        // The command's own failure comes first.
        let ended = ended.with_context(|| format!("cannot start {program}"))?;
        let report = report?;
        match &self.out {
            Some(path) => {
                let text = serde_json::to_string(&report)?;
                std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
            }
            None => show(&report),
        }
        if let Some(why) = &report.lost {
            eprintln!("klatch: the scheduler {} did not stay in force: {why}", report.scheduler);
            return Ok(ExitCode::FAILURE);
        }
        Ok(exit_code(ended))
    }
}

fn show(report: &Report) {
    let knobs = report.knobs.iter().map(|(name, value)| format!(" {name}={value}"));
    eprintln!("\nscheduler {}{}", report.scheduler, knobs.collect::<String>());
    for stat in &report.observed.stats {
        eprintln!("{:>14} {}: {}", stat.value, stat.name, stat.what);
    }
}

/// As a shell tells it: 128 and the signal's number if one ended it.
fn exit_code(ended: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
