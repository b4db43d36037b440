//! Finds the installed programs that platforms need.

use std::path::{Path, PathBuf};
use std::time::Duration;

use klatch_host::privileges::Program;
use thiserror::Error;

use crate::catalog::NeedsProgram;

/// Longest time in which a program prints its version. A Java on a busy machine needs a few seconds.
pub(crate) const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// An installed program and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledProgram {
    /// Absolute path of the program.
    pub path: PathBuf,
    /// The version that it printed; `None` for a build tool, which is not asked for it.
    pub version: Option<String>,
}

/// A program that cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ProgramError {
    /// It is not installed.
    #[error("needs {name}, which is not installed; install it: {install}")]
    Missing {
        /// Name of the program.
        name: String,
        /// How to install it.
        install: String,
    },
    /// A program of this name is installed but prints no version.
    #[error("needs {name}, and {path} does not print its version ({reason}); install it: {install}", path = path.display())]
    NoVersion {
        /// Name of the program.
        name: String,
        /// Path of the installed program.
        path: PathBuf,
        /// The error, or what is missing in its output.
        reason: String,
        /// How to install the right one.
        install: String,
    },
}

/// The path of a program in the search path or the sbin folders.
pub fn installed_program(name: &str) -> Option<PathBuf> {
    search_folders().into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Finds a program and runs it to get its version.
pub(crate) fn find_program(needs: &NeedsProgram) -> Result<InstalledProgram, ProgramError> {
    let (name, install) = (needs.name.clone(), needs.install.clone());
    let Some(path) = installed_program(&name).or_else(|| in_folders(needs)) else {
        return Err(ProgramError::Missing { name, install });
    };
    if needs.version.is_empty() {
        return Ok(InstalledProgram { path, version: None });
    }
    let no_version = |reason: String| ProgramError::NoVersion { name, path: path.clone(), reason, install };
    let output = match Program::new(&path).args(&needs.version).output_within(VERSION_TIMEOUT) {
        Ok(output) => output,
        Err(error) => return Err(no_version(error.to_string())),
    };
    // Some print it on standard error, and some of these then exit with 1.
    let output_text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    match first_version(&output_text) {
        version @ Some(_) => Ok(InstalledProgram { version, path }),
        None => Err(no_version("no version number in its output".to_owned())),
    }
}

/// The newest program in the platform's own folders.
fn in_folders(needs: &NeedsProgram) -> Option<PathBuf> {
    needs.folders.iter().find_map(|folder| {
        let Some((parent, below)) = folder.split_once("/*/") else {
            return Some(Path::new(folder).join(&needs.name)).filter(|program| program.is_file());
        };
        let versions = std::fs::read_dir(parent).ok()?.flatten();
        let programs = versions.map(|version| version.path().join(below).join(&needs.name));
        programs.filter(|program| program.is_file()).max_by_key(|program| numbers(program))
    })
}

/// The numbers in a path, which order versions.
fn numbers(path: &Path) -> Vec<u64> {
    let text = path.to_string_lossy();
    let words = text.split(|letter: char| !letter.is_ascii_digit());
    words.filter_map(|word| word.parse().ok()).collect()
}

fn search_folders() -> Vec<PathBuf> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    // A relative folder would depend on the working directory.
    let mut folders: Vec<PathBuf> =
        std::env::split_paths(&search_path).filter(|folder| folder.is_absolute()).collect();
    // Servers are installed there, and a user's search path often lacks these folders.
    folders.extend(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(|folder| Path::new(folder).to_owned()));
    folders
}

/// The first number with a dot: `7.0.15` in `Redis server v=7.0.15 sha=0`.
fn first_version(text: &str) -> Option<String> {
    let words = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let numbers = words.map(|word| word.trim_matches('.')).filter(|word| word.contains('.'));
    numbers.map(str::to_owned).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(name: &str, version: &str) -> NeedsProgram {
        NeedsProgram {
            name: name.into(),
            folders: Vec::new(),
            version: vec![version.into()],
            install: "apt-get install it".into(),
        }
    }

    #[test]
    fn versions_are_extracted_from_output() {
        for (output, version) in [
            ("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0", "7.0.15"),
            ("nats-server: v2.9.10", "2.9.10"),
            ("InspIRCd-3.15.0-debian", "3.15.0"),
            ("go version go1.26.8 linux/amd64", "1.26.8"),
            ("ngIRCd 26.1-IDENT+IPv6", "26.1"),
        ] {
            assert_eq!(first_version(output), Some(version.into()));
        }
        assert_eq!(first_version("none. at all 3"), None);
    }

    #[test]
    fn the_newest_program_of_a_versioned_folder_is_used() {
        let folder = tempfile::tempdir().unwrap();
        for version in ["9.6", "10", "9.12"] {
            let bin = folder.path().join(version).join("bin");
            std::fs::create_dir_all(&bin).unwrap();
            let script = format!("#!/bin/sh\necho server {version}.1\n");
            klatch_testing::write_program(&bin.join("klatch-some-server"), &script);
        }
        let pattern = format!("{}/*/bin", folder.path().display());
        let needs = NeedsProgram { folders: vec![pattern], ..needs("klatch-some-server", "--version") };
        let program = find_program(&needs).unwrap();
        assert_eq!(program.version.as_deref(), Some("10.1"));
        assert_eq!(program.path, folder.path().join("10/bin/klatch-some-server"));
    }

    #[test]
    fn a_missing_program_is_reported_with_its_install_command() {
        let program = find_program(&needs("sort", "--version")).unwrap();
        assert!(
            program.path.is_absolute()
                && program.version.as_ref().is_some_and(|version| version.contains('.')),
            "{program:?}"
        );
        let error = find_program(&needs("klatch-no-such-server", "--version")).unwrap_err().to_string();
        assert_eq!(
            error,
            "needs klatch-no-such-server, which is not installed; install it: apt-get install it"
        );
        let error = find_program(&needs("true", "")).unwrap_err().to_string();
        assert!(error.contains("does not print its version (no version number in its output)"), "{error}");
    }
}
