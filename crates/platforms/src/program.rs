//! Finds the programs that platforms need.

use std::path::{Path, PathBuf};
use std::process::Command;

use klatch_privileges::confine;
use thiserror::Error;

use crate::catalog::NeedsProgram;

/// A program on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// The version that it tells.
    pub version: String,
}

/// A program that cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ProgramError {
    /// It is not there.
    #[error("needs {name}, which is not here; get it: {install}")]
    Missing {
        /// Its name.
        name: String,
        /// How to get it.
        install: String,
    },
    /// Something of its name is there, and does not answer as it should.
    #[error("needs {name}, and {path} does not tell its version ({why}); get it: {install}", path = path.display())]
    Odd {
        /// Its name.
        name: String,
        /// What was found.
        path: PathBuf,
        /// What it did.
        why: String,
        /// How to get it.
        install: String,
    },
}

/// Finds a program and asks for its version.
pub(crate) fn find(needs: &NeedsProgram) -> Result<Found, ProgramError> {
    let (name, install) = (needs.name.clone(), needs.install.clone());
    let Some(path) = places().into_iter().map(|folder| folder.join(&name)).find(|path| path.is_file()) else {
        return Err(ProgramError::Missing { name, install });
    };
    let odd = |why: String| ProgramError::Odd { name, path: path.clone(), why, install };
    let mut command = Command::new(&path);
    command.args(&needs.version);
    confine(&mut command);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Err(odd(error.to_string())),
    };
    // Some tell it on standard error, and some then exit with 1.
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    match first_version(&said) {
        Some(version) => Ok(Found { version, path }),
        None => Err(odd("no number in what it says".to_owned())),
    }
}

fn places() -> Vec<PathBuf> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    // A relative one means another folder wherever Klatch is started.
    let mut places: Vec<PathBuf> =
        std::env::split_paths(&search_path).filter(|folder| folder.is_absolute()).collect();
    // Servers are there, and the search path of a user is often without.
    places.extend(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(|folder| Path::new(folder).to_owned()));
    places
}

/// The first number with a dot in it: `7.0.15` of `Redis server v=7.0.15 sha=0`.
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
            version: vec![version.into()],
            install: "apt-get install it".into(),
        }
    }

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (says, version) in [
            ("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0", "7.0.15"),
            ("nats-server: v2.9.10", "2.9.10"),
            ("InspIRCd-3.15.0-debian", "3.15.0"),
            ("go version go1.26.8 linux/amd64", "1.26.8"),
            ("ngIRCd 26.1-IDENT+IPv6", "26.1"),
        ] {
            assert_eq!(first_version(says), Some(version.into()));
        }
        assert_eq!(first_version("none. at all 3"), None);
    }

    #[test]
    fn what_is_missing_or_odd_says_how_to_get_it() {
        let found = find(&needs("sort", "--version")).unwrap();
        assert!(found.path.is_absolute() && found.version.contains('.'), "{found:?}");
        let error = find(&needs("klatch-no-such-server", "--version")).unwrap_err().to_string();
        assert_eq!(error, "needs klatch-no-such-server, which is not here; get it: apt-get install it");
        let error = find(&needs("true", "")).unwrap_err().to_string();
        assert!(error.contains("does not tell its version (no number in what it says)"), "{error}");
    }
}
