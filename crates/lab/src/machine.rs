//! A running QEMU: its arguments, its monitor and its end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use klatch_host::privileges::{Program, temporary_folder};
use klatch_instruments::counters::PLUGIN as COUNTERS;
use klatch_instruments::stop::PLUGIN as STOP;
use tempfile::TempDir;

use crate::architecture::Architecture;
use crate::boot_settings::Boot;
use crate::error::LabError;
use crate::image::Image;
use crate::inherit::inherit;
use crate::job::{DELIVERY_FILE, JOB_FILE, Job};

/// Time between two looks at a machine. The interruption is a flag without a descriptor, so there is nothing to poll.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// What a machine starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    /// This root file system. It stops before it takes its job.
    Image(&'a [u8]),
    /// A snapshot of a machine that was stopped so.
    Snapshot(&'a File),
}

/// When to give up waiting for a machine.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    boot: &'a Boot<'a>,
    started: Instant,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(boot: &'a Boot<'a>) -> Watch<'a> {
        Watch { boot, started: Instant::now() }
    }

    /// Waits for a short time.
    ///
    /// # Errors
    /// [`LabError::Interrupted`].
    pub(crate) fn pause(&self) -> Result<(), LabError> {
        match self.boot.interrupted.load(Ordering::Relaxed) {
            true => Err(LabError::Interrupted),
            false => {
                sleep(LOOK);
                Ok(())
            }
        }
    }

    fn is_over(&self) -> bool {
        self.started.elapsed() > self.boot.limit
    }
}

/// A running QEMU, killed on drop. Its working folder has its files: `console`, `answer`, `errors`, `job`, `files`.
pub(crate) struct Machine {
    child: Child,
    architecture: Architecture,
    folder: TempDir,
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Fails if it has ended, which is what matters.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Machine {
    /// Starts a machine without a terminal, whose clock counts instructions.
    pub(crate) fn start(boot: &Boot<'_>, from: Origin<'_>) -> Result<Machine, LabError> {
        let folder = folder_for_boot()?;
        let write = |name: &str, bytes: &[u8]| write_file(&folder.path().join(name), bytes);
        let architecture = boot.image.architecture();
        let mut command = Program::new(architecture.qemu());
        command.args(arguments(boot)).args(exact_arguments()).current_dir(folder.path());
        command.arg("-kernel").arg(absolute(boot.kernel)?);
        write("stop.so", STOP)?;
        match from {
            Origin::Image(image) => {
                write("image", image)?;
                write_job(folder.path(), None, &Image::default())?;
                command.args(["-initrd", "image", "-plugin", "./stop.so,reached=reached"]);
            }
            Origin::Snapshot(file) => {
                write_job(folder.path(), Some(&boot.job), &boot.files())?;
                let state = format!("fd:{}", inherit(&mut command, file));
                command.args(["-incoming", &state, "-plugin", "./stop.so"]);
                // A machine that moved announces itself to networks, and each time wakes the main thread. There is no network, but several
                // CPUs would take other turns.
                command.args(["-global", "migration.announce-rounds=0"]);
                if let Some(caches) = &boot.counters {
                    write("counters.so", COUNTERS)?;
                    let separator = if caches.is_empty() { "" } else { "," };
                    command.args(["-plugin", &format!("./counters.so{separator}{caches}")]);
                }
            }
        }
        let errors = folder.path().join("errors");
        let errors = File::create(&errors).map_err(|source| LabError::file("write", &errors, source))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        Ok(Machine { child: spawn(&mut command, architecture)?, architecture, folder })
    }

    /// Boots a machine with its console on this terminal, in real time.
    pub(crate) fn start_shell(boot: &Boot<'_>) -> Result<Machine, LabError> {
        let folder = folder_for_boot()?;
        let files = boot.files();
        write_file(&folder.path().join("image"), &files.root()?)?;
        write_job(folder.path(), Some(&boot.job), &files)?;
        let architecture = boot.image.architecture();
        let mut command = Program::new(architecture.qemu());
        command.args(arguments(boot)).current_dir(folder.path());
        command.arg("-kernel").arg(absolute(boot.kernel)?).args(["-initrd", "image", "-serial", "mon:stdio"]);
        Ok(Machine { child: spawn(&mut command, architecture)?, architecture, folder })
    }

    /// QEMU's program.
    pub(crate) fn qemu(&self) -> &'static str {
        self.architecture.qemu()
    }

    /// Path of a file of the machine.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The streams of its monitor, for one who has not asked for them before.
    pub(crate) fn monitor_streams(&mut self) -> (ChildStdin, ChildStdout) {
        let streams = (self.child.stdin.take(), self.child.stdout.take());
        let (Some(input), Some(output)) = streams else { unreachable!("the monitor is asked for once") };
        (input, output)
    }

    /// Its exit status, if it has ended.
    ///
    /// # Errors
    /// It was interrupted, or runs for longer than its limit.
    pub(crate) fn look(&mut self, watch: &Watch<'_>) -> Result<Option<ExitStatus>, LabError> {
        let status = self.child.try_wait();
        match status.map_err(|source| LabError::File {
            what: "wait for",
            path: self.qemu().into(),
            source,
        })? {
            // Checked before the status: Ctrl-C ends QEMU too.
            _ if watch.boot.interrupted.load(Ordering::Relaxed) => Err(LabError::Interrupted),
            None if watch.is_over() => {
                Err(LabError::TooLong { limit_s: watch.boot.limit.as_secs(), console: self.console() })
            }
            status => Ok(status),
        }
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self, watch: &Watch<'_>) -> Result<ExitStatus, LabError> {
        loop {
            if let Some(status) = self.look(watch)? {
                return Ok(status);
            }
            watch.pause()?;
        }
    }

    /// The error of a machine that ended too early.
    pub(crate) fn without_answer(&self, status: &str) -> LabError {
        LabError::NoAnswer { status: status.to_owned(), console: self.console() }
    }

    /// The last lines of its console and of QEMU's own messages.
    pub(crate) fn console(&self) -> String {
        last_lines(&self.file("console")) + &last_lines(&self.file("errors"))
    }
}

/// Arguments of QEMU without files. All that the state after a boot depends on, but the kernel and the image, is among them.
pub(crate) fn arguments(boot: &Boot<'_>) -> Vec<String> {
    let architecture = boot.image.architecture();
    let common = ["-accel", "tcg", "-nodefaults", "-nographic", "-no-reboot"];
    let mut all: Vec<String> = architecture.hardware().into_iter().chain(common).map(str::to_owned).collect();
    let mut add = |option: &str, value: String| all.extend([option.to_owned(), value]);
    add("-rtc", "base=2020-01-01T00:00:00,clock=vm".to_owned());
    add("-seed", boot.seed.to_string());
    add("-fw_cfg", format!("name={JOB_FILE},file=job"));
    add("-fw_cfg", format!("name={DELIVERY_FILE},file=files"));
    // The kernel passes the arguments after `--` to the first program.
    add(
        "-append",
        format!("{} rdinit=/klatch -- lab guest", kernel_parameters(architecture, &boot.parameters)),
    );
    if boot.counters.is_some() {
        // The counters' plugin finds the memory of the machine among the mappings of QEMU.
        add("-machine", "memory-backend=ram".to_owned());
        add("-object", format!("memory-backend-memfd,id=ram,size={}M,share=on", boot.memory_mb));
    }
    all.extend(boot.cpus.arguments(boot.memory_mb));
    all
}

/// Arguments of a machine whose clock counts instructions, and that answers.
pub(crate) fn exact_arguments() -> [&'static str; 12] {
    // Without ioeventfd the emulated CPU handles its own notifications at once. Otherwise QEMU's main thread handles them
    // whenever the host runs it, and two boots of one image differ.
    [
        "-icount",
        "shift=0,sleep=off",
        "-serial",
        "file:console",
        "-chardev",
        "file,id=answer,path=answer",
        "-device",
        "virtio-serial-pci,ioeventfd=off",
        "-device",
        "virtserialport,chardev=answer",
        "-qmp",
        "stdio",
    ]
}

/// The parameters of the lab whose names are not among `given`, and those. Linux 6.17 and newer do not take back `mitigations=off` for a later value.
fn kernel_parameters(architecture: Architecture, given: &str) -> String {
    let name = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_owned();
    let names: Vec<String> = given.split_whitespace().map(name).collect();
    let own = architecture.parameters();
    let own = own.split_whitespace().filter(|parameter| !names.contains(&name(parameter)));
    own.chain(given.split_whitespace()).collect::<Vec<_>>().join(" ")
}

fn folder_for_boot() -> Result<TempDir, LabError> {
    temporary_folder().map_err(|source| LabError::File {
        what: "make a folder in",
        path: std::env::temp_dir(),
        source,
    })
}

/// QEMU runs in a folder of its own.
fn absolute(path: &Path) -> Result<PathBuf, LabError> {
    std::path::absolute(path).map_err(|source| LabError::file("find", path, source))
}

/// Writes what the machine gets from QEMU: its job, if it has one, and the files that come with it.
fn write_job(folder: &Path, job: Option<&Job>, files: &Image) -> Result<(), LabError> {
    write_file(&folder.join("job"), &serde_json::to_vec(&job).expect("a job is plain JSON"))?;
    write_file(&folder.join("files"), &files.delivery()?)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    std::fs::write(path, bytes).map_err(|source| LabError::file("write", path, source))
}

/// Starts QEMU without root's rights; the kernel kills it when Klatch dies.
fn spawn(command: &mut Program, architecture: Architecture) -> Result<Child, LabError> {
    let path = architecture.qemu().into();
    command.spawn().map_err(|source| LabError::File { what: "start", path, source })
}

fn last_lines(path: &Path) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(8)..].iter().map(|line| format!("\n  {}", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot_settings::Snapshots;
    use crate::cpus::Cpus;
    use crate::image::Image;

    #[test]
    fn a_full_disk_is_reported() {
        let error = write_file(Path::new("/dev/full"), &[0; 100_000]).unwrap_err().to_string();
        assert!(
            error.starts_with("cannot write /dev/full: the disk is full") && error.contains("TMPDIR"),
            "{error}"
        );
    }

    /// The arguments of a machine with one CPU and counters.
    fn line(architecture: Architecture) -> String {
        let interrupted = std::sync::atomic::AtomicBool::new(false);
        let boot = Boot {
            kernel: Path::new("kernel"),
            image: Image::empty(architecture),
            cpus: Cpus::Number(1),
            memory_mb: 512,
            seed: 7,
            parameters: "quiet".to_owned(),
            job: Job { commands: Vec::new(), start_us: 0 },
            counters: Some(String::new()),
            limit: Duration::MAX,
            interrupted: &interrupted,
            snapshots: Snapshots::Anew,
        };
        arguments(&boot).join(" ")
    }

    #[test]
    fn the_machine_is_of_the_architecture_of_its_image() {
        let end = " rdinit=/klatch -- lab guest -machine memory-backend=ram \
                   -object memory-backend-memfd,id=ram,size=512M,share=on -smp 1 -m 512M";
        let common = "-accel tcg -nodefaults -nographic -no-reboot -rtc base=2020-01-01T00:00:00,clock=vm -seed 7 \
                      -fw_cfg name=opt/klatch/job,file=job -fw_cfg name=opt/klatch/files,file=files -append console=";
        let amd64 = line(Architecture::Amd64);
        assert!(amd64.starts_with(&format!("-M q35 -cpu max {common}ttyS0 panic=-1 ")), "{amd64}");
        assert!(amd64.contains(" tsc=reliable ") && amd64.ends_with(end), "{amd64}");
        let arm64 = line(Architecture::Arm64);
        let start = format!("-M virt,gic-version=3 -cpu neoverse-n1 {common}ttyAMA0 panic=-1 ");
        assert!(arm64.starts_with(&start) && !arm64.contains("tsc") && arm64.ends_with(end), "{arm64}");
    }

    #[test]
    fn a_parameter_replaces_that_of_the_lab() {
        let own = kernel_parameters(Architecture::Amd64, "");
        assert_eq!(
            own,
            "console=ttyS0 panic=-1 quiet nokaslr norandmaps mitigations=off tsc=reliable random.trust_cpu=off"
        );
        let with = kernel_parameters(Architecture::Amd64, "mitigations=auto  preempt=full");
        assert!(with.ends_with(" random.trust_cpu=off mitigations=auto preempt=full"), "{with}");
        assert!(!with.contains("mitigations=off"), "{with}");
    }
}
