//! `klatch sched`: early schedulers, loaded for the time of a command.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use klatch_host::privileges::Program;
use klatch_platforms::{Processes, Setting};
use klatch_runner::Scheduler;
use klatch_schedulers::{OwnScheduler, SchedulerError, SchedulerSpec, all, find, running, sched_ext_state};

use crate::exit_as;
use crate::output::{check_can_write, print, print_error, print_line, print_text, save_text_or_print};

/// Run a command under another scheduler (sched_ext)
#[derive(Args)]
pub(crate) struct Sched {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the schedulers, or print the policy, knobs and statistics of one
    List {
        /// Scheduler to describe in detail
        name: Option<String>,
    },
    /// Print which scheduler is in force
    Status,
    /// Print the statistics of the scheduler that is in force
    Stats,
    /// Load a scheduler, run a command, check that the scheduler stayed in force, and unload it
    ///
    /// Exit status: that of the command; 1 if the scheduler did not stay in force, 2 if it could not be loaded.
    Run(Run),
}

#[derive(Args)]
struct Run {
    /// Name of the scheduler, or a command that loads one: `./scx_mine --slice-us 5000`, as one argument
    #[arg(value_name = "SCHEDULER")]
    spec: String,
    /// Knob of a scheduler of Klatch; `klatch sched list NAME` lists all
    #[arg(long = "knob", value_name = "NAME=VALUE")]
    knobs: Vec<Setting>,
    /// File for the statistics as JSON, or - for standard output [default: printed to standard error]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Command to run under the scheduler, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Sched {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action {
            Action::List { name: None } => print_text(klatch_report::schedulers(all())),
            Action::List { name: Some(name) } => print_text(klatch_report::scheduler(find(&name)?)),
            Action::Status => status()?,
            Action::Stats => stats()?,
            Action::Run(run) => return run.execute(),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn status() -> anyhow::Result<()> {
    let current = sched_ext_state().ok_or(SchedulerError::NoSchedExt)?;
    let name = current.scheduler.unwrap_or_else(|| "the kernel's own".to_owned());
    print_line(format_args!(
        "sched_ext is {}; in force: {name}; loaded {} times since boot",
        current.state, current.loads
    ));
    Ok(())
}

fn stats() -> anyhow::Result<()> {
    let (scheduler, counters) = running()?
        .ok_or_else(|| anyhow!("none of Klatch's schedulers is in force; see klatch sched status"))?;
    print_line(scheduler.name);
    print(klatch_report::scheduler_counts(&counters.stats));
    Ok(())
}

impl Run {
    fn spec(&self) -> anyhow::Result<SchedulerSpec> {
        let knobs = self.knobs.iter().map(|setting| (setting.name.clone(), setting.value.clone())).collect();
        match self.spec.parse()? {
            SchedulerSpec::Program(program) => {
                anyhow::ensure!(
                    self.knobs.is_empty(),
                    "--knob is for the schedulers of Klatch; the options of {} follow it, within the same argument",
                    program.program
                );
                Ok(SchedulerSpec::Program(program))
            }
            own if self.knobs.is_empty() => Ok(own),
            SchedulerSpec::Own(_) => Ok(SchedulerSpec::Own(OwnScheduler::new(&self.spec, knobs)?)),
        }
    }

    fn execute(self) -> anyhow::Result<ExitCode> {
        let spec = self.spec()?;
        self.out.as_deref().map_or(Ok(()), check_can_write)?;
        // Ctrl-C stops the command. klatch continues, unloads the scheduler and then ends.
        crate::interrupt::on_interrupt(|| {})?;
        let mut loaded = Scheduler::load(&spec, &Processes::default())?;
        let (program, arguments) = self.command.split_first().context("a command is required")?;
        let exit_status = Program::new(program).args(arguments).status();
        let report = loaded.report();
        drop(loaded);
        // A command that could not start is the more useful error.
        let exit_status = exit_status.with_context(|| format!("cannot start {program}"))?;
        let report = report?;
        match &self.out {
            Some(path) => save_text_or_print(&(serde_json::to_string(&report)? + "\n"), path)?,
            None => print_error(klatch_report::scheduler_report(&report)),
        }
        if let Some(why) = &report.lost {
            print_error(format_args!(
                "klatch: the scheduler {} did not stay in force: {why}",
                report.scheduler
            ));
            return Ok(ExitCode::FAILURE);
        }
        Ok(exit_as(exit_status))
    }
}
