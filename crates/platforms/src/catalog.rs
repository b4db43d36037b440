//! The catalog: one TOML file per platform, in the folder `platforms/` of the source, which is compiled into the program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use klatch_record::{Class, ProtocolName, Transport, WorkloadKind};
use serde::Deserialize;
use thiserror::Error;

use crate::configuration_file::{ConfigurationFile, insert_place};
use crate::extends::{FindPart, with_parts};
use crate::http2::InHttp2;
use crate::launch;
use crate::needs::Needs;
use crate::needs_java::NeedsJava;
use crate::secrets::has_secret;
use crate::transports::{InTransport, TRANSPORT_KNOB};
use crate::volanomark_crowd::VolanoMarkCrowd;
use crate::workloads::{self, InWorkload};

/// Name of the folder that a server can write, in that of its configuration.
pub(crate) const DATA: &str = "data";

/// The catalog files that are compiled into the program.
pub(crate) static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../platforms");
/// The folder of what platforms share, in that of the catalog.
const PARTS: &str = "parts";
/// The folder of the runtimes, in that of the catalog.
const RUNTIMES: &str = "runtimes";
/// Name of the runtime of Java platforms.
pub(crate) const JAVA: &str = "java";
const JAVA_CROWD: &str = include_str!("../../../platforms/crowds/java.toml");
const NATIVE_CROWD: &str = include_str!("../../../platforms/crowds/native.toml");
const THREADS_CROWD: &str = include_str!("../../../platforms/crowds/native-threads.toml");
const TRADE_AUDIT: &str = include_str!("../../../platforms/audits/trade.toml");
const ORDERS_AUDIT: &str = include_str!("../../../platforms/audits/orders.toml");

/// A platform of the catalog.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "A platform of Klatch's catalog"))]
pub struct Entry {
    /// Name of the platform, which is also the name of the file.
    pub name: String,
    /// Names of files of the folder `parts`, with tables that this platform shares with others. A later one replaces what an earlier
    /// one says, and this file what they say; tables are merged.
    #[serde(default)]
    pub extends: Vec<String>,
    /// Description in one line.
    pub summary: String,
    /// How it writes deliveries, if it carries chat.
    pub class: Option<Class>,
    /// The crowd that forms the VolanoMark test with it, if it has two threads for each connection.
    pub volanomark_crowd: Option<VolanoMarkCrowd>,
    /// The wire protocol of its clients.
    pub protocol: ProtocolName,
    /// The workloads that it carries. Without this table: chat.
    #[serde(default = "workloads::chat_only")]
    pub workloads: BTreeMap<WorkloadKind, InWorkload>,
    /// Command line, program first. Placeholders: `{workload}`, `{klatch}`, `{jar}`, `{netty_jar}`, `{web_jar}`, `{java}`, `{java_options}`, `{program}`,
    /// `{host}`, `{port}`, `{address}` (host:port), `{folder}` (of its files), `{data}` (a folder that it can write), `{source}`, `{build}`,
    /// `{knobs}`.
    pub command: Vec<String>,
    /// Environment variables of its process, with the placeholders of the command and `{secret:NAME}`: a password that is made for one
    /// start of the server. Every user of the machine can read a command line, and only its own user an environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The user as whom it runs if root starts it, in `{data}`. Without it, root's server runs as root.
    pub user: Option<String>,
    /// Arguments that are appended when it runs as root.
    #[serde(default)]
    pub arguments_as_root: Vec<String>,
    /// The mechanism that its ready line must name in `io`, for a server that falls back to another where this one is missing. The knob `io`
    /// replaces it.
    pub io: Option<String>,
    /// How to detect that it accepts connections.
    #[serde(default)]
    pub ready: ReadyBy,
    /// A command that succeeds when the server serves, for one that accepts connections before that. It is tried until it succeeds,
    /// and has the placeholders of the command. Only with `ready = "accepts"`.
    #[serde(default)]
    pub ready_command: Vec<String>,
    /// The Java version that it needs, for a Java platform.
    pub java: Option<NeedsJava>,
    /// An installed program that it needs.
    pub program: Option<NeedsProgram>,
    /// Folder of its source, relative to this file.
    pub sources: Option<PathBuf>,
    /// How it is built from its source, in that folder, before its first start.
    pub build: Option<Build>,
    /// Configuration files that are written before it starts and removed afterwards.
    #[serde(default)]
    pub files: Vec<ConfigurationFile>,
    /// Its transports, if there is another than `plain`. Without this table: `plain`.
    #[serde(default)]
    pub transports: BTreeMap<Transport, InTransport>,
    /// How it speaks HTTP/2 with clients of requests for URLs, if it does.
    pub http2: Option<InHttp2>,
    /// Settings of the platform by name.
    #[serde(default)]
    pub knobs: BTreeMap<String, Knob>,
    /// Resources that it needs.
    #[serde(default)]
    pub needs: Needs,
    /// The folder of this file, if it is not compiled in.
    #[serde(skip)]
    pub(crate) base_folder: Option<PathBuf>,
}

impl Entry {
    /// All words that can be in a command line.
    fn command_words(&self) -> impl Iterator<Item = &String> {
        let of_workloads =
            self.workloads.values().flat_map(|one| [&one.command, &one.arguments, &one.url, &one.audit]);
        let of_transports = self.transports.values().map(|one| &one.arguments);
        let of_knobs = self
            .knobs
            .values()
            .flat_map(|knob| knob.values.values().chain(knob.training.values()).chain([&knob.arguments]));
        let of_http2 = self.http2.iter().map(|one| &one.arguments);
        let of_build = self.build.iter().map(|build| &build.command);
        [&self.command, &self.arguments_as_root, &self.ready_command]
            .into_iter()
            .chain(of_workloads)
            .chain(of_transports)
            .chain(of_knobs)
            .chain(of_http2)
            .chain(of_build)
            .flatten()
    }

    /// The inserts of every transport and version of HTTP: name and text.
    fn inserts(&self) -> impl Iterator<Item = (&String, &String)> {
        self.transports
            .values()
            .map(|one| &one.insert)
            .chain(self.http2.iter().map(|one| &one.insert))
            .flatten()
    }

    /// The configuration files of every transport.
    fn all_files(&self) -> impl Iterator<Item = &ConfigurationFile> {
        self.files.iter().chain(self.transports.values().flat_map(|one| &one.files))
    }
}

/// Whether it names a file in a folder itself.
fn is_plain_name(name: &str) -> bool {
    !name.contains('/') && !["", ".", "..", DATA].contains(&name)
}

/// How a server shows that it accepts connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReadyBy {
    /// By the ready line of docs/reference/protocol.md on its standard output. It is started with port 0.
    #[default]
    Line,
    /// By accepting them: it gets a free port, which is tried until it accepts.
    Accepts,
}

/// A program that must be installed.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NeedsProgram {
    /// Name of the program. It is searched for in the search path and the sbin folders.
    pub name: String,
    /// More folders to search, in order. A `*` is any version: the newest counts.
    #[serde(default)]
    pub folders: Vec<String>,
    /// Arguments that make it print its version; empty for a build tool, which is not asked for it.
    pub version: Vec<String>,
    /// How to install it.
    pub install: String,
}

/// How a platform is built.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Program and arguments. The output belongs into `{build}`. `{web_jar}` can be part of a word.
    pub command: Vec<String>,
}

impl Build {
    /// Whether its command has this placeholder.
    pub(crate) fn needs(&self, placeholder: &str) -> bool {
        self.command.iter().any(|word| word.contains(placeholder))
    }
}

/// A setting: either one of `values`, or any value, which replaces `{value}` in `arguments`, or whose words, all options, replace `{options}`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// Description in one line.
    pub help: String,
    /// The allowed values, each with its arguments.
    #[serde(default)]
    pub values: BTreeMap<String, Vec<String>>,
    /// The arguments for any value.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The smallest and the largest value, if any value is a whole number.
    pub range: Option<[u64; 2]>,
    /// Whether any value is a size in bytes, which may have a unit: `64m`, `1g`.
    #[serde(default)]
    pub size: bool,
    /// Workloads in which it exists; empty for all of the platform.
    #[serde(default)]
    pub workloads: Vec<WorkloadKind>,
    /// Values that need huge pages, with the kind of pages.
    #[serde(default)]
    pub pages: BTreeMap<String, Pages>,
    /// Values whose arguments name an `{archive}`, with the arguments with which a run before the first writes it.
    #[serde(default)]
    pub training: BTreeMap<String, Vec<String>>,
}

/// The huge pages that a value of a knob needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pages {
    /// Reserved large pages (`vm.nr_hugepages`), at least for the heap.
    Large,
    /// Transparent huge pages, which must not be off on the system.
    Transparent,
}

/// A catalog that cannot be read or is invalid.
#[derive(Debug, Error)]
pub enum CatalogError {
    /// A folder or file cannot be read.
    #[error("cannot read the catalog {path}: {source}", path = path.display())]
    Read {
        /// The folder or file.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// A file does not follow the schema.
    #[error("{path}: {message}", path = path.display())]
    Wrong {
        /// Path of the invalid file.
        path: PathBuf,
        /// The error, with line and column.
        message: String,
    },
}

/// All platforms by name. An entry of the folder `more` replaces a compiled-in one of the same name.
///
/// # Errors
/// The folder cannot be read, or one of its files is invalid.
pub(crate) fn catalog(more: Option<&Path>) -> Result<Vec<Entry>, CatalogError> {
    let mut entries = match more {
        Some(folder) => in_folder(folder)?,
        None => Vec::new(),
    };
    let own_part = |name: &str| Ok(own_part(name).map(str::to_owned));
    for file in FILES.files().filter(|file| file.path().extension().is_some_and(|ending| ending == "toml")) {
        let text = file.contents_utf8().unwrap_or_default();
        let entry = parse(text, file.path(), &own_part)?;
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
    let part = |name: &str| {
        let path = folder.join(PARTS).join(format!("{name}.toml"));
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(own_part(name).map(str::to_owned))
            }
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        }
    };
    let mut entries = Vec::new();
    for file in std::fs::read_dir(folder).map_err(failed(folder))? {
        let path = file.map_err(failed(folder))?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let text = std::fs::read_to_string(&path).map_err(failed(&path))?;
            entries.push(Entry { base_folder: Some(folder.to_owned()), ..parse(&text, &path, &part)? });
        }
    }
    Ok(entries)
}

/// The text of a part that is compiled in.
fn own_part(name: &str) -> Option<&'static str> {
    FILES.get_file(Path::new(PARTS).join(format!("{name}.toml")))?.contents_utf8()
}

fn parse(text: &str, path: &Path, part: &FindPart<'_>) -> Result<Entry, CatalogError> {
    let wrong = |message: String| CatalogError::Wrong { path: path.to_owned(), message };
    let mut entry: Entry = with_parts(text, part).map_err(wrong)?;
    if path.file_stem().is_none_or(|stem| stem != entry.name.as_str()) {
        return Err(wrong(format!("the platform is named {}, so the file must be {0}.toml", entry.name)));
    }
    if entry.command.is_empty() {
        return Err(wrong("the command is empty: it needs a program at least".to_owned()));
    }
    workloads::check(&entry.workloads, entry.class, entry.protocol).map_err(wrong)?;
    if let Some((word, what)) = unfilled(&entry) {
        return Err(wrong(format!("{word}: the file has no {what}, which says what stands there")));
    }
    if let Some(word) = entry.command_words().find(|word| has_secret(word)) {
        return Err(wrong(format!(
            "{word}: every user can read a command line; a secret belongs into a file of [[files]] or into [environment]"
        )));
    }
    if let Some(file) = entry.all_files().find(|file| !is_plain_name(&file.name)) {
        return Err(wrong(format!("the file {:?} must have a plain name, without a folder", file.name)));
    }
    let has_place = |name: &&String| entry.all_files().any(|file| file.text.contains(&insert_place(name)));
    if let Some(name) = entry.inserts().map(|(name, _)| name).find(|name| !has_place(name)) {
        return Err(wrong(format!("insert {name}: no file has {}", insert_place(name))));
    }
    if entry.knobs.contains_key(TRANSPORT_KNOB) {
        return Err(wrong(
            "knob transport stands for the table [transports]; it needs another name".to_owned(),
        ));
    }
    if !entry.transports.is_empty() {
        entry.knobs.insert(TRANSPORT_KNOB.to_owned(), transport_knob(&entry.transports));
    }
    let java = if entry.java.is_some() { java_knobs() } else { BTreeMap::new() };
    if let Some(name) = entry.knobs.keys().find(|&name| launch::names().any(|other| other == name)) {
        return Err(wrong(format!("knob {name} is a process setting; it needs another name here")));
    }
    if let Some(name) = entry.knobs.keys().find(|&name| java.contains_key(name)) {
        return Err(wrong(format!("knob {name} belongs to every Java; it needs another name here")));
    }
    Ok(entry)
}

/// A word of a command with a placeholder for something that this platform does not declare, and what that is.
fn unfilled(entry: &Entry) -> Option<(&str, &'static str)> {
    let declared = [
        ("{java}", entry.java.is_some(), "[java]"),
        ("{java_options}", entry.java.is_some(), "[java]"),
        ("{program}", entry.program.is_some() || entry.build.is_some(), "[program]"),
        ("{source}", entry.sources.is_some(), "sources"),
        ("{build}", entry.build.is_some(), "[build]"),
    ];
    let missing = declared.into_iter().filter(|(_, is_declared, _)| !is_declared);
    let words: Vec<&String> = entry.command_words().collect();
    missing
        .flat_map(|(name, _, what)| {
            words.iter().find(|word| word.contains(name)).map(|word| (word.as_str(), what))
        })
        .next()
}

/// The knob that selects one of these transports.
pub(crate) fn transport_knob(transports: &BTreeMap<Transport, InTransport>) -> Knob {
    let values = transports.iter().map(|(kind, one)| (kind.name().to_owned(), one.arguments.clone()));
    Knob {
        help: "what lies between the protocol and TCP".to_owned(),
        values: values.collect(),
        arguments: Vec::new(),
        range: None,
        size: false,
        workloads: Vec::new(),
        pages: BTreeMap::new(),
        training: BTreeMap::new(),
    }
}

/// The knobs of the Java that runs a platform or the Java crowd.
pub(crate) fn java_knobs() -> BTreeMap<String, Knob> {
    runtime(JAVA).knobs
}

/// Knobs and needs of the Java crowd.
pub(crate) fn java_crowd() -> Common {
    common(JAVA_CROWD)
}

/// Knobs and needs of the native crowd.
pub(crate) fn native_crowd() -> Common {
    common(NATIVE_CROWD)
}

/// Knobs and needs of the native crowd with two threads a user.
pub(crate) fn threads_crowd() -> Common {
    common(THREADS_CROWD)
}

/// A catalog file of a crowd or a runtime.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Common {
    pub(crate) knobs: BTreeMap<String, Knob>,
    pub(crate) needs: Needs,
}

/// The catalog file of a runtime.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Runtime {
    pub(crate) knobs: BTreeMap<String, Knob>,
    /// Names of variables of the environment that change how it works. One that ends with `*` stands for all names that begin so.
    pub(crate) variables: Vec<String>,
    /// Those that change what its compiler makes.
    pub(crate) build_variables: Vec<String>,
}

/// The runtime of this name.
pub(crate) fn runtime(name: &str) -> Runtime {
    runtimes().find(|(other, _)| other == name).map(|(_, runtime)| runtime).unwrap_or_default()
}

/// All runtimes with their names.
pub(crate) fn runtimes() -> impl Iterator<Item = (String, Runtime)> {
    let files = FILES.get_dir(RUNTIMES).into_iter().flat_map(|folder| folder.files());
    files.map(|file| {
        let name = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // A test parses these files, so an invalid one cannot be released.
        (name, toml::from_str(file.contents_utf8().unwrap_or_default()).unwrap_or_default())
    })
}

/// The catalog file of Klatch's own audit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnAudit {
    pub(crate) command: Vec<String>,
    pub(crate) java: NeedsJava,
}

/// The audit of a workload with a database.
pub(crate) fn own_audit(workload: WorkloadKind) -> OwnAudit {
    let text = if workload == WorkloadKind::Orders { ORDERS_AUDIT } else { TRADE_AUDIT };
    toml::from_str(text).expect("a test parses these files")
}

fn common(text: &str) -> Common {
    // A test parses these files, so an invalid one cannot be released.
    toml::from_str(text).unwrap_or_default()
}

/// The JSON Schema of an [`Entry`], as pretty-printed JSON that ends with a newline.
#[cfg(feature = "schema")]
pub fn schema() -> String {
    let schema = schemars::schema_for!(Entry);
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration_file::Quotes;

    #[test]
    fn every_catalog_file_is_valid() {
        let names: Vec<String> = catalog(None).unwrap().into_iter().map(|entry| entry.name).collect();
        assert!(
            ["java-threads", "native-epoll", "redis"].iter().all(|name| names.contains(&(*name).to_owned()))
        );
        let java = java_knobs();
        assert!(java.contains_key("heap") && java_crowd().knobs.contains_key("yield"));
        assert!(java_crowd().needs.threads_per_connection == 2 && native_crowd().needs.memory_mib > 0);
        for workload in WorkloadKind::ALL.into_iter().filter(|workload| workload.has_database()) {
            assert!(own_audit(workload).command.contains(&"{database_url}".to_owned()), "{workload}");
        }
        assert!(launch::names().chain(["yield"]).all(|name| !java.contains_key(name)));
    }

    /// A path can have spaces and quotes in it. The values of mosquitto and ngIRCd end with the line.
    #[test]
    fn every_path_in_a_file_stands_between_quotes() {
        let paths = ["{folder}", "{data}", "{web_files}", "{certificate}", "{key}", "{build}", "{source}"];
        for entry in catalog(None).unwrap() {
            let in_transports = entry.transports.values().flat_map(|transport| &transport.files);
            for file in entry.files.iter().chain(in_transports) {
                for line in file.text.lines().chain(entry.inserts().flat_map(|(_, text)| text.lines())) {
                    let place = paths.iter().filter_map(|path| line.find(path)).min();
                    let Some(before) = place.map(|place| &line[..place]) else { continue };
                    let to_line_end = ["mosquitto", "ngircd"].contains(&entry.name.as_str());
                    let quoted = before.matches('"').count() % 2 == 1 && file.quotes != Quotes::None;
                    assert!(quoted || to_line_end, "{}, {}: {line}", entry.name, file.name);
                }
            }
        }
    }

    fn parse_error(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.toml"), text).unwrap();
        catalog(Some(folder.path())).map_or_else(|error| error.to_string(), |_| "valid".to_owned())
    }

    #[test]
    fn an_invalid_file_is_reported_with_its_line() {
        let good = "name = 'mine'\nsummary = 'x'\nclass = 'open'\nprotocol = 'irc'\ncommand = ['x']\n";
        assert_eq!(parse_error(good), "valid");
        let unknown = parse_error(&format!("{good}speed = 9\n"));
        assert!(
            unknown.contains("mine.toml: ") && unknown.contains("line 6") && unknown.contains("speed"),
            "{unknown}"
        );
        assert!(parse_error("name = 'mine'").contains("missing field"));
        assert!(parse_error(&good.replace("'mine'", "'yours'")).contains("the file must be yours.toml"));
        assert!(parse_error(&good.replace("['x']", "[]")).contains("the command is empty"));
        assert!(parse_error(&good.replace("'irc'", "'fax'")).contains("fax"));
        for (word, table, what) in [
            ("{java}", "java.version_min = 17", "[java]"),
            (
                "{program}",
                "program = { name = 'sh', version = ['-c', 'echo 1'], install = 'dash' }",
                "[program]",
            ),
            ("{source}/main.js", "sources = '.'", "sources"),
            ("{build}/main", "sources = '.'\nbuild.command = ['cp', 'a', '{build}']", "[build]"),
        ] {
            let with = good.replace("['x']", &format!("['x', '{word}']"));
            assert!(parse_error(&with).contains(&format!("{word}: the file has no {what}")), "{word}");
            assert_eq!(parse_error(&format!("{with}{table}\n")), "valid", "{word}");
        }
        let user_can_read = "every user can read a command line";
        let in_command = good.replace("['x']", "['x', '--password={secret:a}']");
        assert!(parse_error(&in_command).contains(user_can_read), "{}", parse_error(&in_command));
        let knob = "knobs.a = { help = 'x', values = { on = ['{secret:a}'] } }";
        assert!(parse_error(&format!("{good}{knob}\n")).contains(user_can_read));
        assert_eq!(parse_error(&format!("{good}environment.A = '{{secret:a}}'\n")), "valid");
        for name in ["../x", "/etc/x", "a/b", "", "data"] {
            let with_file = parse_error(&format!("{good}files = [{{ name = '{name}', text = '' }}]\n"));
            assert!(with_file.contains("must have a plain name"), "{name}: {with_file}");
        }
        let with_knob =
            |name| parse_error(&format!("{good}knobs.{name}.help = 'x'\njava.version_min = 17\n"));
        let insert = "transports.tls.insert.more = 'x'\n";
        assert!(parse_error(&format!("{good}{insert}")).contains("insert more: no file has {insert:more}"));
        let file = "files = [{ name = 'a', text = '{insert:more}' }]\n";
        assert_eq!(parse_error(&format!("{good}{insert}{file}")), "valid");
        let workload = |table: &str| parse_error(&format!("{good}{table}\n"));
        assert_eq!(workload("workloads.chat = {}\nworkloads.rr.protocol = 'echo'"), "valid");
        assert!(workload("workloads.rr = {}").contains("the protocol irc does not carry the workload rr"));
        assert!(workload("workloads = {}").contains("workloads is empty"));
        assert!(parse_error(&good.replace("class = 'open'\n", "")).contains("needs a class"));
        assert!(with_knob("nice").contains("knob nice is a process setting; it needs another name here"));
        assert!(with_knob("heap").contains("knob heap belongs to every Java; it needs another name here"));
    }

    #[test]
    fn a_missing_catalog_folder_is_an_error() {
        let error = catalog(Some(Path::new("/nowhere"))).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the catalog /nowhere: "), "{error}");
    }
}
