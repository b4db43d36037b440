//! `klatch lab`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand};
use klatch_lab::{
    Answer, Boot, Configuration, Image, Job, Kernel, LabError, Outcome, START_US, Study, boot,
    configurations, guest, java_runtime, kernel_file, shell, shipped, summary,
};
use klatch_platforms::Java;
use klatch_record::error_chain;

use crate::INTERRUPTED;

/// The oldest Java that runs `klatch.jar`.
const JAVA_MIN: u32 = 17;

/// The schedulers of history in an emulated machine whose clock counts instructions.
#[derive(Args)]
pub(crate) struct Lab {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Carry out a study of the lab, one boot for each configuration; without a name they are listed
    ///
    /// Exit status: 0 all configurations gave numbers, 1 some did not, 2 could not run.
    Run(Run),
    /// Boot once, and run one command of klatch in there
    Exec(Exec),
    /// Boot with a shell on this terminal, in real time; needs busybox
    Shell(Machine),
    /// The first program of the emulated machine
    #[command(hide = true)]
    Guest,
}

#[derive(Args)]
struct Run {
    /// A study that Klatch brings, or a file
    study: Option<String>,
    /// Only the configurations whose name holds this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Boot each configuration twice, and compare all that comes back to the last digit
    #[arg(long)]
    twice: bool,
    /// Print what would be booted
    #[arg(long)]
    dry_run: bool,
    /// Folder for the results
    #[arg(long, default_value = "results", value_name = "DIR")]
    out: PathBuf,
    /// Most that a boot may take, of this machine's time
    #[arg(long, default_value_t = 900, value_name = "SECONDS")]
    limit: u64,
    /// Boots at a time; numbers are the same whatever else runs [default: CPUs here, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: Option<u16>,
    /// For studies that need Java: the java program of a JDK [default: of JAVA_HOME, PATH, /usr/lib/jvm]
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
}

#[derive(Args)]
struct Machine {
    /// The kernel
    #[arg(long, default_value = "6.18")]
    kernel: String,
    /// CPUs
    #[arg(long, default_value_t = 1, value_name = "N")]
    cpus: u32,
    /// Memory
    #[arg(long, default_value_t = 1024, value_name = "MB")]
    memory: u32,
    /// Seed of what the machine takes for chance
    #[arg(long, default_value_t = 1)]
    seed: u32,
}

#[derive(Args)]
struct Exec {
    #[command(flatten)]
    machine: Machine,
    /// Most that it may take, of this machine's time
    #[arg(long, default_value_t = 900, value_name = "SECONDS")]
    limit: u64,
    /// Bring a Java runtime, made of this java program's JDK
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
    /// A command of klatch and its arguments, without `klatch`
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
                eprintln!("klatch: {}", error_chain(error.as_ref()));
                Ok(ExitCode::from(INTERRUPTED))
            }
            done => done,
        }
    }
}

/// Becomes true at Ctrl-C. What a machine leaves in `TMPDIR` is large, so from here on nothing ends without a word.
fn interrupted() -> anyhow::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&interrupted);
    ctrlc::set_handler(move || told.store(true, Ordering::Relaxed))?;
    Ok(interrupted)
}

/// This program and its libraries, and Java.
fn image(java: Option<&Path>) -> Result<Image, LabError> {
    let mut image = Image::of_this_program()?;
    if let Some(java) = java {
        image.folder("/java", &java_runtime(java, |what| eprintln!("{what}"))?)?;
    }
    Ok(image)
}

fn kernel(name: &str) -> Result<PathBuf, LabError> {
    let known = || Kernel::all().iter().map(|kernel| kernel.name).collect::<Vec<_>>().join(", ");
    let found = Kernel::find(name);
    let found = found.ok_or_else(|| LabError::NoKernel { name: name.to_owned(), names: known() })?;
    kernel_file(found, |what| eprintln!("{what}"))
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
        let on_path = std::env::var_os("PATH").unwrap_or_default();
        let busybox =
            std::env::split_paths(&on_path).map(|folder| folder.join("busybox")).find(|file| file.exists());
        let busybox = busybox.ok_or(LabError::NoProgram { program: "busybox", package: "busybox-static" })?;
        image.program("/bin/busybox", &busybox)?;
        for name in ["sh", "ls", "cat", "ps", "top", "mount", "dmesg", "poweroff", "grep", "vi", "sleep"] {
            image.link(&format!("/bin/{name}"), "busybox");
        }
        eprintln!("klatch is /klatch in there; `exit` ends the machine");
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
        let step = answer.steps.first().context("the machine ran nothing")?;
        print!("{}", step.stdout);
        eprintln!("{}", step.stderr.trim_end());
        Ok(ExitCode::from(step.status.and_then(|status| u8::try_from(status).ok()).unwrap_or(1)))
    }
}

impl Run {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let Some(name) = &self.study else {
            for (name, _) in shipped() {
                println!("{name:<20}{}", Study::load(name)?.question);
            }
            return Ok(ExitCode::SUCCESS);
        };
        let study = Study::load(name)?;
        let mut all = configurations(&study);
        if let Some(only) = &self.only {
            all.retain(|one| one.id.contains(only.as_str()));
            anyhow::ensure!(!all.is_empty(), "no configuration of {} has {only} in its name", study.name);
        }
        println!("{}\n{}\n{} boots", study.name, study.question, all.len() * if self.twice { 2 } else { 1 });
        if self.dry_run {
            let jobs =
                all.iter().flat_map(|one| one.job().commands.into_iter().map(|command| (&one.id, command)));
            jobs.for_each(|(id, command)| println!("  {id}: klatch {}", command.join(" ")));
            return Ok(ExitCode::SUCCESS);
        }
        let java = study.java.then(|| Java::find(self.java.as_deref(), JAVA_MIN)).transpose()?;
        // Fetched before the first boot, not by several boots at once.
        all.iter().try_for_each(|one| kernel(&one.kernel).map(|_| ()))?;
        let interrupted = interrupted()?;
        let image = image(java.as_ref().map(|java| java.path.as_path()))?;
        let folder = self.folder(&study.name)?;
        std::fs::write(folder.join("lab.toml"), &study.text).map_err(cannot_keep(&folder))?;
        let work = |one: &Configuration| {
            let kernel = kernel(&one.kernel)?;
            let machine = Boot {
                kernel: &kernel,
                image: image.clone(),
                cpus: one.cpus,
                memory_mb: study.memory_mb,
                seed: one.seed,
                job: one.job(),
                limit: Duration::from_secs(self.limit),
                interrupted: &interrupted,
            };
            self.outcome(one, &machine, &folder)
        };
        let kept = |_: &anyhow::Error| eprintln!("klatch: what is finished is kept in {}", folder.display());
        let outcomes = self.at_a_time(&all, work).inspect_err(kept)?;
        println!("\n{}", summary(&study, &outcomes));
        let failed = outcomes.iter().any(|outcome| outcome.failure.is_some());
        if self.twice && !failed {
            println!("the second boots gave the same, to the last digit");
        }
        println!("report: {}", crate::report::of_the_lab(&folder, &study, &outcomes)?.display());
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    /// Does something with every configuration, some at a time; in their order. After an error no other is begun.
    fn at_a_time(
        &self,
        all: &[Configuration],
        work: impl Fn(&Configuration) -> anyhow::Result<Outcome> + Sync,
    ) -> anyhow::Result<Vec<Outcome>> {
        let here = || std::thread::available_parallelism().map_or(1, usize::from).min(4);
        let waiting = Mutex::new(all.iter().enumerate());
        let done = Mutex::new(Vec::new());
        let take = || waiting.lock().ok()?.next();
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.map_or_else(here, usize::from) {
                scope.spawn(|| {
                    while let Some((number, one)) = take() {
                        let outcome = work(one);
                        if outcome.is_err() {
                            while take().is_some() {}
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

    /// Boots it, and keeps what came of it.
    fn outcome(&self, one: &Configuration, machine: &Boot<'_>, folder: &Path) -> anyhow::Result<Outcome> {
        let answer = match boot(machine) {
            Err(error) if !error.of_the_machine() => return Err(error.into()),
            answer => answer,
        };
        let mut outcome = match &answer {
            Ok(answer) => Outcome::read(one.clone(), answer),
            Err(why) => Outcome::without_answer(one.clone(), why.to_string()),
        };
        if let Ok(answer) = &answer
            && self.twice
            && boot(machine)? != *answer
        {
            outcome.failure = Some("a second boot gave other numbers".to_owned());
        }
        keep(folder, &outcome, answer.ok().as_ref())?;
        match &outcome.failure {
            Some(why) => println!("  {}: failed: {why}", one.id),
            None => println!("  {}", one.id),
        }
        Ok(outcome)
    }

    /// A new folder, tried before anything is booted.
    fn folder(&self, study: &str) -> anyhow::Result<PathBuf> {
        std::fs::create_dir_all(&self.out).map_err(cannot_keep(&self.out))?;
        for number in 1.. {
            let folder = self.out.join(format!("lab-{study}-{number}"));
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_keep(&self.out)(error)),
            }
        }
        unreachable!("numbers do not end")
    }
}

/// Keeps what came back: the outcome, and the files that the command wrote.
fn keep(folder: &Path, outcome: &Outcome, answer: Option<&Answer>) -> anyhow::Result<()> {
    let folder = folder.join(&outcome.configuration.id);
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        std::fs::write(path, text)
    };
    let outcome = serde_json::to_string_pretty(outcome)?;
    let files = answer.into_iter().flat_map(|answer| &answer.files).map(|(name, text)| (name.as_str(), text));
    let mut all = files.chain([("outcome.json", &outcome)]);
    all.try_for_each(|(name, text)| write(name, text)).map_err(cannot_keep(&folder))
}

fn cannot_keep(folder: &Path) -> impl Fn(std::io::Error) -> anyhow::Error {
    move |error| anyhow::anyhow!("cannot keep results in {}: {error}", folder.display())
}
