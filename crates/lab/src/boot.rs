//! Boots an emulated machine: QEMU without hardware virtualization, with a clock that counts instructions.
//!
//! With `-icount shift=0` one nanosecond of the machine is one of its instructions, whatever the load of the host. The
//! machine's CPUs take turns and share that clock.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use klatch_host::privileges::{Program, temporary_folder, write_private};
use klatch_instruments::counters::{Hardware, HardwareError, PLUGIN};
use tempfile::TempDir;

use crate::cpus::Cpus;
use crate::error::LabError;
use crate::image::Image;
use crate::job::{Answer, END, Job};
use crate::programs::{QEMU, require_qemu};

/// The settings of one boot.
#[derive(Clone, Debug)]
pub struct Boot<'a> {
    /// Path of the kernel image (bzImage).
    pub kernel: &'a Path,
    /// Root file system, without the job.
    pub image: Image,
    /// Its CPUs.
    pub cpus: Cpus,
    /// Memory of the machine, MB.
    pub memory_mb: u32,
    /// Seed of QEMU's random numbers.
    pub seed: u32,
    /// Parameters of the kernel, each in place of that of the lab with its name.
    pub parameters: String,
    /// Work of the machine; without commands, a shell.
    pub job: Job,
    /// Arguments of the counters' plugin, `Some("")` to count instructions only; `None` for a machine without counters.
    pub counters: Option<String>,
    /// Longest duration of the boot, in the host's time.
    pub limit: Duration,
    /// Set to true to stop the machine at once.
    pub interrupted: &'a AtomicBool,
}

impl Boot<'_> {
    /// The name of caches that stands for none: only instructions are counted.
    pub const INSTRUCTIONS: &'static str = "instructions";

    /// The arguments of the counters' plugin for caches by preset or file, or [`Boot::INSTRUCTIONS`].
    ///
    /// # Errors
    /// There is no such preset or file.
    pub fn counters(caches: &str) -> Result<String, HardwareError> {
        match caches {
            Boot::INSTRUCTIONS => Ok(String::new()),
            name => Ok(Hardware::load(name)?.arguments()),
        }
    }
}

/// Boots the machine, waits for its end, and returns its answer.
///
/// # Errors
/// See [`LabError`].
pub fn boot(boot: &Boot<'_>) -> Result<Answer, LabError> {
    let folder = folder_for_boot()?;
    let (console_file, answer) = (folder.path().join("console"), folder.path().join("answer"));
    let mut command = qemu(boot, folder.path())?;
    command.args(["-icount", "shift=0,sleep=off", "-serial"]);
    command.arg(format!("file:{}", console_file.display()));
    command.arg("-chardev").arg(format!("file,id=answer,path={}", answer.display()));
    // Without ioeventfd the emulated CPU handles its own notifications at once. Otherwise QEMU's main thread handles them
    // whenever the host runs it, and two boots of one image differ.
    command.args(["-device", "virtio-serial-pci,ioeventfd=off", "-device", "virtserialport,chardev=answer"]);
    if let Some(arguments) = &boot.counters {
        add_counters(&mut command, folder.path(), boot.memory_mb, arguments)?;
    }
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(File::create(folder.path().join("errors")).map_err(|source| LabError::File {
        what: "write to",
        path: folder.path().to_owned(),
        source,
    })?);
    let status = wait(&mut Machine(spawn(&mut command)?), boot)?;
    let text = std::fs::read_to_string(&answer).unwrap_or_default();
    let console = || last_lines(&console_file) + &last_lines(&folder.path().join("errors"));
    match (text.strip_suffix(END), status) {
        // QEMU exits with 0 after a crash of the guest too. Only the end mark proves a complete answer.
        (Some(json), _) => serde_json::from_str(json)
            .map_err(|error| LabError::NoAnswer { status: error.to_string(), console: console() }),
        (None, Some(status)) => Err(LabError::NoAnswer { status, console: console() }),
        (None, None) => Err(LabError::TooLong { limit_s: boot.limit.as_secs(), console: console() }),
    }
}

/// Boots the machine with its console on this terminal, in real time. `boot.job.commands` must be empty.
///
/// # Errors
/// See [`LabError`].
pub fn shell(boot: &Boot<'_>) -> Result<(), LabError> {
    let folder = folder_for_boot()?;
    let mut command = qemu(boot, folder.path())?;
    command.args(["-serial", "mon:stdio"]);
    wait(&mut Machine(spawn(&mut command)?), boot).map(|_| ())
}

fn folder_for_boot() -> Result<TempDir, LabError> {
    temporary_folder().map_err(|source| LabError::File {
        what: "make a folder in",
        path: std::env::temp_dir(),
        source,
    })
}

/// Parameters of the kernel that every machine has.
const PARAMETERS: &str =
    "console=ttyS0 panic=-1 quiet nokaslr norandmaps mitigations=off tsc=reliable random.trust_cpu=off";

/// The parameters of the lab whose names are not among `given`, and those. Linux 6.17 and newer do not take back `mitigations=off` for a later value.
fn kernel_parameters(given: &str) -> String {
    let name = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_owned();
    let names: Vec<String> = given.split_whitespace().map(name).collect();
    let own = PARAMETERS.split_whitespace().filter(|parameter| !names.contains(&name(parameter)));
    own.chain(given.split_whitespace()).collect::<Vec<_>>().join(" ")
}

fn qemu(boot: &Boot<'_>, folder: &Path) -> Result<Program, LabError> {
    require_qemu()?;
    let image = folder.join("image");
    let mut files = boot.image.clone();
    if boot.counters.is_some() {
        // The counters name routines.
        files = files.with_symbols();
    }
    files.add_bytes("/job.json", serde_json::to_vec(&boot.job).expect("a job is plain JSON"));
    files.write(&image)?;
    let mut command = Program::new(QEMU);
    command.args(["-M", "q35", "-cpu", "max", "-accel", "tcg", "-nodefaults", "-nographic", "-no-reboot"]);
    command.args(["-rtc", "base=2020-01-01T00:00:00,clock=vm"]);
    boot.cpus.check(boot.counters.is_some())?;
    command.args(boot.cpus.arguments(boot.memory_mb));
    command.args(["-seed", &boot.seed.to_string()]);
    command.arg("-kernel").arg(boot.kernel).arg("-initrd").arg(&image);
    // The kernel passes the arguments after `--` to the first program.
    let parameters = kernel_parameters(&boot.parameters);
    command.arg("-append").arg(format!("{parameters} rdinit=/klatch -- lab guest"));
    Ok(command)
}

/// Loads the counters' plugin, and makes the machine's memory a file, which the plugin finds among the mappings of QEMU.
fn add_counters(
    command: &mut Program,
    folder: &Path,
    memory_mb: u32,
    arguments: &str,
) -> Result<(), LabError> {
    command.args(["-machine", "memory-backend=ram", "-object"]);
    command.arg(format!("memory-backend-memfd,id=ram,size={memory_mb}M,share=on"));
    let plugin = folder.join("counters.so");
    write_private(&plugin, PLUGIN).map_err(|source| LabError::file("write", &plugin, source))?;
    let separator = if arguments.is_empty() { "" } else { "," };
    command.arg("-plugin").arg(format!("{}{separator}{arguments}", plugin.display()));
    Ok(())
}

/// Starts QEMU without root's rights; the kernel kills it when Klatch dies.
fn spawn(command: &mut Program) -> Result<Child, LabError> {
    command.spawn().map_err(|source| LabError::File { what: "start", path: QEMU.into(), source })
}

/// A running QEMU, killed on drop.
struct Machine(Child);

impl Drop for Machine {
    fn drop(&mut self) {
        // Fails if it has ended, which is what matters.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for the end. Returns the exit status, or `None` after the limit.
fn wait(machine: &mut Machine, boot: &Boot<'_>) -> Result<Option<String>, LabError> {
    let started = Instant::now();
    loop {
        let status = machine.0.try_wait();
        match status.map_err(|source| LabError::File { what: "wait for", path: QEMU.into(), source })? {
            // Checked before the status: Ctrl-C ends QEMU too.
            _ if boot.interrupted.load(Ordering::Relaxed) => return Err(LabError::Interrupted),
            Some(status) => return Ok(Some(status.to_string())),
            None if started.elapsed() > boot.limit => return Ok(None),
            // The interruption is a flag without a descriptor, so there is nothing to poll together with the child.
            None => sleep(Duration::from_millis(20)),
        }
    }
}

fn last_lines(path: &Path) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(8)..].iter().map(|line| format!("\n  {}", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_replaces_that_of_the_lab() {
        assert_eq!(kernel_parameters(""), PARAMETERS);
        let with = kernel_parameters("mitigations=auto  preempt=full");
        assert!(with.ends_with(" random.trust_cpu=off mitigations=auto preempt=full"), "{with}");
        assert!(!with.contains("mitigations=off"), "{with}");
    }
}
