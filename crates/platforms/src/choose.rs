//! Which platform is measured, and with what it runs.

use std::path::Path;

use thiserror::Error;

use crate::catalog::{Entry, catalog};
use crate::java::{Java, JavaError};
use crate::programs::{ProgramError, crowd_jar, klatch_itself};

/// What is measured when nobody says: the classic server where there is a Java for it, else the native one.
const USUAL: [&str; 2] = ["java-threads", "native-epoll"];

/// A platform that can run here.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// What the catalog says of it.
    pub entry: Entry,
    /// The Java that runs it, if it is a Java program.
    pub java: Option<Java>,
    /// Why this one, if Klatch chose.
    pub because: Option<String>,
}

/// Why a platform cannot be measured here.
#[derive(Debug, Error)]
pub enum PlatformError {
    /// The catalog has no such name.
    #[error("no platform is called {name}; there are {known}")]
    Unknown {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
    /// It needs a Java that is not there.
    #[error("{name} {source}")]
    Java {
        /// The platform.
        name: String,
        /// What is wrong.
        source: JavaError,
    },
    /// A program of Klatch's own is missing.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// Finds the platform called `name` (or the usual one) and what it needs; `java` is the runtime that the user named.
///
/// # Errors
/// There is no such platform, or it cannot run here.
pub fn choose(name: Option<&str>, java: Option<&Path>) -> Result<Chosen, PlatformError> {
    if let Some(name) = name {
        return find(name, java);
    }
    match find(USUAL[0], java) {
        Ok(chosen) => {
            let java = chosen.java.as_ref().map_or(String::new(), |java| java.path.display().to_string());
            let because = format!("the default: a Java that is new enough is at {java}");
            Ok(Chosen { because: Some(because), ..chosen })
        }
        // A Java that the user named is a wish: nothing else replaces it.
        Err(error) if java.is_some() => Err(error),
        Err(error) => {
            let because = Some(format!("the default would be {error}"));
            Ok(Chosen { because, ..find(USUAL[1], None)? })
        }
    }
}

fn find(name: &str, java: Option<&Path>) -> Result<Chosen, PlatformError> {
    let mut entries = catalog();
    let Some(place) = entries.iter().position(|entry| entry.name == name) else {
        let names: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
        return Err(PlatformError::Unknown { name: name.to_owned(), known: names.join(", ") });
    };
    let entry = entries.swap_remove(place);
    let needs_java = entry.java.as_ref().map(|needs| Java::find(java, needs.version_min)).transpose();
    let java = needs_java.map_err(|source| PlatformError::Java { name: name.to_owned(), source })?;
    Ok(Chosen { entry, java, because: None })
}

impl Chosen {
    /// The exact command line that starts it on `address` (`host:port`).
    ///
    /// # Errors
    /// A program of Klatch's own that it needs is missing.
    pub fn command(&self, address: &str) -> Result<Vec<String>, PlatformError> {
        let fill = |word: &String| -> Result<String, PlatformError> {
            Ok(match word.as_str() {
                "{klatch}" => klatch_itself()?.display().to_string(),
                "{jar}" => crowd_jar()?.display().to_string(),
                "{java}" => {
                    self.java.as_ref().map_or("java".to_owned(), |java| java.path.display().to_string())
                }
                word => word.replace("{address}", address),
            })
        };
        self.entry.command.iter().map(fill).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let error = choose(Some("java-fibers"), None).unwrap_err().to_string();
        assert_eq!(error, "no platform is called java-fibers; there are java-threads, native-epoll");
    }

    #[test]
    fn a_java_that_was_named_is_not_replaced() {
        let error = choose(None, Some(Path::new("/nowhere/java"))).unwrap_err().to_string();
        assert!(error.starts_with("java-threads cannot run /nowhere/java"), "{error}");
    }

    #[test]
    fn the_command_line_is_complete() {
        let command = choose(Some("native-epoll"), None).unwrap().command("127.0.0.1:0").unwrap();
        assert!(command[0].starts_with('/') && command.contains(&"127.0.0.1:0".to_owned()), "{command:?}");
        assert!(!command.iter().any(|word| word.contains('{')), "{command:?}");
    }
}
