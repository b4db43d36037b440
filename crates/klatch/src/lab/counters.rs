//! The counters of the emulated machine: their option, the count of a whole command, and the difference of two counts.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, anyhow};
use clap::Args;
use clap::builder::PossibleValuesParser;
use klatch_instruments::counters::Counters;
use klatch_lab::{
    Boot, COUNTERS_FILE, Counting, Exec, ExecMachine, Snapshots, count_operations, count_whole,
};
use klatch_record::lab::{DEFAULT_KERNEL, EventCounts, KERNEL_SCHEDULER, LabCounts};
use klatch_report::{Ending, lab_difference, lab_difference_answer};

use super::{LIMIT, NO_COUNTS, boot_and_show, check_command, notice};
use crate::exit_as;
use crate::interrupt::flag_on_interrupt;
use crate::next;
use crate::output::{print_error, print_text};

/// Caches of `--counters` without a name: those of a present-day core.
pub(super) const DEFAULT: &str = "zen3";
/// Memory of a machine that counts two kernels, MB.
const MEMORY_MB: u32 = 2048;

/// Run a command and write what the counters of this machine counted
#[derive(Args)]
pub(super) struct Counted {
    /// Program to run [default: this one]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Let the command count its operations
    #[arg(long)]
    operations: bool,
    /// Command of klatch with its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Counted {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let counters =
            Counters::detect().context("this machine has no counters; see klatch lab exec --counters")?;
        let program = match self.program {
            Some(program) => program,
            None => std::env::current_exe().context("cannot find this program")?,
        };
        let status = match self.operations {
            true => count_operations(&program, &self.command)?,
            false => count_whole(&counters, &program, self.command)?,
        };
        Ok(exit_as(status))
    }
}

#[derive(Args)]
pub(super) struct Compare {
    /// Counts before, as written by `lab exec --counters --out`: the file or its folder
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    before: Option<PathBuf>,
    /// Counts after, as the file or its folder
    #[arg(required_unless_present = "command")]
    after: Option<PathBuf>,
    /// Kernel under which the command after `--` is counted; twice, for the one before and the one after
    #[arg(long = "kernel", value_name = "VERSION|FILE", requires = "command")]
    kernels: Vec<String>,
    /// Parameters of the kernel, such as mitigations=auto; twice, for those before and those after
    #[arg(long = "append", value_name = "PARAMETERS", requires = "command", allow_hyphen_values = true)]
    parameters: Vec<String>,
    /// Scheduler for the command, as for `lab exec`, or `kernel` for the kernel's own; twice, for the one before and the one after
    #[arg(long = "scheduler", value_name = "SCHEDULER", requires = "command")]
    schedulers: Vec<String>,
    /// Event by which routines are compared
    #[arg(long, default_value = "instructions", value_name = "EVENT", value_parser = events())]
    by: String,
    /// Routines to print, those with the largest change
    #[arg(long, default_value_t = 20, value_name = "N")]
    top: usize,
    /// Exit with status 1 if the total of the event grew by more than this
    #[arg(long, value_name = "PERCENT")]
    within: Option<f64>,
    /// Command of klatch to count on both sides, or a program by its path
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

fn events() -> PossibleValuesParser {
    EventCounts::ALL.map(|(name, _)| name).into()
}

/// One side of a comparison: the machine and the scheduler of a count.
struct Side<'a> {
    kernel: &'a str,
    parameters: &'a str,
    scheduler: &'a str,
}

impl Side<'_> {
    fn count(&self, command: &[String], interrupted: &AtomicBool) -> anyhow::Result<LabCounts> {
        let scheduler = match self.scheduler {
            KERNEL_SCHEDULER => None,
            other => Some(other.parse()?),
        };
        print_error(format_args!("counting under {self}"));
        let exec = Exec {
            machine: ExecMachine {
                kernel: self.kernel.to_owned(),
                parameters: self.parameters.to_owned(),
                memory_mb: MEMORY_MB,
                ..ExecMachine::default()
            },
            counters: Some(Boot::counters(DEFAULT)?),
            counting: match command.first().map(String::as_str) {
                Some("run" | "probe") => Counting::Operations,
                _ => Counting::Whole,
            },
            scheduler,
            ..Exec::new(command.to_vec(), LIMIT.0, Snapshots::Kept(notice))
        };
        let answer = boot_and_show(&exec, interrupted)?;
        let failed = answer.steps.iter().any(|step| step.status != Some(0));
        anyhow::ensure!(!failed, "the command failed under {self}");
        answer.counts().context(NO_COUNTS)?.context("the machine counted nothing")
    }
}

impl fmt::Display for Side<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Linux {}", self.kernel)?;
        if !self.parameters.is_empty() {
            write!(f, " with {}", self.parameters)?;
        }
        match self.scheduler {
            KERNEL_SCHEDULER => Ok(()),
            other => write!(f, ", scheduler {other}"),
        }
    }
}

/// The value before and the value after: of one, it is the same on both sides.
fn sides<'a>(name: &str, values: &'a [String], default: &'a str) -> anyhow::Result<[&'a str; 2]> {
    match values {
        [] => Ok([default; 2]),
        [both] => Ok([both; 2]),
        [before, after] => Ok([before, after]),
        more => anyhow::bail!("two sides are compared, and --{name} is given {} times", more.len()),
    }
}

impl Compare {
    /// The counts before and after.
    fn counts(&self) -> anyhow::Result<(LabCounts, LabCounts)> {
        if let (Some(before), Some(after)) = (&self.before, &self.after) {
            return Ok((read(before)?, read(after)?));
        }
        let kernels = sides("kernel", &self.kernels, DEFAULT_KERNEL)?;
        let parameters = sides("append", &self.parameters, "")?;
        let schedulers = sides("scheduler", &self.schedulers, KERNEL_SCHEDULER)?;
        let side =
            |n: usize| Side { kernel: kernels[n], parameters: parameters[n], scheduler: schedulers[n] };
        anyhow::ensure!(
            [kernels, parameters, schedulers].iter().any(|[before, after]| before != after),
            "the two sides are the same; give one of --kernel, --append and --scheduler twice"
        );
        let mut command = self.command.clone();
        check_command(&mut command)?;
        let interrupted = flag_on_interrupt()?;
        Ok((side(0).count(&command, &interrupted)?, side(1).count(&command, &interrupted)?))
    }

    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let (before, after) = self.counts()?;
        anyhow::ensure!(
            before.operations.is_some() == after.operations.is_some(),
            "one count has whole commands, and the other one operations, so they cannot be compared; count both with --operations"
        );
        anyhow::ensure!(
            before.caches == after.caches,
            "the counts have other caches, so their misses cannot be compared: {} and {}",
            before.caches,
            after.caches
        );
        print_text(lab_difference(&before, &after, &self.by, self.top));
        let names = match self.kernels.as_slice() {
            [first, last] => [first, last].map(|kernel| format!("under Linux {kernel}")),
            _ => ["before", "after"].map(str::to_owned),
        };
        let other = if self.by == "modelled_cycles" { "instructions" } else { "modelled_cycles" };
        next::print_ending(Ending {
            answer: lab_difference_answer(&before, &after, &self.by, [&names[0], &names[1]]),
            // Two machines would be booted again.
            next: match before.caches.is_empty() || !self.command.is_empty() {
                true => Vec::new(),
                false => next::again(&[("--by", other)]),
            },
            ..Ending::default()
        });
        let [from, to] = [&before, &after].map(|counts| counts.total_per_operation(&self.by));
        let grew = (to / from.max(f64::MIN_POSITIVE) - 1.0) * 100.0;
        Ok(match self.within {
            Some(within) if grew > within => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        })
    }
}

/// Reads the counts in a file, or in the file of that name in a folder.
fn read(path: &Path) -> anyhow::Result<LabCounts> {
    let path = if path.is_dir() { path.join(COUNTERS_FILE) } else { path.to_owned() };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        anyhow!(
            "cannot read {}: {error}: klatch lab exec --counters --out FOLDER -- COMMAND writes it",
            path.display()
        )
    })?;
    serde_json::from_str(&text).with_context(|| format!("{} has no counts of the lab", path.display()))
}
