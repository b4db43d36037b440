//! Finds a Java runtime that is new enough.

use std::cell::OnceCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use klatch_privileges::{PrivateFolder, cache_path, check_manifest, confine};
use klatch_record::{Runtime, error_chain};
use thiserror::Error;

/// A Java runtime on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Java {
    /// The `java` program.
    pub path: PathBuf,
    /// Feature version: 8, 17, 25.
    pub feature: u32,
    /// What it calls itself, with its full version.
    pub version: String,
}

/// Why there is no Java to use.
#[derive(Clone, Debug, Error)]
pub enum JavaError {
    /// A runtime was named, and does not work.
    #[error("cannot run {path}: {why}; give the path of a `java` program with --java", path = path.display())]
    NotJava {
        /// As given.
        path: PathBuf,
        /// What happened.
        why: String,
    },
    /// A runtime was named, and is too old.
    #[error("needs Java {wanted} or newer, and {path} is Java {found}", path = path.display())]
    TooOld {
        /// As given.
        path: PathBuf,
        /// Its feature version.
        found: u32,
        /// The least that will do.
        wanted: u32,
    },
    /// None of this version was found.
    #[error(
        "needs Java {wanted}, and found {found}; docs/reference/runtimes.md tells how to have several side by side"
    )]
    NoVersion {
        /// What was found.
        found: String,
        /// The feature version.
        wanted: u32,
    },
    /// None was found that is new enough.
    #[error(
        "needs Java {wanted} or newer, and found {found}; \
         install one (Debian: apt-get install openjdk-17-jre-headless) or name one with --java PATH"
    )]
    None {
        /// What was found.
        found: String,
        /// The least that will do.
        wanted: u32,
    },
}

/// The runtimes that can be used, each started once, when it is first asked for.
#[derive(Debug, Default)]
pub(crate) struct Javas<'a> {
    /// The one that the user named: nothing else is used unless a version is asked for.
    named: Option<&'a Path>,
    asked: OnceCell<Result<Java, JavaError>>,
    installed: OnceCell<Vec<Java>>,
}

impl<'a> Javas<'a> {
    pub(crate) fn new(named: Option<&'a Path>) -> Javas<'a> {
        Javas { named, ..Javas::default() }
    }

    /// The runtime named by the user, or else the first installed one that is new enough.
    ///
    /// # Errors
    /// The named one does not work or is too old, or there is none.
    pub(crate) fn find(&self, version_min: u32) -> Result<Java, JavaError> {
        if let Some(java) = self.named()? {
            return match java.feature >= version_min {
                true => Ok(java),
                false => Err(JavaError::TooOld { path: java.path, found: java.feature, wanted: version_min }),
            };
        }
        let all = self.installed();
        let fits = all.iter().find(|java| java.feature >= version_min).cloned();
        fits.ok_or_else(|| JavaError::None { found: list(all), wanted: version_min })
    }

    /// The runtime of this feature version: the one named by the user, or an installed one.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn of_version(&self, feature: u32) -> Result<Java, JavaError> {
        let all: Vec<Java> = self.named()?.into_iter().chain(self.installed().to_vec()).collect();
        let fits = all.iter().find(|java| java.feature == feature).cloned();
        fits.ok_or_else(|| JavaError::NoVersion { found: list(&all), wanted: feature })
    }

    /// Every runtime of `JAVA_HOME`, the search path, `/usr/lib/jvm`, and what `scripts/get-jdk.sh` has brought, each once.
    pub(crate) fn installed(&self) -> &[Java] {
        self.installed.get_or_init(|| {
            let mut all: Vec<Java> = Vec::new();
            let mut seen = Vec::new();
            for path in usual_places() {
                let real = path.canonicalize().unwrap_or_else(|_| path.clone());
                if !seen.contains(&real) {
                    seen.push(real);
                    all.extend(Java::at(&path));
                }
            }
            all
        })
    }

    fn named(&self) -> Result<Option<Java>, JavaError> {
        let Some(path) = self.named else { return Ok(None) };
        self.asked.get_or_init(|| Java::named(path)).clone().map(Some)
    }
}

impl Java {
    /// The runtime named by the user, or else the first installed one that is new enough.
    ///
    /// # Errors
    /// The named one does not work or is too old, or there is none.
    pub fn find(named: Option<&Path>, version_min: u32) -> Result<Java, JavaError> {
        Javas::new(named).find(version_min)
    }

    fn named(path: &Path) -> Result<Java, JavaError> {
        Java::at(path).map_err(|why| JavaError::NotJava { path: path.to_owned(), why })
    }

    /// Asks the program for its version.
    fn at(path: &Path) -> Result<Java, String> {
        let mut command = Command::new(path);
        command.args(["-XshowSettings:properties", "-version"]);
        confine(&mut command);
        let output = command.output().map_err(|error| error.to_string())?;
        let settings = String::from_utf8_lossy(&output.stderr);
        let property = |name: &str| {
            let lines = settings.lines().filter_map(|line| line.trim().split_once(" = "));
            lines.filter(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned()).next()
        };
        let specification =
            property("java.specification.version").ok_or("it does not tell a Java version")?;
        // Java 8 calls itself 1.8.
        let feature = specification.strip_prefix("1.").unwrap_or(&specification);
        let feature = feature.parse().map_err(|_| format!("it tells an odd version: {specification}"))?;
        let name = property("java.vm.name").unwrap_or_else(|| "Java".to_owned());
        let full = property("java.runtime.version").or(property("java.vm.version")).unwrap_or(specification);
        Ok(Java { path: path.to_owned(), feature, version: format!("{name} {full}") })
    }

    /// As it is told in a record, with its options and those that the environment adds.
    pub fn runtime(&self, options: &[String]) -> Runtime {
        let from_environment = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"].into_iter().filter_map(|name| {
            let value = std::env::var(name).ok().filter(|value| !value.trim().is_empty())?;
            Some(format!("{name}={value}"))
        });
        Runtime {
            version: self.version.clone(),
            path: self.path.display().to_string(),
            options: options.iter().cloned().chain(from_environment).collect(),
        }
    }
}

fn list(all: &[Java]) -> String {
    let each: Vec<String> =
        all.iter().map(|java| format!("Java {} at {}", java.feature, java.path.display())).collect();
    if each.is_empty() { "no Java".to_owned() } else { each.join(", ") }
}

fn usual_places() -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        places.push(Path::new(&home).join("bin/java"));
    }
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    places.extend(
        std::env::split_paths(&search_path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join("java"))
            .find(|java| java.exists()),
    );
    places.extend(javas_in(Path::new("/usr/lib/jvm")));
    places.extend(fetched().unwrap_or_else(|why| {
        warn(&why);
        Vec::new()
    }));
    places
}

/// Those that `scripts/get-jdk.sh` has brought and that are as it brought them.
fn fetched() -> Result<Vec<PathBuf>, String> {
    // A user without a home has none.
    let Ok(cache) = cache_path() else { return Ok(Vec::new()) };
    let folder = PrivateFolder::open(&cache.join("jdks")).map_err(|error| error_chain(&error))?;
    let mut javas = folder.map_or(Vec::new(), |folder| javas_in(folder.path()));
    javas.retain(|java| {
        let jdk = java.ancestors().nth(2).unwrap_or(java);
        let checked = check_manifest(jdk).map_err(|error| error_chain(&error)).and_then(|made| match made {
            true => Ok(()),
            false => Err(format!(
                "{} is not used: it has no klatch.sha256; remove it and run scripts/get-jdk.sh again",
                jdk.display()
            )),
        });
        checked.inspect_err(|why| warn(why)).is_ok()
    });
    Ok(javas)
}

/// The newest first.
fn javas_in(folder: &Path) -> Vec<PathBuf> {
    let installed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut installed: Vec<PathBuf> = installed.map(|folder| folder.path().join("bin/java")).collect();
    installed.retain(|java| java.exists());
    installed.sort_by_cached_key(|java| std::cmp::Reverse(java.display().to_string()));
    installed
}

/// Once for each reason: runtimes are looked for more than once.
fn warn(why: &str) {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.iter().any(|known| known == why) {
        told.push(why.to_owned());
        // What is left can still be measured, also when nobody reads this.
        let _ = writeln!(std::io::stderr(), "klatch: {why}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A program that tells a Java version and can do nothing else.
    fn pretender(folder: &Path, version: &str) -> PathBuf {
        let path = folder.join(format!("java-{version}"));
        let script = format!("#!/bin/sh\necho '    java.specification.version = {version}' >&2\n");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn a_named_java_must_be_new_enough() {
        let folder = tempfile::tempdir().unwrap();
        let old = pretender(folder.path(), "1.8");
        let error = Java::find(Some(&old), 17).unwrap_err().to_string();
        assert_eq!(error, format!("needs Java 17 or newer, and {} is Java 8", old.display()));
        let new = pretender(folder.path(), "25");
        assert_eq!(Java::find(Some(&new), 17).unwrap().feature, 25);
    }

    #[test]
    fn what_is_no_java_is_told() {
        let error = Java::find(Some(Path::new("/nowhere/java")), 17).unwrap_err().to_string();
        assert!(error.starts_with("cannot run /nowhere/java: No such file"), "{error}");
        let error = Java::find(Some(Path::new("/bin/true")), 17).unwrap_err().to_string();
        assert!(error.contains("/bin/true: it does not tell a Java version"), "{error}");
    }

    #[test]
    fn none_new_enough_says_what_to_install() {
        let error = Java::find(None, 1_000).unwrap_err().to_string();
        assert!(error.contains("needs Java 1000 or newer") && error.contains("--java PATH"), "{error}");
    }
}
