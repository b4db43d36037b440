//! The catalog: one TOML file per platform, in the folder `platforms/` of the source and inside the program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use klatch_record::{Class, ProtocolName};
use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;

use crate::large_pages::Pages;
use crate::launch;
use crate::needs::Needs;

/// What is in the program.
pub(crate) static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../platforms");
const JAVA_KNOBS: &str = include_str!("../../../platforms/runtimes/java.toml");
const JAVA_CROWD: &str = include_str!("../../../platforms/crowds/java.toml");
const NATIVE_CROWD: &str = include_str!("../../../platforms/crowds/native.toml");
const THREADS_CROWD: &str = include_str!("../../../platforms/crowds/native-threads.toml");

/// What the catalog says of a platform.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A platform of Klatch's catalog")]
pub struct Entry {
    /// Its name, which is that of its file.
    pub name: String,
    /// One line about it.
    pub summary: String,
    /// How it writes.
    pub class: Class,
    /// The protocol it speaks.
    pub protocol: ProtocolName,
    /// How it is started, program first. Put in: `{klatch}`, `{jar}`, `{netty_jar}`, `{java}`, `{java_options}`, `{program}`,
    /// `{host}`, `{port}`, `{address}` (host:port), `{folder}` (of its files), `{source}`, `{build}`, `{knobs}`.
    pub command: Vec<String>,
    /// Added to the command when root starts it.
    #[serde(default)]
    pub arguments_as_root: Vec<String>,
    /// How it says that it accepts connections.
    #[serde(default)]
    pub ready: ReadyBy,
    /// The Java that runs it, if it is a Java program.
    pub java: Option<NeedsJava>,
    /// The program that must be on the machine.
    pub program: Option<NeedsProgram>,
    /// Folder of its source beside this file.
    pub sources: Option<PathBuf>,
    /// How it is built from its source, in that folder, before its first start.
    pub build: Option<Build>,
    /// Configuration that is written before it starts, and removed afterwards.
    #[serde(default)]
    pub files: Vec<ConfigurationFile>,
    /// What can be set about it.
    #[serde(default)]
    pub knobs: BTreeMap<String, Knob>,
    /// What it needs of the machine.
    #[serde(default)]
    pub needs: Needs,
    /// Where the file was found, if not in the program.
    #[serde(skip)]
    pub(crate) beside: Option<PathBuf>,
}

/// How a server says that it accepts connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadyBy {
    /// By the ready line of docs/reference/protocol.md on its standard output; it is started with port 0.
    #[default]
    Line,
    /// By accepting them: it gets a port that is free, and is tried until it answers.
    Accepts,
}

/// What a platform needs of a JDK.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeedsJava {
    /// The oldest feature version that will do.
    pub version_min: u32,
}

/// A program that must be on the machine.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeedsProgram {
    /// Its name on the search path (also looked for in the sbin folders).
    pub name: String,
    /// Arguments with which it tells its version.
    pub version: Vec<String>,
    /// How to get it.
    pub install: String,
}

/// How a platform is built.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Program and arguments; what it makes goes into `{build}`.
    pub command: Vec<String>,
}

/// A file that a platform reads when it starts.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigurationFile {
    /// Its name within `{folder}`.
    pub name: String,
    /// What is in it; the same things are put in as into the command.
    pub text: String,
}

/// Something that can be set: either one of `values`, or any value that `arguments` take as `{value}`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// One line about it.
    pub help: String,
    /// The values it has, and the arguments that each means.
    #[serde(default)]
    pub values: BTreeMap<String, Vec<String>>,
    /// The arguments that any value means.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Values that are in force only with such pages.
    #[serde(default)]
    pub pages: BTreeMap<String, Pages>,
}

/// A file that is no entry of a catalog.
#[derive(Debug, Error)]
pub enum CatalogError {
    /// A folder or file that cannot be read.
    #[error("cannot read the catalog {path}: {source}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file that says something else than the schema allows.
    #[error("{path}: {message}", path = path.display())]
    Wrong {
        /// Which.
        path: PathBuf,
        /// What is wrong, with line and column.
        message: String,
    },
}

/// All platforms by name: those in the program, and those of the folder `more`, which come first.
///
/// # Errors
/// The folder cannot be read, or a file of it is wrong.
pub(crate) fn catalog(more: Option<&Path>) -> Result<Vec<Entry>, CatalogError> {
    let mut entries = match more {
        Some(folder) => in_folder(folder)?,
        None => Vec::new(),
    };
    for file in FILES.files().filter(|file| file.path().extension().is_some_and(|ending| ending == "toml")) {
        let text = file.contents_utf8().unwrap_or_default();
        let entry = parse(text, file.path())?;
        if entries.iter().all(|other| other.name != entry.name) {
            entries.push(entry);
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

fn in_folder(folder: &Path) -> Result<Vec<Entry>, CatalogError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| CatalogError::Read { path, source }
    };
    let mut entries = Vec::new();
    for file in std::fs::read_dir(folder).map_err(failed(folder))? {
        let path = file.map_err(failed(folder))?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let text = std::fs::read_to_string(&path).map_err(failed(&path))?;
            entries.push(Entry { beside: Some(folder.to_owned()), ..parse(&text, &path)? });
        }
    }
    Ok(entries)
}

fn parse(text: &str, path: &Path) -> Result<Entry, CatalogError> {
    let wrong = |message: String| CatalogError::Wrong { path: path.to_owned(), message };
    let entry: Entry =
        toml::from_str(text).map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
    if path.file_stem().is_none_or(|stem| stem != entry.name.as_str()) {
        return Err(wrong(format!("the platform is called {}, so the file must be {0}.toml", entry.name)));
    }
    if entry.command.is_empty() {
        return Err(wrong("the command is empty: it needs a program at least".to_owned()));
    }
    let of_java = if entry.java.is_some() { java_knobs() } else { BTreeMap::new() };
    if let Some(name) = entry.knobs.keys().find(|&name| launch::names().any(|other| other == name)) {
        return Err(wrong(format!("knob {name} is one of every process; it needs another name here")));
    }
    if let Some(name) = entry.knobs.keys().find(|&name| of_java.contains_key(name)) {
        return Err(wrong(format!("knob {name} is one of every Java; it needs another name here")));
    }
    Ok(entry)
}

/// What can be set about the Java of every Java platform, and of the Java crowd.
pub(crate) fn java_knobs() -> BTreeMap<String, Knob> {
    common(JAVA_KNOBS).knobs
}

/// What the catalog says of the Java crowd.
pub(crate) fn java_crowd() -> Common {
    common(JAVA_CROWD)
}

/// What the catalog says of the native crowd.
pub(crate) fn native_crowd() -> Common {
    common(NATIVE_CROWD)
}

/// What the catalog says of the native crowd with two threads a user.
pub(crate) fn threads_crowd() -> Common {
    common(THREADS_CROWD)
}

/// What the catalog says of something that is no platform.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Common {
    pub(crate) knobs: BTreeMap<String, Knob>,
    pub(crate) needs: Needs,
}

fn common(text: &str) -> Common {
    // A test reads the files: a wrong one cannot be built in.
    toml::from_str(text).unwrap_or_default()
}

/// The JSON Schema of an [`Entry`], as pretty-printed JSON that ends with a newline.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Entry);
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_valid() {
        let names: Vec<String> = catalog(None).unwrap().into_iter().map(|entry| entry.name).collect();
        assert!(
            ["java-threads", "native-epoll", "redis"].iter().all(|name| names.contains(&(*name).to_owned()))
        );
        let of_java = java_knobs();
        assert!(of_java.contains_key("heap") && java_crowd().knobs.contains_key("yield"));
        assert!(java_crowd().needs.threads_per_connection == 2 && native_crowd().needs.memory_mib > 0);
        assert!(launch::names().chain(["yield"]).all(|name| !of_java.contains_key(name)));
    }

    fn says(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.toml"), text).unwrap();
        catalog(Some(folder.path())).map_or_else(|error| error.to_string(), |_| "valid".to_owned())
    }

    #[test]
    fn a_wrong_file_is_told_with_its_place() {
        let good = "name = 'mine'\nsummary = 'x'\nclass = 'open'\nprotocol = 'irc'\ncommand = ['x']\n";
        assert_eq!(says(good), "valid");
        let unknown = says(&format!("{good}speed = 9\n"));
        assert!(
            unknown.contains("mine.toml: ") && unknown.contains("line 6") && unknown.contains("speed"),
            "{unknown}"
        );
        assert!(says("name = 'mine'").contains("missing field"));
        assert!(says(&good.replace("'mine'", "'yours'")).contains("the file must be yours.toml"));
        assert!(says(&good.replace("['x']", "[]")).contains("the command is empty"));
        assert!(says(&good.replace("'irc'", "'fax'")).contains("fax"));
        let own = |name| says(&format!("{good}knobs.{name}.help = 'x'\njava.version_min = 17\n"));
        assert!(own("nice").contains("knob nice is one of every process; it needs another name here"));
        assert!(own("heap").contains("knob heap is one of every Java; it needs another name here"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_told() {
        let error = catalog(Some(Path::new("/nowhere"))).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the catalog /nowhere: "), "{error}");
    }
}
