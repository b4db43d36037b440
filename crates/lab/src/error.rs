//! Why nothing came out of the lab.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why nothing came out of the lab.
#[derive(Debug, Error)]
pub enum LabError {
    /// A folder of the cache is not trusted or cannot be made.
    #[error(transparent)]
    Folder(#[from] klatch_privileges::FolderError),
    /// Something in the cache is not as it was made.
    #[error(transparent)]
    Changed(#[from] klatch_privileges::ManifestError),
    /// A runtime in the cache has no checksums.
    #[error("{path} is not used: it has no klatch.sha256; remove it to have it made again", path = path.display())]
    NoManifest {
        /// The folder.
        path: std::path::PathBuf,
    },
    /// No emulator.
    #[error("the lab needs {program}, which is not on the search path; on Debian: apt-get install {package}")]
    NoProgram {
        /// What is missing.
        program: &'static str,
        /// What brings it.
        package: &'static str,
    },
    /// There is no such kernel.
    #[error("there is no kernel {name} in the lab; there are {names}")]
    NoKernel {
        /// As it was asked for.
        name: String,
        /// All of them.
        names: String,
    },
    /// The kernel cannot be had.
    #[error("cannot fetch the kernel {version}: {why}; once fetched it is kept in {cache}, and {cache} can be copied from another machine", cache = cache.display())]
    Fetch {
        /// Which kernel.
        version: &'static str,
        /// What each address said.
        why: String,
        /// Where it is kept.
        cache: PathBuf,
    },
    /// Not the bytes that are pinned.
    #[error("{what} has the SHA-256 {got}, and not {expected} as is pinned; it was not used. Remove {path} if it is there, and try again", path = path.display())]
    Checksum {
        /// What was checked.
        what: String,
        /// The file, or where it would be.
        path: PathBuf,
        /// As it should be.
        expected: &'static str,
        /// As it is.
        got: String,
    },
    /// The package is not as Debian's are.
    #[error("the package of the kernel {version} cannot be unpacked: {why}")]
    Package {
        /// Which kernel.
        version: &'static str,
        /// Why not.
        why: String,
    },
    /// A file.
    #[error("cannot {what} {path}: {source}", path = path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// No room for a file.
    #[error("cannot {what} {path}: the disk is full; free some of it, or name a folder on another: TMPDIR for the image of a machine (200 MB), XDG_CACHE_HOME for kernels and Java (150 MB)", path = path.display())]
    Full {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
    },
    /// The libraries of a program cannot be told.
    #[error("cannot tell which libraries {program} needs: {why}", program = program.display())]
    Libraries {
        /// Which program.
        program: PathBuf,
        /// Why not.
        why: String,
    },
    /// A Java without its tools.
    #[error("there is no jlink beside {java}: a JDK has it, a JRE has not (Debian: apt-get install openjdk-17-jdk-headless); name another Java with --java PATH", java = java.display())]
    NoJlink {
        /// The `java` program.
        java: PathBuf,
    },
    /// No runtime for the machine.
    #[error("cannot make a small runtime of {java}: {why}", java = java.display())]
    Jlink {
        /// The `java` program.
        java: PathBuf,
        /// Why not.
        why: String,
    },
    /// Somebody did not want to wait.
    #[error("interrupted; the emulated machine is stopped")]
    Interrupted,
    /// The machine did not come to an end by itself.
    #[error(
        "the emulated machine did not end within {limit_s} s and was stopped; its console said last: {console}"
    )]
    TooLong {
        /// So long it may take.
        limit_s: u64,
        /// Its last lines.
        console: String,
    },
    /// The machine ended before its work was done.
    #[error("the emulated machine ended without an answer ({status}); its console said last: {console}")]
    NoAnswer {
        /// How the emulator ended.
        status: String,
        /// Its last lines.
        console: String,
    },
}

impl LabError {
    /// A file, and why it failed.
    pub(crate) fn file(what: &'static str, path: &Path, source: std::io::Error) -> LabError {
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => LabError::Full { what, path },
            _ => LabError::File { what, path, source },
        }
    }

    /// Whether the emulated machine, and what ran in it, is to blame: then others may still do well.
    pub fn of_the_machine(&self) -> bool {
        matches!(self, LabError::TooLong { .. } | LabError::NoAnswer { .. })
    }
}
