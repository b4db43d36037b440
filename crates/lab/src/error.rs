//! Errors of the lab.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::architecture::Architecture;

/// A boot that could not be prepared, or that ended without an answer.
#[derive(Debug, Error)]
pub enum LabError {
    /// The cache folder is not private, or cannot be created.
    #[error(transparent)]
    Folder(#[from] klatch_host::privileges::FolderError),
    /// A file in the cache was modified.
    #[error(transparent)]
    Changed(#[from] klatch_host::privileges::ManifestError),
    /// A Java runtime in the cache has no checksums.
    #[error("{path} has no klatch.sha256, so it is not used; remove it, and klatch builds it again", path = path.display())]
    NoManifest {
        /// Folder of the runtime.
        path: std::path::PathBuf,
    },
    /// The scheduler's program cannot be found.
    #[error(transparent)]
    Scheduler(#[from] klatch_schedulers::SchedulerError),
    /// The lab has no machine with these CPUs.
    #[error("a machine of the lab {cause}")]
    Machine {
        /// What it has instead.
        cause: String,
    },
    /// A required program is not installed.
    #[error("the lab needs {program}, which is not on the search path; on Debian: apt-get install {package}")]
    NoProgram {
        /// Name of the program.
        program: &'static str,
        /// The Debian package that contains it.
        package: &'static str,
    },
    /// There is no build of klatch for the machine.
    #[error(
        "there is no klatch for {architecture} here, which a machine of {architecture} boots; put one as klatch-{architecture} beside this program or on the search path, or in a checkout of klatch run scripts/cross.sh {architecture} release"
    )]
    NoBuild {
        /// The architecture of the machine.
        architecture: Architecture,
    },
    /// A program is of another architecture than the machine.
    #[error("{program} is no program for {architecture}, which the machine has", program = program.display())]
    OtherArchitecture {
        /// Path of the program.
        program: PathBuf,
        /// The architecture of the machine.
        architecture: Architecture,
    },
    /// The lab has no kernel with this name.
    #[error(
        "there is no kernel {name} here; there are {names}, others are got by `klatch lab get-kernel VERSION`, or named by their file"
    )]
    NoKernel {
        /// The name on the command line.
        name: String,
        /// All names, separated by commas.
        names: String,
    },
    /// The lab has no module with this name for the kernel.
    #[error("there is no module {name} for the kernel {kernel} in the lab; {known}")]
    NoModule {
        /// The name on the command line.
        name: String,
        /// Short name of the kernel.
        kernel: String,
        /// The modules of this kernel.
        known: String,
    },
    /// A kernel that is no file of the user's, or is a package, has its own modules.
    #[error("the kernel {name} comes with its modules; a folder of modules is for an image such as bzImage")]
    OwnModules {
        /// The name on the command line.
        name: String,
    },
    /// A kernel was built without what the lab needs.
    #[error(
        "the kernel {release} cannot be used in the lab, as it was built without {missing}; contrib/lab.config in the sources of Klatch has what it needs"
    )]
    Options {
        /// Its version.
        release: String,
        /// The options, separated by commas.
        missing: String,
    },
    /// No package has the image of a kernel.
    #[error(
        "no vmlinuz is in {packages}; newer kernels of Debian have it in linux-binary-…, and modules and configuration in other packages: `klatch lab get-kernel` gets all"
    )]
    NoImage {
        /// The packages.
        packages: String,
    },
    /// apt could not do its part.
    #[error("cannot get kernels from Debian: {cause}")]
    Apt {
        /// What apt said.
        cause: String,
    },
    /// No address had the kernel.
    #[error("cannot download the kernel {version}: {cause}; or copy {cache} from a machine that has it", cache = cache.display())]
    Fetch {
        /// Full version of the kernel.
        version: &'static str,
        /// The error of each address.
        cause: String,
        /// Klatch's cache folder of this user.
        cache: PathBuf,
    },
    /// The SHA-256 of a file is not the pinned one.
    #[error("{what} has the SHA-256 {got}, but {expected} is pinned; it was not used. Remove {path} if it exists, and try again", path = path.display())]
    Checksum {
        /// Description of the file.
        what: String,
        /// Path of the cached file, which may not exist yet.
        path: PathBuf,
        /// The pinned SHA-256, in hexadecimal.
        expected: &'static str,
        /// SHA-256 of the file, in hexadecimal.
        got: String,
    },
    /// The package is not a valid Debian package with a kernel.
    #[error("the package of the kernel {version} cannot be unpacked: {cause}")]
    Package {
        /// Full version of the kernel.
        version: &'static str,
        /// The error of the unpacker.
        cause: String,
    },
    /// An operation on a file failed.
    #[error("cannot {what} {path}: {source}", path = path.display())]
    File {
        /// The operation, as a verb.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The disk or the quota is full.
    #[error("cannot {what} {path}: the disk is full; free some space, or set a folder on another disk: TMPDIR for the image of a machine (200 MB), XDG_CACHE_HOME for kernels, Java and snapshots", path = path.display())]
    Full {
        /// The operation, as a verb.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
    },
    /// The dynamic linker cannot list the libraries of a program.
    #[error("cannot list the libraries of {program}: {cause}", program = program.display())]
    Libraries {
        /// Path of the program.
        program: PathBuf,
        /// The error of the dynamic linker.
        cause: String,
    },
    /// The Java installation has no jlink.
    #[error("there is no jlink beside {java}: it is part of a JDK, not of a JRE (Debian: apt-get install openjdk-17-jdk-headless); or choose another Java", java = java.display())]
    NoJlink {
        /// Path of the `java` program.
        java: PathBuf,
    },
    /// jlink could not build a runtime.
    #[error("cannot build a small runtime from {java}: {cause}", java = java.display())]
    Jlink {
        /// Path of the `java` program.
        java: PathBuf,
        /// Output of jlink, or the error of the operating system.
        cause: String,
    },
    /// A snapshot in the cache differs from what was written.
    #[error("{path} was altered since klatch wrote it", path = path.display())]
    Damaged {
        /// Path of its file.
        path: PathBuf,
    },
    /// The state of a machine could not be written.
    #[error("the state of the machine cannot be written: {reason}")]
    NotSaved {
        /// What QEMU said first.
        reason: String,
    },
    /// The machine could not be stopped exactly where it takes its job.
    #[error(
        "the emulated machine went on after its stop in each of {boots} boots; is this machine overloaded?"
    )]
    NotStopped {
        /// Number of boots.
        boots: u32,
    },
    /// Interrupted by Ctrl-C or SIGTERM.
    #[error("interrupted; the emulated machine is stopped")]
    Interrupted,
    /// The machine ran longer than the limit.
    #[error(
        "the emulated machine did not end within {limit_s} s and was stopped; last lines of its console: {console}"
    )]
    TooLong {
        /// The limit, seconds of the host's time.
        limit_s: u64,
        /// The last lines of its console.
        console: String,
    },
    /// The machine ended without a complete answer.
    #[error("the emulated machine ended without an answer ({status}); last lines of its console: {console}")]
    NoAnswer {
        /// Exit status of QEMU.
        status: String,
        /// The last lines of its console.
        console: String,
    },
}

impl LabError {
    /// [`LabError::Full`] or [`LabError::File`], by the kind of error.
    pub(crate) fn file(what: &'static str, path: &Path, source: std::io::Error) -> LabError {
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => LabError::Full { what, path },
            _ => LabError::File { what, path, source },
        }
    }

    /// Whether the emulated machine failed, and not its preparation; then other boots may still succeed.
    pub fn is_guest_failure(&self) -> bool {
        matches!(self, LabError::TooLong { .. } | LabError::NoAnswer { .. })
    }
}
