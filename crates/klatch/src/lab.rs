//! `klatch lab`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand};
use klatch_lab::{
    Answer, Boot, Configuration, Image, Job, Kernel, LabError, Outcome, START_US, Study, boot,
    configurations, guest, kernel_file, shell, shipped, summary,
};

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
    /// A command of klatch and its arguments, without `klatch`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Lab {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action {
            Action::Run(run) => run.execute(),
            Action::Exec(exec) => exec.execute(),
            Action::Shell(machine) => machine.shell(),
            Action::Guest => guest().map(|()| ExitCode::SUCCESS).map_err(anyhow::Error::from),
        }
    }
}

fn kernel(name: &str) -> Result<PathBuf, LabError> {
    let known = || Kernel::all().iter().map(|kernel| kernel.name).collect::<Vec<_>>().join(", ");
    let found = Kernel::find(name);
    let found = found.ok_or_else(|| LabError::NoKernel { name: name.to_owned(), names: known() })?;
    kernel_file(found, |what| eprintln!("{what}"))
}

impl Machine {
    fn boot<'a>(&self, kernel: &'a Path, image: Image, command: Vec<String>, limit: u64) -> Boot<'a> {
        Boot {
            kernel,
            image,
            cpus: self.cpus,
            memory_mb: self.memory,
            seed: self.seed,
            job: Job { command, start_us: START_US },
            limit: Duration::from_secs(limit),
        }
    }

    fn shell(self) -> anyhow::Result<ExitCode> {
        let kernel = kernel(&self.kernel)?;
        let mut image = Image::of_this_program()?;
        let on_path = std::env::var_os("PATH").unwrap_or_default();
        let busybox =
            std::env::split_paths(&on_path).map(|folder| folder.join("busybox")).find(|file| file.exists());
        let busybox = busybox.ok_or(LabError::NoProgram { program: "busybox", package: "busybox-static" })?;
        image.program("/bin/busybox", &busybox)?;
        for name in ["sh", "ls", "cat", "ps", "top", "mount", "dmesg", "poweroff", "grep", "vi", "sleep"] {
            image.link(&format!("/bin/{name}"), "busybox");
        }
        eprintln!("klatch is /klatch in there; `exit` ends the machine");
        shell(&self.boot(&kernel, image, Vec::new(), 0))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Exec {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let kernel = kernel(&self.machine.kernel)?;
        let image = Image::of_this_program()?;
        let answer = boot(&self.machine.boot(&kernel, image, self.command, self.limit))?;
        print!("{}", answer.stdout);
        eprintln!("{}", answer.stderr.trim_end());
        Ok(ExitCode::from(answer.status.and_then(|status| u8::try_from(status).ok()).unwrap_or(1)))
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
            all.iter().for_each(|one| println!("  {}: klatch {}", one.id, one.job().command.join(" ")));
            return Ok(ExitCode::SUCCESS);
        }
        let image = Image::of_this_program()?;
        let folder = self.folder(&study.name)?;
        let mut outcomes = Vec::new();
        let mut differ = false;
        for one in all {
            let answer = self.once(&study, &one, &image)?;
            if self.twice && self.once(&study, &one, &image)? != answer {
                differ = true;
                eprintln!("klatch: {} gave other numbers the second time", one.id);
            }
            let outcome = Outcome::read(one, &answer);
            keep(&folder, &outcome, &answer)?;
            match &outcome.failure {
                Some(why) => println!("  {}: failed: {why}", outcome.configuration.id),
                None => println!("  {}", outcome.configuration.id),
            }
            outcomes.push(outcome);
        }
        println!("\n{}", summary(&study, &outcomes));
        if self.twice && !differ {
            println!("the second boots gave the same, to the last digit");
        }
        println!("results: {}", folder.display());
        let failed = differ || outcomes.iter().any(|outcome| outcome.failure.is_some());
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn once(&self, study: &Study, one: &Configuration, image: &Image) -> anyhow::Result<Answer> {
        let kernel = kernel(&one.kernel)?;
        Ok(boot(&Boot {
            kernel: &kernel,
            image: image.clone(),
            cpus: one.cpus,
            memory_mb: study.memory_mb,
            seed: one.seed,
            job: one.job(),
            limit: Duration::from_secs(self.limit),
        })?)
    }

    /// A new folder, tried before anything is booted.
    fn folder(&self, study: &str) -> anyhow::Result<PathBuf> {
        let told = || format!("cannot keep results in {}", self.out.display());
        std::fs::create_dir_all(&self.out).with_context(told)?;
        for number in 1.. {
            let folder = self.out.join(format!("lab-{study}-{number}"));
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(told),
            }
        }
        unreachable!("numbers do not end")
    }
}

/// Keeps what came back: the outcome, and the files that the command wrote.
fn keep(folder: &Path, outcome: &Outcome, answer: &Answer) -> anyhow::Result<()> {
    let folder = folder.join(&outcome.configuration.id);
    let told = || format!("cannot keep results in {}", folder.display());
    for (name, text) in &answer.files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&folder)).with_context(told)?;
        std::fs::write(path, text).with_context(told)?;
    }
    std::fs::create_dir_all(&folder).with_context(told)?;
    std::fs::write(folder.join("outcome.json"), serde_json::to_string_pretty(outcome)?).with_context(told)
}
