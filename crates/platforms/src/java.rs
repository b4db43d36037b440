//! Finds the Java runtimes of this machine.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use klatch_host::privileges::{
    FolderError, PrivateFolder, Program, cache_path, check_manifest, invoker, programs_run_as_root,
};
use klatch_record::{Runtime, error_chain, printable_line};
use thiserror::Error;

use crate::argument_files::with_argument_files;
use crate::catalog::{JAVA, runtime};
use crate::needs_java::NeedsJava;
use crate::program::VERSION_TIMEOUT;
use crate::variables::in_environment;

/// A Java runtime on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Java {
    /// Path of the `java` program.
    pub path: PathBuf,
    /// Feature version: 8, 17, 25.
    pub feature: u32,
    /// Name of the virtual machine and its full version.
    pub version: String,
    /// Its vendor, if it reports one.
    pub vendor: Option<String>,
}

/// Reasons why no Java can be used.
#[derive(Clone, Debug, Error)]
pub enum JavaError {
    /// The Java that the user named does not work.
    #[error("cannot run {path}: {reason}; give the path of a `java` program", path = path.display())]
    NotJava {
        /// Path that the user gave.
        path: PathBuf,
        /// The error, or the unexpected output.
        reason: String,
    },
    /// The one of `JAVA_HOME` does not work.
    #[error("cannot use JAVA_HOME: {path} does not start: {reason}; correct or unset it", path = path.display())]
    Home {
        /// Path of the program that it stands for.
        path: PathBuf,
        /// The error, or what the program says.
        reason: String,
    },
    /// The Java that the user named is too old or too new.
    #[error("needs {required}, and {path} is Java {actual}", path = path.display())]
    Unsuitable {
        /// Path that the user gave.
        path: PathBuf,
        /// Feature version of that Java.
        actual: u32,
        /// The feature versions that the platform supports.
        required: NeedsJava,
    },
    /// No runtime of the requested version is installed.
    #[error(
        "needs Java {required}, and found {installed}; klatch help runtimes describes how to install several"
    )]
    NoVersion {
        /// The installed runtimes, as text.
        installed: String,
        /// The requested feature version.
        required: u32,
    },
    /// No installed runtime has a version that is supported.
    #[error("needs {required}, and found {installed}; {}, or give the path of one", how_to_install(*required))]
    None {
        /// The installed runtimes, as text.
        installed: String,
        /// The feature versions that the platform supports.
        required: NeedsJava,
    },
}

/// The feature version of Debian 12, the oldest Debian that Klatch is built on.
const OF_DEBIAN_12: u32 = 17;

fn how_to_install(required: NeedsJava) -> &'static str {
    if required.version_min <= OF_DEBIAN_12 {
        "install one (Debian: apt-get install default-jre-headless)"
    } else {
        "install one as klatch help runtimes describes"
    }
}

/// The Java runtimes to select from: the one that the user named, or those of this machine.
#[derive(Debug, Default)]
pub(crate) struct JavaRuntimes<'a> {
    /// The one that the user named. No other is used unless a version is requested.
    named: Option<&'a Path>,
    named_java: OnceCell<Result<Java, JavaError>>,
}

impl<'a> JavaRuntimes<'a> {
    pub(crate) fn new(named: Option<&'a Path>) -> JavaRuntimes<'a> {
        JavaRuntimes { named, ..JavaRuntimes::default() }
    }

    /// The runtime that the user named, or the first installed one whose version is supported.
    ///
    /// # Errors
    /// The named one does not work or has another version, or none is installed.
    pub(crate) fn find(&self, needs: NeedsJava) -> Result<Java, JavaError> {
        if let Some(java) = self.named()? {
            return java.checked(needs);
        }
        let all = search();
        home_works(all)?;
        let fits = all.found.iter().find(|java| needs.accept(java.feature)).cloned();
        fits.ok_or_else(|| JavaError::None { installed: list(&all.found, &all.broken), required: needs })
    }

    /// The runtime of this feature version: the one that the user named, or an installed one.
    ///
    /// # Errors
    /// No runtime has this version.
    pub(crate) fn with_version(&self, feature: u32) -> Result<Java, JavaError> {
        let Installed { found, broken } = search();
        let all: Vec<Java> = self.named()?.into_iter().chain(found.to_vec()).collect();
        let fits = all.iter().find(|java| java.feature == feature).cloned();
        fits.ok_or_else(|| JavaError::NoVersion { installed: list(&all, broken), required: feature })
    }

    /// The oldest runtime of at least this feature version that is accepted, the named one before the installed ones of its version. So
    /// all platforms that ask for the same get the same.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn at_least(&self, feature: u32, needs: NeedsJava) -> Result<Java, JavaError> {
        let needs = NeedsJava { version_min: needs.version_min.max(feature), ..needs };
        let all = self.named()?.into_iter().chain(search().found.to_vec());
        let fits = all.filter(|java| needs.accept(java.feature)).min_by_key(|java| java.feature);
        fits.map_or_else(|| self.find(needs), Ok)
    }

    fn named(&self) -> Result<Option<Java>, JavaError> {
        let Some(path) = self.named else { return Ok(None) };
        self.named_java.get_or_init(|| Java::named(path)).clone().map(Some)
    }
}

impl Java {
    /// The runtime that the user named, or the first installed one that is new enough.
    ///
    /// # Errors
    /// The named one does not work or is too old, or none is installed.
    pub fn find(named: Option<&Path>, version_min: u32) -> Result<Java, JavaError> {
        JavaRuntimes::new(named).find(NeedsJava::or_newer(version_min))
    }

    /// The runtime of this program, or of the one in this folder.
    ///
    /// # Errors
    /// It does not work.
    pub(crate) fn at(path: &Path) -> Result<Java, JavaError> {
        if path.is_dir() { Java::named(&path.join("bin/java")) } else { Java::named(path) }
    }

    /// The path that names it: its folder, or its program if that is in no folder `bin`.
    pub(crate) fn home(&self) -> String {
        let folder = self.path.parent().filter(|bin| bin.ends_with("bin")).and_then(Path::parent);
        let is_java = |home: &&Path| home.join("bin/java") == self.path;
        folder.filter(is_java).unwrap_or(&self.path).display().to_string()
    }

    /// This runtime, if its version is supported.
    pub(crate) fn checked(self, needs: NeedsJava) -> Result<Java, JavaError> {
        match needs.accept(self.feature) {
            true => Ok(self),
            false => Err(JavaError::Unsuitable { path: self.path, actual: self.feature, required: needs }),
        }
    }

    fn named(path: &Path) -> Result<Java, JavaError> {
        Java::probe(path).map_err(|reason| JavaError::NotJava { path: path.to_owned(), reason })
    }

    /// Starts the program to get its version.
    fn probe(path: &Path) -> Result<Java, String> {
        let mut java = Program::new(path);
        let output = java.args(["-XshowSettings:properties", "-version"]).output_within(VERSION_TIMEOUT);
        let output = output.map_err(|error| error.to_string())?;
        let settings = String::from_utf8_lossy(&output.stderr);
        let property = |name: &str| {
            let lines = settings.lines().filter_map(|line| line.trim().split_once(" = "));
            lines.filter(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned()).next()
        };
        let specification = property("java.specification.version").ok_or_else(|| own_words(&output))?;
        // Java 8 reports version 1.8.
        let feature = specification.strip_prefix("1.").unwrap_or(&specification);
        let feature = feature.parse().map_err(|_| format!("its version is not a number: {specification}"))?;
        let name = property("java.vm.name").unwrap_or_else(|| "Java".to_owned());
        let full = property("java.runtime.version").or(property("java.vm.version")).unwrap_or(specification);
        let vendor = property("java.vendor");
        Ok(Java { path: path.to_owned(), feature, version: format!("{name} {full}"), vendor })
    }

    /// The runtime as a record describes it, with its options and the variables of the environment that hold more.
    pub fn runtime(&self, options: &[String]) -> Runtime {
        Runtime {
            version: self.version.clone(),
            vendor: self.vendor.clone(),
            path: self.path.display().to_string(),
            options: options.to_vec(),
            environment: java_variables(),
            in_force: None,
        }
    }
}

/// The variable whose words the launcher inserts into its command line. A word `@FILE` stands for the words of that file.
const LAUNCHER_VARIABLE: &str = "JDK_JAVA_OPTIONS";

/// The variables of this process's environment that hold options for a Java, by name.
pub(crate) fn java_variables() -> BTreeMap<String, String> {
    let mut found = in_environment(&runtime(JAVA).variables);
    if let Some(value) = found.get_mut(LAUNCHER_VARIABLE) {
        *value = with_argument_files(value);
    }
    found
}

fn list(all: &[Java], broken: &[(PathBuf, String)]) -> String {
    let each: Vec<String> =
        all.iter().map(|java| format!("Java {} at {}", java.feature, java.path.display())).collect();
    let works = if each.is_empty() { "no Java".to_owned() } else { each.join(", ") };
    let fails = broken.iter().map(|(path, reason)| format!("; {} does not start: {reason}", path.display()));
    works + &fails.collect::<String>()
}

/// # Errors
/// `JAVA_HOME` is set, and no Java starts there. Another one would not be what its user means.
fn home_works(all: &Installed) -> Result<(), JavaError> {
    let Some(home) = java_home() else { return Ok(()) };
    let broken = all.broken.iter().find(|(path, _)| *path == home);
    broken.map_or(Ok(()), |(_, reason)| Err(JavaError::Home { path: home.clone(), reason: reason.clone() }))
}

/// The program that `JAVA_HOME` names, if it is set.
fn java_home() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty())?;
    Some(Path::new(&home).join("bin/java"))
}

/// Why a program that should be a Java prints no version: what it says itself.
fn own_words(output: &std::process::Output) -> String {
    const LENGTH_MAX: usize = 300;
    let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said: String = lines.join("; ").chars().take(LENGTH_MAX).collect();
    let said = printable_line(&said);
    match said.is_empty() {
        true => format!("it prints no version and ends with {}", output.status),
        false => format!("it says: {said}"),
    }
}

/// Every runtime of `JAVA_HOME`, the search path, `/usr/lib/jvm`, the tools of the user and `scripts/get-jdk.sh`, each once. They are searched once in a
/// process: to start each and to read a whole JDK for its checksums takes a second, and a study asks for every cell.
pub(crate) fn installed() -> &'static [Java] {
    &search().found
}

/// What the search found.
struct Installed {
    found: Vec<Java>,
    /// Programs that are there and could not be started as Java, with the reason.
    broken: Vec<(PathBuf, String)>,
}

fn search() -> &'static Installed {
    static INSTALLED: OnceLock<Installed> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let mut all = Installed { found: Vec::new(), broken: Vec::new() };
        let mut seen = Vec::new();
        for path in usual_paths() {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if !seen.contains(&real) {
                seen.push(real);
                match Java::probe(&path) {
                    Ok(java) => all.found.push(java),
                    Err(reason) => all.broken.push((path, reason)),
                }
            }
        }
        all
    })
}

fn usual_paths() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    paths.extend(java_home());
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    paths.extend(
        std::env::split_paths(&search_path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join("java"))
            .find(|java| java.exists()),
    );
    paths.extend(javas_in(Path::new("/usr/lib/jvm")));
    paths.extend(folders_of_tools().iter().flat_map(|folder| javas_in(folder)));
    paths.extend(fetched().unwrap_or_else(|reason| {
        warn(&reason);
        Vec::new()
    }));
    paths
}

/// The runtimes that `scripts/get-jdk.sh` installed and that have not changed since.
fn fetched() -> Result<Vec<PathBuf>, String> {
    // A user without a home has none.
    let Ok(cache) = cache_path() else { return Ok(Vec::new()) };
    let folder = match PrivateFolder::open(&cache.join("jdks")) {
        // One that this user cannot read is not this user's, and holds none either.
        Err(FolderError::System { .. }) => return Ok(Vec::new()),
        folder => folder.map_err(|error| error_chain(&error))?,
    };
    let mut runtimes = folder.map_or(Vec::new(), |folder| javas_in(folder.path()));
    runtimes.retain(|java| {
        let jdk = java.ancestors().nth(2).unwrap_or(java);
        let checked = check_manifest(jdk).map_err(|error| error_chain(&error)).and_then(|made| match made {
            true => Ok(()),
            false => Err(format!(
                "{} is not used: it has no klatch.sha256; remove it and run scripts/get-jdk.sh again",
                jdk.display()
            )),
        });
        checked.inspect_err(|reason| warn(reason)).is_ok()
    });
    Ok(runtimes)
}

/// The folders in which tools of this user install runtimes: SDKMAN, IntelliJ, Gradle, asdf, mise and jabba.
fn folders_of_tools() -> Vec<PathBuf> {
    let home = match invoker() {
        Some(invoker) => invoker.home.clone(),
        None => named_folder("HOME"),
    };
    // Root starts no program of another user.
    let may_start =
        |home: &PathBuf| !programs_run_as_root() || std::fs::metadata(home).is_ok_and(|home| home.uid() == 0);
    home.filter(may_start).map_or(Vec::new(), |home| tool_folders(&home, named_folder))
}

/// An environment variable with an absolute path.
fn named_folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn tool_folders(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let or_home = |name: &str, in_home: &str| variable(name).unwrap_or_else(|| home.join(in_home));
    let mise =
        variable("MISE_DATA_DIR").unwrap_or_else(|| or_home("XDG_DATA_HOME", ".local/share").join("mise"));
    vec![
        or_home("SDKMAN_DIR", ".sdkman").join("candidates/java"),
        home.join(".jdks"),
        or_home("GRADLE_USER_HOME", ".gradle").join("jdks"),
        or_home("ASDF_DATA_DIR", ".asdf").join("installs/java"),
        mise.join("installs/java"),
        home.join(".jabba/jdk"),
    ]
}

/// Runtimes in this folder, newest first.
fn javas_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut installed: Vec<(Vec<u64>, PathBuf)> =
        entries.map(|entry| (version_in(&entry.file_name()), entry.path().join("bin/java"))).collect();
    installed.retain(|(_, java)| java.exists());
    installed.sort_by(|one, other| other.cmp(one));
    installed.into_iter().map(|(_, java)| java).collect()
}

/// The numbers in the name of a folder with a runtime, `[17, 0, 10]` in `temurin-17.0.10`. A leading 1 of old versions is left out.
fn version_in(name: &OsStr) -> Vec<u64> {
    let name = name.to_string_lossy();
    let digits = name.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let numbers: Vec<u64> = digits.filter_map(|digits| digits.parse().ok()).collect();
    match numbers[..] {
        [1, feature @ 2..=8, ..] => [&[feature], &numbers[2..]].concat(),
        _ => numbers,
    }
}

/// The other runtimes can still be measured.
fn warn(reason: &str) {
    let _ = writeln!(std::io::stderr(), "klatch: {}", printable_line(reason));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script that reports a Java version and does nothing else.
    fn fake_java(folder: &Path, version: &str) -> PathBuf {
        let path = folder.join(format!("java-{version}"));
        let script = format!("#!/bin/sh\necho '    java.specification.version = {version}' >&2\n");
        klatch_testing::write_program(&path, &script);
        path
    }

    #[test]
    fn a_named_java_must_be_new_enough() {
        let folder = tempfile::tempdir().unwrap();
        let old = fake_java(folder.path(), "1.8");
        let error = Java::find(Some(&old), 17).unwrap_err().to_string();
        assert_eq!(error, format!("needs Java 17 or newer, and {} is Java 8", old.display()));
        let new = fake_java(folder.path(), "25");
        assert_eq!(Java::find(Some(&new), 17).unwrap().feature, 25);
    }

    #[test]
    fn the_package_of_debian_12_is_named_only_to_whom_it_helps() {
        let answer = |version_min| {
            let required = NeedsJava::or_newer(version_min);
            JavaError::None { installed: "none".to_owned(), required }.to_string()
        };
        assert!(answer(17).contains("apt-get install default-jre-headless"), "{}", answer(17));
        assert!(answer(21).contains("as klatch help runtimes describes"), "{}", answer(21));
    }

    #[test]
    fn a_program_that_is_not_java_is_an_error() {
        let error = Java::find(Some(Path::new("/nowhere/java")), 17).unwrap_err().to_string();
        assert!(error.starts_with("cannot run /nowhere/java: No such file"), "{error}");
        let error = Java::find(Some(Path::new("/bin/true")), 17).unwrap_err().to_string();
        assert!(error.contains("/bin/true: it prints no version and ends with exit status: 0"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("java");
        let script = "#!/bin/sh\necho 'Error: Could not create the Java Virtual Machine.' >&2\necho '\u{1b}[1m Unrecognized option' >&2\nexit 1\n";
        klatch_testing::write_program(&broken, script);
        let error = Java::find(Some(&broken), 17).unwrap_err().to_string();
        let said =
            "it says: Error: Could not create the Java Virtual Machine.; \\u001b[1m Unrecognized option";
        assert!(error.contains(said), "{error}");
    }

    #[test]
    fn runtimes_are_found_where_tools_install_them_and_sorted_by_number() {
        let home = tempfile::tempdir().unwrap();
        let moved = home.path().join("moved");
        let folders = tool_folders(home.path(), |name| (name == "ASDF_DATA_DIR").then(|| moved.clone()));
        let in_home: Vec<&Path> =
            folders.iter().filter_map(|folder| folder.strip_prefix(home.path()).ok()).collect();
        for folder in
            [".sdkman/candidates/java", ".jdks", ".local/share/mise/installs/java", "moved/installs/java"]
        {
            assert!(in_home.contains(&Path::new(folder)), "{folder} is not in {in_home:?}");
        }
        let jdks = home.path().join(".jdks");
        for name in
            ["corretto-9.0.4", "temurin-17.0.10", "temurin-17.0.9", "jdk1.8.0_392", "openjdk-21", "current"]
        {
            std::fs::create_dir_all(jdks.join(name).join("bin")).unwrap();
            std::fs::write(jdks.join(name).join("bin/java"), "").unwrap();
        }
        std::fs::create_dir(jdks.join("openjdk-99-broken")).unwrap();
        let found = javas_in(&jdks);
        let names: Vec<_> =
            found.iter().map(|java| java.strip_prefix(&jdks).unwrap().display().to_string()).collect();
        let sorted =
            ["openjdk-21", "temurin-17.0.10", "temurin-17.0.9", "corretto-9.0.4", "jdk1.8.0_392", "current"];
        assert_eq!(names, sorted.map(|name| format!("{name}/bin/java")));
    }

    #[test]
    fn a_java_that_does_not_start_is_no_missing_java() {
        let broken = (PathBuf::from("/x/bin/java"), "it says: Error".to_owned());
        assert_eq!(
            list(&[], std::slice::from_ref(&broken)),
            "no Java; /x/bin/java does not start: it says: Error"
        );
    }

    #[test]
    fn without_a_java_that_is_new_enough_a_path_is_asked_for() {
        let error = Java::find(None, 1_000).unwrap_err().to_string();
        assert!(
            error.contains("needs Java 1000 or newer") && error.contains("give the path of one"),
            "{error}"
        );
    }
}
