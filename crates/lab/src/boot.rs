//! One boot of an emulated machine: QEMU without hardware's help, its clock counting instructions, and what it answers.
//!
//! With `-icount shift=0` one nanosecond of the machine is one of its instructions, whatever the machine below is doing.
//! CPUs take turns and share that one clock.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use klatch_privileges::confine;
use tempfile::TempDir;

use crate::error::LabError;
use crate::image::Image;
use crate::job::{Answer, END, Job};

const QEMU: &str = "qemu-system-x86_64";

/// An emulated machine.
#[derive(Clone, Debug)]
pub struct Boot<'a> {
    /// The kernel.
    pub kernel: &'a Path,
    /// What it finds.
    pub image: Image,
    /// CPUs.
    pub cpus: u32,
    /// Memory, MB.
    pub memory_mb: u32,
    /// Seed of what the machine takes for chance.
    pub seed: u32,
    /// What it does.
    pub job: Job,
    /// So long it may take, of this machine's time.
    pub limit: Duration,
    /// Becomes true when it shall end at once.
    pub interrupted: &'a AtomicBool,
}

/// Boots it, waits until it has ended, and returns what it answered.
///
/// # Errors
/// See [`LabError`].
pub fn boot(boot: &Boot<'_>) -> Result<Answer, LabError> {
    let folder = scratch()?;
    let (console, answer) = (folder.path().join("console"), folder.path().join("answer"));
    let mut command = command(boot, folder.path())?;
    command.args(["-icount", "shift=0,sleep=off", "-serial"]);
    command.arg(format!("file:{}", console.display()));
    command.arg("-chardev").arg(format!("file,id=answer,path={}", answer.display()));
    // A port whose notices are handled at once, by the CPU that gives them. As an event for the main thread of QEMU they
    // are handled whenever that thread gets to run, and boots of one image differ from then on.
    command.args(["-device", "virtio-serial-pci,ioeventfd=off", "-device", "virtserialport,chardev=answer"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(File::create(folder.path().join("errors")).map_err(|source| LabError::File {
        what: "write to",
        path: folder.path().to_owned(),
        source,
    })?);
    let status = wait(&mut Stopped(spawn(&mut command)?), boot)?;
    let told = std::fs::read_to_string(&answer).unwrap_or_default();
    let words = || last_lines(&console) + &last_lines(&folder.path().join("errors"));
    match (told.strip_suffix(END), status) {
        // The exit status of the emulator proves nothing: the mark at the end does.
        (Some(json), _) => serde_json::from_str(json)
            .map_err(|error| LabError::NoAnswer { status: error.to_string(), console: words() }),
        (None, Some(status)) => Err(LabError::NoAnswer { status, console: words() }),
        (None, None) => Err(LabError::TooLong { limit_s: boot.limit.as_secs(), console: words() }),
    }
}

/// Boots it with its console on this terminal, in real time. `boot.job.commands` is empty.
///
/// # Errors
/// See [`LabError`].
pub fn shell(boot: &Boot<'_>) -> Result<(), LabError> {
    let folder = scratch()?;
    let mut command = command(boot, folder.path())?;
    command.args(["-serial", "mon:stdio"]);
    wait(&mut Stopped(spawn(&mut command)?), boot).map(|_| ())
}

fn scratch() -> Result<TempDir, LabError> {
    tempfile::tempdir().map_err(|source| LabError::File {
        what: "make a folder in",
        path: std::env::temp_dir(),
        source,
    })
}

fn command(boot: &Boot<'_>, folder: &Path) -> Result<Command, LabError> {
    let image = folder.join("image");
    let mut files = boot.image.clone();
    files.bytes("/job.json", serde_json::to_vec(&boot.job).expect("a job is plain JSON"));
    files.write(&image)?;
    let mut command = Command::new(QEMU);
    command.args(["-M", "q35", "-cpu", "max", "-accel", "tcg", "-nodefaults", "-nographic", "-no-reboot"]);
    command.args(["-rtc", "base=2020-01-01T00:00:00,clock=vm"]);
    command.args(["-smp", &boot.cpus.to_string(), "-m", &format!("{}M", boot.memory_mb)]);
    command.args(["-seed", &boot.seed.to_string()]);
    command.arg("-kernel").arg(boot.kernel).arg("-initrd").arg(&image);
    // `--` ends what is for the kernel; the rest are the first program's arguments.
    command.arg("-append").arg(
        "console=ttyS0 panic=-1 quiet nokaslr norandmaps mitigations=off tsc=reliable random.trust_cpu=off \
         rdinit=/klatch -- lab guest",
    );
    Ok(command)
}

/// Needs nothing of root's, and dies with Klatch.
fn spawn(command: &mut Command) -> Result<Child, LabError> {
    confine(command);
    command.spawn().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => LabError::NoProgram { program: QEMU, package: "qemu-system-x86" },
        _ => LabError::File { what: "start", path: QEMU.into(), source },
    })
}

/// A process that does not outlive its owner.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        // It has ended already, or it shall.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How it ended; `None` if it did not within the limit.
fn wait(machine: &mut Stopped, boot: &Boot<'_>) -> Result<Option<String>, LabError> {
    let began = Instant::now();
    loop {
        let ended = machine.0.try_wait();
        match ended.map_err(|source| LabError::File { what: "wait for", path: QEMU.into(), source })? {
            // What stopped us may have stopped it, too.
            _ if boot.interrupted.load(Ordering::Relaxed) => return Err(LabError::Interrupted),
            Some(status) => return Ok(Some(status.to_string())),
            None if began.elapsed() > boot.limit => return Ok(None),
            // A child's end comes with no descriptor to wait on together with a limit.
            None => sleep(Duration::from_millis(20)),
        }
    }
}

fn last_lines(path: &Path) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(8)..].iter().map(|line| format!("\n  {}", line.trim_end())).collect()
}
