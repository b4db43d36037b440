//! One command in a machine of its own, or a shell.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use klatch_record::lab::{DEFAULT_KERNEL, KERNEL_SCHEDULER};
use klatch_schedulers::SchedulerSpec;

use crate::boot::boot;
use crate::boot_kernel::BootKernel;
use crate::boot_settings::{Boot, Snapshots};
use crate::cpus::Cpus;
use crate::error::LabError;
use crate::image::Image;
use crate::job::{Answer, Counting, Job, OTHER_PROGRAM, START_US, counted, under_scheduler};
use crate::preparing::Preparing;
use crate::programs::find_program;

/// A machine for one boot.
#[derive(Clone, Debug)]
pub struct ExecMachine {
    /// Name or file of the kernel, as for [`BootKernel::find`].
    pub kernel: String,
    /// Folder of the modules of a kernel that is a bzImage.
    pub modules: Option<PathBuf>,
    /// Its CPUs.
    pub cpus: Cpus,
    /// Parameters of the kernel, each in place of that of the lab with its name.
    pub parameters: String,
    /// Memory, MB.
    pub memory_mb: u32,
    /// Seed of its random numbers.
    pub seed: u32,
}

/// A command that a machine runs.
#[derive(Clone, Debug)]
pub struct Exec {
    /// The machine.
    pub machine: ExecMachine,
    /// Longest duration, in the host's time.
    pub limit: Duration,
    /// Arguments of the counters' plugin, as [`Boot::counters`] makes them; `None` for a machine without counters.
    pub counters: Option<String>,
    /// What they count.
    pub counting: Counting,
    /// The use of snapshots.
    pub snapshots: Snapshots,
    /// Another build of klatch, which is counted.
    pub program: Option<PathBuf>,
    /// Program of the JDK of which a Java runtime is made for the machine.
    pub java: Option<PathBuf>,
    /// Modules of the kernel that are loaded first.
    pub modules: Vec<String>,
    /// The scheduler of the command; `None` for that of the kernel.
    pub scheduler: Option<SchedulerSpec>,
    /// Files, and programs with their libraries, that the machine has at their paths on this one.
    pub files: Vec<PathBuf>,
    /// Arguments of klatch, or a program by a path, with its arguments.
    pub command: Vec<String>,
}

/// Programs beside a shell, each the first of these that this machine has.
const SHELL_PROGRAMS: [(&str, &[&str]); 14] = [
    ("sh", &["bash", "sh"]),
    ("cat", &["cat"]),
    ("dmesg", &["dmesg"]),
    ("find", &["find"]),
    ("grep", &["grep"]),
    ("head", &["head"]),
    ("kill", &["kill"]),
    ("less", &["less", "more"]),
    ("ls", &["ls"]),
    ("lscpu", &["lscpu"]),
    ("mount", &["mount"]),
    ("ps", &["ps"]),
    ("sleep", &["sleep"]),
    ("tail", &["tail"]),
];

impl Default for ExecMachine {
    /// The pinned kernel on one CPU, with 1 GB and seed 1.
    fn default() -> ExecMachine {
        ExecMachine {
            kernel: DEFAULT_KERNEL.to_owned(),
            modules: None,
            cpus: Cpus::Number(1),
            parameters: String::new(),
            memory_mb: 1024,
            seed: 1,
        }
    }
}

impl ExecMachine {
    /// The boot of this machine, which runs a shell unless it gets a job.
    pub fn boot<'a>(
        &self,
        kernel: &'a Path,
        image: Image,
        interrupted: &'a AtomicBool,
        snapshots: Snapshots,
    ) -> Boot<'a> {
        Boot {
            kernel,
            image,
            cpus: self.cpus,
            memory_mb: self.memory_mb,
            seed: self.seed,
            parameters: self.parameters.clone(),
            job: Job { commands: Vec::new(), start_us: START_US },
            counters: None,
            limit: Duration::MAX,
            interrupted,
            snapshots,
        }
    }
}

/// The image of a machine with a shell and the usual programs of this machine. `progress` receives what is made or downloaded for it.
///
/// # Errors
/// A library, a module or the configuration of the kernel is missing.
pub fn shell_image(kernel: &BootKernel, progress: &dyn Fn(Preparing<'_>)) -> Result<Image, LabError> {
    let mut image = Image::of_klatch(kernel.architecture)?;
    kernel.add_modules(&mut image, &[], progress)?;
    kernel.add_config(&mut image, progress)?;
    for (name, candidates) in SHELL_PROGRAMS {
        // A machine without one of them is still useful.
        if let Some(path) = candidates.iter().find_map(|candidate| find_program(candidate, "bash").ok()) {
            image.add_program(&format!("/bin/{name}"), &path)?;
        }
    }
    Ok(image)
}

impl Exec {
    /// A command in the default machine, without counters.
    pub fn new(command: Vec<String>, limit: Duration, snapshots: Snapshots) -> Exec {
        Exec {
            machine: ExecMachine::default(),
            limit,
            counters: None,
            counting: Counting::Whole,
            snapshots,
            program: None,
            java: None,
            modules: Vec::new(),
            scheduler: None,
            files: Vec::new(),
            command,
        }
    }

    /// Boots the machine, which runs the command. `progress` receives what is made or downloaded for it, and the boot.
    ///
    /// # Errors
    /// Something that the machine needs is missing, the machine failed, or `interrupted` was set.
    pub fn run(
        &self,
        interrupted: &AtomicBool,
        progress: &dyn Fn(Preparing<'_>),
    ) -> Result<Answer, LabError> {
        let kernel =
            BootKernel::find_bootable(&self.machine.kernel, self.machine.modules.as_deref(), progress)?;
        let mut image = Image::with_java(kernel.architecture, self.java.as_deref(), progress)?;
        if let Some(program) = &self.program {
            image.add_program(OTHER_PROGRAM, program)?;
        }
        kernel.add_modules(&mut image, &self.modules, progress)?;
        let command = self.command(&mut image)?;
        self.scheduler.iter().try_for_each(|spec| image.add_scheduler(spec))?;
        if self.scheduler.is_some() || !self.files.is_empty() {
            // A program that loads BPF may take values from it.
            kernel.add_config(&mut image, progress)?;
        }
        let scheduler = self.scheduler.as_ref().map_or(KERNEL_SCHEDULER.to_owned(), ToString::to_string);
        let commands = vec![under_scheduler(&scheduler, &command)];
        let machine = Boot {
            job: Job { commands, start_us: START_US },
            counters: self.counters.clone(),
            limit: self.limit,
            ..self.machine.boot(&kernel.image, image, interrupted, self.snapshots)
        };
        let what = format!("running {} under Linux {}", self.command.join(" "), self.machine.kernel);
        progress(Preparing::Work(&what));
        boot(&machine)
    }

    /// The command as the machine runs it. What it needs there is added to the image.
    fn command(&self, image: &mut Image) -> Result<Vec<String>, LabError> {
        for file in &self.files {
            image.add_in_place(file)?;
        }
        let mut command = self.command.clone();
        if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
            *program = image.add_in_place(Path::new(program.as_str()))?.display().to_string();
        }
        if self.counters.is_none() {
            return Ok(command);
        }
        Ok(match command.split_first() {
            Some((program, arguments)) if program.starts_with('/') => {
                counted(arguments.to_vec(), Some(program), self.counting)
            }
            _ => counted(command, self.program.as_ref().map(|_| OTHER_PROGRAM), self.counting),
        })
    }
}
