//! `klatch lab`: lab studies, single boots and the init process of the emulated machine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand};
use klatch_lab::{
    Answer, Boot, Image, Job, Kernel, LabError, START_US, boot, find_program, guest, java_runtime,
    kernel_file, load_study, outcome, outcome_without_answer, require_qemu, shell, shipped,
};
use klatch_platforms::Java;
use klatch_record::error_chain;
use klatch_record::lab::{Configuration, Outcome};
use klatch_report::lab_summary;

use crate::INTERRUPTED;
use crate::output::{print, print_error, print_line};

/// Lowest feature version of Java that runs `klatch.jar`.
const JAVA_MIN: u32 = 17;

/// Run studies in an emulated machine with a pinned kernel
///
/// The clock of the machine counts instructions, so two boots give the same numbers to the last digit.
#[derive(Args)]
pub(crate) struct Lab {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Run a lab study, one boot per configuration; list the studies if no name is given
    ///
    /// Exit status: 0 all configurations have results, 1 some failed, 2 could not run.
    Run(Run),
    /// Boot once and run one command of klatch in the machine
    Exec(Exec),
    /// Boot with a shell on this terminal, in real time; needs busybox
    Shell(Machine),
    /// Init process of the emulated machine
    #[command(hide = true)]
    Guest,
}

#[derive(Args)]
struct Run {
    /// Study that Klatch brings, or a file
    study: Option<String>,
    /// Configurations to run: those with this text in the name
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Boot each configuration twice and compare all output to the last digit
    #[arg(long)]
    twice: bool,
    /// Print the boots without running them
    #[arg(long)]
    dry_run: bool,
    /// Folder for the results
    #[arg(long, default_value = "results", value_name = "DIR")]
    out: PathBuf,
    /// Longest time for a boot, on this machine's clock
    #[arg(long, default_value_t = 900, value_name = "SECONDS")]
    limit: u64,
    /// Number of boots at a time; does not affect the results [default: number of CPUs, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: Option<u16>,
    /// Java program of a JDK, for studies with Java [default: from JAVA_HOME, PATH, /usr/lib/jvm]
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
}

#[derive(Args)]
struct Machine {
    /// Kernel to boot, by the start of its version
    #[arg(long, default_value = "6.18")]
    kernel: String,
    /// Number of CPUs of the machine
    #[arg(long, default_value_t = 1, value_name = "N")]
    cpus: u32,
    /// Size of its memory
    #[arg(long, default_value_t = 1024, value_name = "MB")]
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
    #[arg(long, default_value_t = 900, value_name = "SECONDS")]
    limit: u64,
    /// Add a Java runtime, made from the JDK of this java program
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
    /// Command of klatch with its arguments, without `klatch` itself
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Lab {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let done = match self.action {
            Action::Run(run) => run.execute(),
            Action::Exec(exec) => exec.execute(),
            Action::Shell(machine) => machine.shell(),
            Action::Guest => guest().map(|()| ExitCode::SUCCESS).map_err(anyhow::Error::from),
        };
        match done {
            Err(error) if matches!(error.downcast_ref(), Some(LabError::Interrupted)) => {
                print_error(format_args!("klatch: {}", error_chain(error.as_ref())));
                Ok(ExitCode::from(INTERRUPTED))
            }
            done => done,
        }
    }
}

/// A flag that Ctrl-C sets. Boots check it and remove their files from `TMPDIR`, which are large.
fn interrupted() -> anyhow::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&interrupted);
    crate::interrupt::on_interrupt(move || handler.store(true, Ordering::Relaxed))?;
    Ok(interrupted)
}

/// Root image: this program, its libraries, and a Java runtime if requested.
fn image(java: Option<&Path>) -> Result<Image, LabError> {
    let mut image = Image::of_this_program()?;
    if let Some(java) = java {
        image.add_folder("/java", &java_runtime(java, |progress| print_error(progress))?)?;
    }
    Ok(image)
}

fn kernel(name: &str) -> Result<PathBuf, LabError> {
    let known = || Kernel::all().iter().map(|kernel| kernel.name).collect::<Vec<_>>().join(", ");
    let kernel = Kernel::find(name);
    let kernel = kernel.ok_or_else(|| LabError::NoKernel { name: name.to_owned(), names: known() })?;
    require_qemu()?;
    kernel_file(kernel, |progress| print_error(progress))
}

impl Machine {
    fn boot<'a>(&self, kernel: &'a Path, image: Image, interrupted: &'a AtomicBool) -> Boot<'a> {
        Boot {
            kernel,
            image,
            cpus: self.cpus,
            memory_mb: self.memory,
            seed: self.seed,
            job: Job { commands: Vec::new(), start_us: START_US },
            limit: Duration::MAX,
            interrupted,
        }
    }

    fn shell(self) -> anyhow::Result<ExitCode> {
        let kernel = kernel(&self.kernel)?;
        let mut image = image(None)?;
        let busybox = find_program("busybox", "busybox-static")?;
        image.add_program("/bin/busybox", &busybox)?;
        for name in ["sh", "ls", "cat", "ps", "top", "mount", "dmesg", "poweroff", "grep", "vi", "sleep"] {
            image.add_link(&format!("/bin/{name}"), "busybox");
        }
        print_error("the machine has klatch at /klatch; `exit` stops it");
        let interrupted = interrupted()?;
        shell(&self.boot(&kernel, image, &interrupted))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Exec {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let kernel = kernel(&self.machine.kernel)?;
        let interrupted = interrupted()?;
        let mut machine = self.machine.boot(&kernel, image(self.java.as_deref())?, &interrupted);
        machine.job.commands = vec![self.command];
        machine.limit = Duration::from_secs(self.limit);
        let answer = boot(&machine)?;
        let step = answer.steps.first().context("the machine ran no command")?;
        print(&step.stdout);
        print_error(step.stderr.trim_end());
        Ok(ExitCode::from(step.status.and_then(|status| u8::try_from(status).ok()).unwrap_or(1)))
    }
}

impl Run {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let Some(name) = &self.study else {
            for (name, _) in shipped() {
                print_line(format_args!("{name:<20}{}", load_study(name)?.question));
            }
            return Ok(ExitCode::SUCCESS);
        };
        let study = load_study(name)?;
        let mut all = study.configurations();
        if let Some(only) = &self.only {
            all.retain(|one| one.id.contains(only.as_str()));
            anyhow::ensure!(!all.is_empty(), "no configuration of {} has {only} in its name", study.name);
        }
        print_line(format_args!(
            "{}\n{}\n{} boots",
            study.name,
            study.question,
            all.len() * if self.twice { 2 } else { 1 }
        ));
        if self.dry_run {
            let jobs = all
                .iter()
                .flat_map(|one| Job::new(one).commands.into_iter().map(|command| (&one.id, command)));
            jobs.for_each(|(id, command)| print_line(format_args!("  {id}: klatch {}", command.join(" "))));
            return Ok(ExitCode::SUCCESS);
        }
        let java = study.java.then(|| Java::find(self.java.as_deref(), JAVA_MIN)).transpose()?;
        // Download kernels before the first boot, so that parallel boots do not download the same one.
        all.iter().try_for_each(|one| kernel(&one.kernel).map(|_| ()))?;
        let interrupted = interrupted()?;
        let image = image(java.as_ref().map(|java| java.path.as_path()))?;
        let folder = self.folder(&study.name)?;
        std::fs::write(folder.join("lab.toml"), &study.text).map_err(cannot_save(&folder))?;
        let work = |one: &Configuration| {
            let kernel = kernel(&one.kernel)?;
            let machine = Boot {
                kernel: &kernel,
                image: image.clone(),
                cpus: one.cpus,
                memory_mb: study.memory_mb,
                seed: one.seed,
                job: Job::new(one),
                limit: Duration::from_secs(self.limit),
                interrupted: &interrupted,
            };
            self.outcome(one, &machine, &folder)
        };
        let report_folder = |_: &anyhow::Error| {
            print_error(format_args!("klatch: finished results stay in {}", folder.display()))
        };
        let outcomes = self.run_parallel(&all, work).inspect_err(report_folder)?;
        print_line(format_args!("\n{}", lab_summary(&study, &outcomes)));
        let failed = outcomes.iter().any(|outcome| outcome.failure.is_some());
        if self.twice && !failed {
            print_line("the second boots gave the same output, to the last digit");
        }
        print_line(format_args!(
            "report: {}",
            crate::report::save_lab_report(&folder, &study, &outcomes)?.display()
        ));
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    /// Calls `work` for every configuration on several threads. Returns the results in the order of the configurations. After an
    /// error, no other configuration begins.
    fn run_parallel(
        &self,
        all: &[Configuration],
        work: impl Fn(&Configuration) -> anyhow::Result<Outcome> + Sync,
    ) -> anyhow::Result<Vec<Outcome>> {
        let default_jobs = || std::thread::available_parallelism().map_or(1, usize::from).min(4);
        let waiting = Mutex::new(all.iter().enumerate());
        let done = Mutex::new(Vec::new());
        let next = || waiting.lock().ok()?.next();
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.map_or_else(default_jobs, usize::from) {
                scope.spawn(|| {
                    while let Some((number, one)) = next() {
                        let outcome = work(one);
                        if outcome.is_err() {
                            while next().is_some() {}
                        }
                        if let Ok(mut done) = done.lock() {
                            done.push((number, outcome));
                        }
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_default();
        done.sort_by_key(|(number, _)| *number);
        done.into_iter().map(|(_, outcome)| outcome).collect()
    }

    /// Boots a configuration and saves its outcome.
    fn outcome(&self, one: &Configuration, machine: &Boot<'_>, folder: &Path) -> anyhow::Result<Outcome> {
        let answer = match boot(machine) {
            Err(error) if !error.is_guest_failure() => return Err(error.into()),
            answer => answer,
        };
        let mut outcome = match &answer {
            Ok(answer) => outcome(one.clone(), answer),
            Err(why) => outcome_without_answer(one.clone(), why.to_string()),
        };
        if let Ok(answer) = &answer
            && self.twice
            && boot(machine)? != *answer
        {
            outcome.failure = Some("a second boot gave different output".to_owned());
        }
        save(folder, &outcome, answer.ok().as_ref())?;
        match &outcome.failure {
            Some(why) => print_line(format_args!("  {}: failed: {why}", one.id)),
            None => print_line(format_args!("  {}", one.id)),
        }
        Ok(outcome)
    }

    /// Creates the results folder `lab-STUDY-N` with the first free number.
    fn folder(&self, study: &str) -> anyhow::Result<PathBuf> {
        std::fs::create_dir_all(&self.out).map_err(cannot_save(&self.out))?;
        for number in 1.. {
            let folder = self.out.join(format!("lab-{study}-{number}"));
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_save(&self.out)(error)),
            }
        }
        unreachable!("the loop over all numbers returns")
    }
}

/// Saves the outcome and the files that the command wrote in the machine.
fn save(folder: &Path, outcome: &Outcome, answer: Option<&Answer>) -> anyhow::Result<()> {
    let folder = folder.join(&outcome.configuration.id);
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        std::fs::write(path, text)
    };
    let outcome = serde_json::to_string_pretty(outcome)?;
    let files = answer.into_iter().flat_map(|answer| &answer.files).map(|(name, text)| (name.as_str(), text));
    let mut files = files.chain([("outcome.json", &outcome)]);
    files.try_for_each(|(name, text)| write(name, text)).map_err(cannot_save(&folder))
}

fn cannot_save(folder: &Path) -> impl Fn(std::io::Error) -> anyhow::Error {
    move |error| anyhow::anyhow!("cannot write results to {}: {error}", folder.display())
}
