//! `klatch lab`: single boots of the emulated machine, its counters and its init process.

mod counters;
mod kernels;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand};
use klatch_lab::{
    Answer, Architecture, Boot, BootKernel, CPUS_MAX, Counting, Cpus, ExecMachine, LabError, Snapshots,
    guest, shell, shell_image,
};
use klatch_platforms::Java;
use klatch_record::lab::DEFAULT_KERNEL;
use klatch_record::{create_folder, error_chain};
use klatch_report::{Ending, lab_answer, lab_counts, preparing};
use klatch_schedulers::SchedulerSpec;

use crate::interrupt::flag_on_interrupt;
use crate::next;
use crate::output::{check_can_write, print, print_error};
use crate::quantity::{Time, whole};
use crate::simulate::topology;
use crate::{INTERRUPTED, SIGNAL_BASE};

/// Routines in each table of counts.
const ROUTINES: usize = 10;
/// Longest time of a boot.
const LIMIT: Time = Time(Duration::from_secs(900));
/// The Java that first had jlink.
const JLINK_SINCE: u32 = 9;
/// What an answer without counts that can be read lacks.
const NO_COUNTS: &str = "the counters wrote no counts";

/// Boot an emulated machine with a kernel of your choice
///
/// The clock of the machine counts instructions, so two boots give the same numbers to the last digit. `klatch study` runs studies in it.
#[derive(Args)]
pub(crate) struct Lab {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Boot once and run a command in the machine
    Exec(Box<Exec>),
    /// List the kernels that can be booted, and what each can do
    Kernels(kernels::Kernels),
    /// Get a kernel of Debian's, such as 6.12 or 7.3.4, by apt
    GetKernel(kernels::GetKernel),
    /// Boot with a shell on this terminal, in real time, and the usual programs of this machine
    Shell(Machine),
    /// Compare the counts of two builds, settings or kernels, routine by routine
    ///
    /// Exit status: 0 compared, 1 more than --within, 2 could not compare.
    Compare(counters::Compare),
    /// Count a command with the counters of the emulated machine
    #[command(hide = true)]
    Counted(counters::Counted),
    /// Init process of the emulated machine
    #[command(hide = true)]
    Guest,
}

#[derive(Args)]
struct Machine {
    /// Kernel to boot: one of `klatch lab kernels`, or a file: a Debian package, or a bzImage. With `:arm64`, a machine of arm64: `6.18:arm64`
    #[arg(long, default_value = DEFAULT_KERNEL, value_name = "VERSION|FILE")]
    kernel: String,
    /// Folder of the modules of a bzImage: …/lib/modules/RELEASE
    #[arg(long, value_name = "FOLDER")]
    modules: Option<PathBuf>,
    /// Number of CPUs of the machine, cores of one socket
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<1, CPUS_MAX>)]
    cpus: u32,
    /// CPUs as for `klatch simulate run`: `2 nodes x 2 llcs x 4 cores x 2 threads`, a file with the output of `lscpu -e -J`, or `host`
    #[arg(long, value_name = "TOPOLOGY", conflicts_with = "cpus")]
    machine: Option<String>,
    /// Parameters of the kernel, such as `mitigations=auto`; the lab has mitigations=off
    #[arg(
        long,
        value_name = "PARAMETERS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    append: String,
    /// Size of its memory
    #[arg(long, default_value_t = 1024, value_name = "MB", value_parser = whole::<256, 65_536>)]
    memory: u32,
    /// Seed of the machine's random numbers
    #[arg(long, default_value_t = 1)]
    seed: u32,
}

#[derive(Args)]
struct Exec {
    #[command(flatten)]
    machine: Machine,
    /// Longest time, on this machine's clock
    #[arg(long, default_value_t = LIMIT, value_name = "TIME")]
    limit: Time,
    /// Count instructions and cache misses: caches by name or TOML file, or `instructions` for those only
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = counters::DEFAULT, value_name = "CACHES")]
    counters: Option<String>,
    /// Count only the operations of run or probe, without what prepares them; then `lab compare` has numbers for each
    #[arg(long, requires = "counters")]
    operations: bool,
    /// Boot anew, also if there is a snapshot of an earlier boot of the same machine; what is counted is the same
    #[arg(long)]
    boot_anew: bool,
    /// Folder for the files that the command writes in the machine, and the counts
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Count this build of klatch instead of the running one
    #[arg(long, value_name = "PATH", requires = "counters")]
    program: Option<PathBuf>,
    /// Add a Java runtime, made from this JDK: its folder, or its java program
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
    /// Load a module of the kernel first: tls (kTLS)
    #[arg(long, value_name = "NAME")]
    module: Vec<String>,
    /// Scheduler for the command: one of Klatch, or a command that loads one, such as `./scx_mine --slice-us 5000`
    #[arg(long, value_name = "SCHEDULER")]
    scheduler: Option<SchedulerSpec>,
    /// Add a file, or a program with its libraries, at its path on this machine
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Command of klatch with its arguments, without `klatch` itself; or a program by a path such as ./mine, with its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Lab {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let done = match self.action {
            Action::Exec(exec) => exec.execute(),
            Action::Kernels(kernels) => kernels.execute(),
            Action::GetKernel(kernel) => kernel.execute(),
            Action::Shell(machine) => machine.shell(),
            Action::Compare(compare) => compare.execute(),
            Action::Counted(counted) => counted.execute(),
            Action::Guest => guest().map(|()| ExitCode::SUCCESS).map_err(anyhow::Error::from),
        };
        match done {
            Err(error) if is_interrupt(&error) => {
                print_error(format_args!("klatch: {}", error_chain(error.as_ref())));
                Ok(ExitCode::from(INTERRUPTED))
            }
            done => done,
        }
    }
}

/// Whether the error, or a cause of it, is an interrupt.
fn is_interrupt(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(LabError::Interrupted)))
}

/// Shows that a snapshot of a machine cannot be used or kept.
pub(crate) fn notice(text: &str) {
    print_error(format_args!("klatch: {text}"));
}

impl Machine {
    fn spec(self) -> anyhow::Result<ExecMachine> {
        let topology = self.machine.as_deref().map(topology).transpose()?;
        Ok(ExecMachine {
            kernel: self.kernel,
            modules: self.modules,
            cpus: topology.map_or(Cpus::Number(self.cpus), Cpus::Topology),
            parameters: self.append,
            memory_mb: self.memory,
            seed: self.seed,
        })
    }

    fn shell(self) -> anyhow::Result<ExitCode> {
        let machine = self.spec()?;
        let kernel = BootKernel::find_bootable(&machine.kernel, machine.modules.as_deref(), preparing())?;
        let own = Architecture::default();
        anyhow::ensure!(
            kernel.architecture == own,
            "lab shell has programs of this machine, which are for {own}, and the kernel is for {}; `klatch lab exec` boots it",
            kernel.architecture
        );
        let image = shell_image(&kernel, &preparing())?;
        print_error("the machine has klatch at /klatch; `exit` stops it");
        let interrupted = flag_on_interrupt()?;
        shell(&machine.boot(&kernel.image, image, &interrupted, Snapshots::Kept(notice)))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Checks a command line of klatch before a machine is booted for it, and removes the name of the program, which is understood.
fn check_command(command: &mut Vec<String>) -> anyhow::Result<()> {
    if command.first().is_some_and(|first| first == "klatch") {
        command.remove(0);
    }
    let first = command.first().context("there is no command, as in klatch lab exec run")?;
    // Options of klatch itself, which needs no command for them.
    if ["--help", "--version"].contains(&first.as_str()) {
        return Ok(());
    }
    if let Some(option) = first.strip_prefix("--") {
        let exec = crate::command_line();
        let exec = exec.find_subcommand("lab").and_then(|lab| lab.find_subcommand("exec"));
        let names: Vec<&str> =
            exec.iter().flat_map(|exec| exec.get_opts()).filter_map(clap::Arg::get_long).collect();
        let meant = klatch_record::similar_to(option, &names);
        let tip = meant.map_or("klatch lab exec --help lists them".to_owned(), |meant| {
            format!("did you mean --{meant}?")
        });
        anyhow::bail!("--{option} is no option of klatch lab exec; {tip}");
    }
    // A program of its own has options of its own.
    if !first.contains('/') {
        let line: Vec<String> = ["klatch".to_owned()].into_iter().chain(command.iter().cloned()).collect();
        match crate::command_line().try_get_matches_from(&line) {
            Ok(matches) => refuse_program_of_host(&matches)?,
            Err(error) => crate::usage_error::answer(error, &line),
        }
    }
    Ok(())
}

/// Refuses a command whose own `--scheduler` is found by the search path or folder of this machine. An absolute path may be in the
/// machine, as that of klatch is.
fn refuse_program_of_host(matches: &clap::ArgMatches) -> anyhow::Result<()> {
    let scheduler = matches.try_get_one::<SchedulerSpec>("scheduler").ok().flatten();
    if let Some(SchedulerSpec::Program(command)) = scheduler
        && !command.program.starts_with('/')
    {
        anyhow::bail!(
            "the emulated machine has no {}: put --scheduler before the command, as in klatch lab exec --scheduler '{command}' -- run",
            command.program
        );
    }
    matches.subcommand().map_or(Ok(()), |(_, of_command)| refuse_program_of_host(of_command))
}

/// Boots the machine, and shows what the command printed.
fn boot_and_show(exec: &klatch_lab::Exec, interrupted: &AtomicBool) -> anyhow::Result<Answer> {
    let answer = exec.run(interrupted, &preparing())?;
    let step = answer.steps.first().context("the machine ran no command")?;
    print(&step.stdout);
    print_error(step.stderr.trim_end());
    if step.status.is_none_or(|status| status > SIGNAL_BASE) {
        print_error(
            "klatch: a signal ended the command in the machine; if the memory was too small, the kernel sent it: raise --memory",
        );
    }
    Ok(answer)
}

impl Exec {
    fn execute(mut self) -> anyhow::Result<ExitCode> {
        let tail = self.command.len();
        if self.program.is_none() {
            check_command(&mut self.command)?;
        }
        let interrupted = flag_on_interrupt()?;
        if let Some(out) = &self.out {
            // After minutes of emulation it would be too late.
            create_folder(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
            check_can_write(&out.join("result"))?;
        }
        let java = self.java.as_deref().map(|java| Java::find(Some(java), JLINK_SINCE)).transpose()?;
        let exec = klatch_lab::Exec {
            machine: self.machine.spec()?,
            limit: self.limit.0,
            counters: self.counters.as_deref().map(Boot::counters).transpose()?,
            counting: if self.operations { Counting::Operations } else { Counting::Whole },
            snapshots: if self.boot_anew { Snapshots::Anew } else { Snapshots::Kept(notice) },
            program: self.program,
            java: java.map(|java| java.path),
            modules: self.module,
            scheduler: self.scheduler,
            files: self.files,
            command: self.command,
        };
        let answer = boot_and_show(&exec, &interrupted)?;
        let mut ending = Ending::default();
        if let Some(out) = &self.out {
            answer.save_files(out)?;
            ending.places.push(("results", out.clone()));
        }
        if let Some(counts) = answer.counts().context(NO_COUNTS)? {
            print(lab_counts(&counts, ROUTINES));
            ending.answer = lab_answer(&counts);
            // Counts are there to be compared with those of another build or setting.
            let folder = self.out.as_ref().map_or("counts".to_owned(), |out| format!("{}-2", out.display()));
            ending.next = next::again_before(tail, &[("--out", &folder)]);
        }
        next::print_ending(ending);
        let step = answer.steps.first().context("the machine ran no command")?;
        Ok(ExitCode::from(step.status.and_then(|status| u8::try_from(status).ok()).unwrap_or(1)))
    }
}
