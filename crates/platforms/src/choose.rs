//! Which platform is measured, and with what it runs.

use std::path::PathBuf;

use thiserror::Error;

use crate::catalog::{CatalogError, Entry, Knob, catalog, java_crowd, java_knobs};
use crate::java::{Java, JavaError, Javas};
use crate::knobs::{KnobError, Setting};
use crate::needs::Side;
use crate::own::OwnError;
use crate::program::{Found, ProgramError, find as find_program};
use crate::sources::SourceError;
use crate::tuned::Tuned;

/// What is measured when nobody says: the classic server where there is a Java for it, else the native one.
const USUAL: [&str; 2] = ["java-threads", "native-epoll"];

/// What somebody wants to measure.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// `name`, or `name@version` for a Java of that feature version; `None`: the usual one.
    pub name: Option<String>,
    /// The Java that the user named.
    pub java: Option<PathBuf>,
    /// A folder with more entries for the catalog.
    pub catalog: Option<PathBuf>,
    /// What is set about it.
    pub settings: Vec<Setting>,
}

/// A platform that can run here.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Its name; of a Java platform with the version: `java-threads@17`.
    pub name: String,
    /// What the catalog says of it.
    pub entry: Entry,
    /// The Java that runs it, if it is a Java program.
    pub java: Option<Java>,
    /// The program that it needs, if any.
    pub program: Option<Found>,
    /// What is set about it.
    pub settings: Vec<Setting>,
    /// Why this one, if Klatch chose.
    pub because: Option<String>,
    /// What those settings mean.
    pub tuned: Tuned,
}

impl Chosen {
    /// What it needs of the machine as it is set, by `processes` of which the fullest has so many `connections`.
    pub fn side(&self, processes: u64, connections: u64) -> Side {
        let needs = self.entry.needs.clone();
        let needs = if self.java.is_some() { needs.with_heap(&self.settings) } else { needs };
        Side { who: self.name.clone(), needs, processes, connections }
    }
}

/// Why a platform cannot be measured here.
#[derive(Debug, Error)]
pub enum PlatformError {
    /// The catalog itself is wrong.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The catalog has no such name.
    #[error("no platform is called {name}; there are {known}")]
    Unknown {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
    /// Only Java platforms have versions to choose from.
    #[error("{name} is no Java platform, so it cannot have @{version}")]
    Version {
        /// The platform.
        name: String,
        /// As given.
        version: String,
    },
    /// It needs a Java that is not there.
    #[error("{name} {source}")]
    Java {
        /// The platform.
        name: String,
        /// What is wrong.
        source: JavaError,
    },
    /// It needs a program that is not there.
    #[error("{name} {source}")]
    Program {
        /// The platform.
        name: String,
        /// What is wrong.
        source: ProgramError,
    },
    /// Its source cannot be built.
    #[error("{name}: {source}")]
    Source {
        /// The platform.
        name: String,
        /// What is wrong.
        source: SourceError,
    },
    /// It cannot be set so.
    #[error(transparent)]
    Knob(#[from] KnobError),
    /// A program of Klatch's own is missing.
    #[error(transparent)]
    Own(#[from] OwnError),
}

/// Finds the platform and what it needs.
///
/// # Errors
/// There is no such platform, or it cannot run here, or cannot be set so.
pub fn choose(wish: &Wish) -> Result<Chosen, PlatformError> {
    let javas = Javas::new(wish.java.as_deref());
    if let Some(name) = &wish.name {
        return find(name, wish, &javas);
    }
    match find(USUAL[0], wish, &javas) {
        Ok(chosen) => {
            let java = chosen.java.as_ref().map_or(String::new(), |java| java.path.display().to_string());
            let because = format!("the default: a Java that is new enough is at {java}");
            Ok(Chosen { because: Some(because), ..chosen })
        }
        // A Java that the user named is a wish: nothing else replaces it.
        Err(PlatformError::Java { name, source }) if wish.java.is_none() => {
            let because = Some(format!("the default would be {name}, which {source}"));
            Ok(Chosen { because, ..find(USUAL[1], wish, &javas)? })
        }
        Err(error) => Err(error),
    }
}

fn find(name: &str, wish: &Wish, javas: &Javas) -> Result<Chosen, PlatformError> {
    let (base, version) = name.split_once('@').map_or((name, None), |(base, version)| (base, Some(version)));
    let mut entries = catalog(wish.catalog.as_deref())?;
    let Some(place) = entries.iter().position(|entry| entry.name == base) else {
        let names: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
        return Err(PlatformError::Unknown { name: base.to_owned(), known: names.join(", ") });
    };
    let entry = entries.swap_remove(place);
    let java = java_of(&entry, version, javas)?;
    resolve(entry, java, wish)
}

/// The platform of an entry of the catalog, with the Java that runs it.
fn resolve(entry: Entry, java: Option<Java>, wish: &Wish) -> Result<Chosen, PlatformError> {
    let name = entry.name.clone();
    let program = entry.program.as_ref().map(find_program).transpose();
    let program = program.map_err(|source| PlatformError::Program { name: name.clone(), source })?;
    let tuned = Tuned::of(&name, &wish.settings, &entry.knobs, java.is_some())?;
    Ok(Chosen {
        name: java.as_ref().map_or_else(|| name.clone(), |java| format!("{name}@{}", java.feature)),
        tuned,
        settings: wish.settings.clone(),
        because: None,
        entry,
        java,
        program,
    })
}

fn java_of(entry: &Entry, version: Option<&str>, javas: &Javas) -> Result<Option<Java>, PlatformError> {
    let name = entry.name.clone();
    let wrong_version =
        |version: &str| PlatformError::Version { name: entry.name.clone(), version: version.to_owned() };
    match (&entry.java, version) {
        (None, None) => Ok(None),
        (None, Some(version)) => Err(wrong_version(version)),
        (Some(needs), None) => match javas.find(needs.version_min) {
            Ok(java) => Ok(Some(java)),
            Err(source) => Err(PlatformError::Java { name, source }),
        },
        (Some(needs), Some(version)) => {
            let feature = version.parse().map_err(|_| wrong_version(version))?;
            let found = match javas.of_version(feature) {
                Ok(java) if java.feature < needs.version_min => {
                    Err(JavaError::TooOld { path: java.path, found: feature, wanted: needs.version_min })
                }
                found => found,
            };
            found.map(Some).map_err(|source| PlatformError::Java { name, source })
        }
    }
}

/// A platform as `klatch platforms` lists it.
#[derive(Debug)]
pub struct Listed {
    /// What the catalog says of it.
    pub entry: Entry,
    /// The ways to run it here (one, but for each Java), or why there is none.
    pub here: Result<Vec<Chosen>, PlatformError>,
}

impl Listed {
    /// What can be set about it: names, and a line about each with its values.
    pub fn knobs(&self) -> Vec<(String, String)> {
        let of_java = if self.entry.java.is_some() { java_knobs() } else { Default::default() };
        self.entry.knobs.iter().chain(&of_java).map(told).collect()
    }
}

/// What can be set about the Java crowd alone: names, and a line about each with its values.
pub fn crowd_knobs() -> Vec<(String, String)> {
    java_crowd().knobs.iter().map(told).collect()
}

fn told((name, knob): (&String, &Knob)) -> (String, String) {
    let values: Vec<&str> = knob.values.keys().map(String::as_str).collect();
    let values = if values.is_empty() { String::new() } else { format!(" [{}]", values.join(", ")) };
    (name.clone(), format!("{}{values}", knob.help))
}

/// All platforms, and how each can run here.
///
/// # Errors
/// The catalog is wrong.
pub fn list(wish: &Wish) -> Result<Vec<Listed>, PlatformError> {
    let javas = Javas::new(wish.java.as_deref());
    let here = |entry: &Entry| -> Result<Vec<Chosen>, PlatformError> {
        let java = java_of(entry, None, &javas)?;
        let Some(needs) = entry.java.as_ref().filter(|_| wish.java.is_none()) else {
            return Ok(vec![resolve(entry.clone(), java, wish)?]);
        };
        // Of several runtimes of one version the first is used, as by `choose`.
        let mut others: Vec<&Java> = javas.installed().iter().collect();
        others.retain(|java| java.feature >= needs.version_min);
        others.sort_by_key(|java| java.feature);
        others.dedup_by_key(|java| java.feature);
        others.into_iter().map(|java| resolve(entry.clone(), Some(java.clone()), wish)).collect()
    };
    let entries = catalog(wish.catalog.as_deref())?;
    Ok(entries.into_iter().map(|entry| Listed { here: here(&entry), entry }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(name: &str) -> Wish {
        Wish { name: Some(name.to_owned()), ..Wish::default() }
    }

    fn says(wish: &Wish) -> String {
        choose(wish).map_or_else(|error| error.to_string(), |chosen| chosen.name)
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let error = says(&wish("java-fibers"));
        assert!(error.starts_with("no platform is called java-fibers; there are "), "{error}");
        assert!(error.contains("java-threads, ") && error.contains("native-epoll"), "{error}");
    }

    #[test]
    fn a_java_that_was_named_is_not_replaced() {
        let error = says(&Wish { java: Some("/nowhere/java".into()), ..Wish::default() });
        assert!(error.starts_with("java-threads cannot run /nowhere/java"), "{error}");
    }

    #[test]
    fn versions_belong_to_java_platforms() {
        assert_eq!(says(&wish("native-epoll@17")), "native-epoll is no Java platform, so it cannot have @17");
        assert!(says(&wish("java-threads@999")).starts_with("java-threads needs Java 999, and found "));
    }

    #[test]
    fn an_unknown_knob_is_answered_with_the_known_ones() {
        let settings = vec!["turbo=on".parse().unwrap()];
        let error = says(&Wish { settings, ..wish("native-epoll") });
        assert_eq!(
            error,
            "native-epoll has no knob turbo; it has loops, nodelay, sendq, cpus, nice, policy, thp"
        );
    }
}
