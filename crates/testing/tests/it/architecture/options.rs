//! Names of options in the string literals of libraries. A library names the setting; the command line names the option.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::tree;

/// Files of libraries in which options stand, and why.
const EXCEPTIONS: [(&str, &str); 24] = [
    ("crowd/src/channel/tls_errors.rs", "the Java crowd, which has the option itself, uses the same words"),
    ("host/src/privileges/service_user.rs", "a command that the user is to type"),
    ("instruments/src/counters/error.rs", "a command that the user is to type"),
    ("instruments/src/jfr/mod.rs", "the command line of jfr"),
    ("instruments/src/profile/mod.rs", "a command that the user is to type"),
    ("lab/src/debian_kernels.rs", "the command lines of apt"),
    ("lab/src/debian_mirror.rs", "the command line of apt-get"),
    ("lab/src/download.rs", "the command line of apt-get"),
    ("lab/src/image.rs", "the command line of the dynamic linker"),
    ("lab/src/java.rs", "the command line of jlink"),
    ("lab/src/job.rs", "the command line of klatch in the emulated machine"),
    ("lab/src/probe/forks.rs", "the command line of klatch as a short process"),
    ("platforms/src/process.rs", "what the usage of klatch ends with"),
    ("record/src/workload/kinds.rs", "makes the options of a workload"),
    ("report/src/build/commands.rs", "commands that repeat a measurement"),
    ("report/src/build/floor.rs", "commands that repeat a measurement"),
    ("report/src/doctor/kernel.rs", "a command that the user is to type"),
    ("report/src/doctor/noise.rs", "commands that the user is to type"),
    ("report/src/doctor/size.rs", "a command that the user is to type"),
    ("runner/src/crowd_command.rs", "the command line of a crowd"),
    ("runner/src/guards/frequency.rs", "a command that the user is to type"),
    ("runner/src/reach.rs", "the command lines of ssh and of engines"),
    ("schedulers/src/error.rs", "a command that the user is to type"),
    ("study/src/emulated/expand.rs", "the command line of klatch in the emulated machine"),
];

/// Crates with a command line of their own, and what only tests use.
const NO_LIBRARIES: [&str; 2] = ["klatch", "testing"];

/// The string literals of a source, without those of its tests.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        let comment = r"//[^\n]*|/\*.*?\*/";
        let text = r###"r##".*?"##|r#".*?"#|\br"[^"]*"|"(?:[^"\\]|\\.)*""###;
        Regex::new(&format!(r"(?s){comment}|{text}|'(?:[^'\\]|\\[^']+|\\')'")).expect("a regex")
    });
    let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    TOKEN.find_iter(own).map(|token| token.as_str()).filter(|token| token.starts_with(['"', 'r']))
}

/// Whether an option of a command line stands in a literal.
fn names_an_option(literal: &str) -> bool {
    static OPTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|[^-\w])--[a-z]").expect("a regex"));
    OPTION.is_match(literal)
}

#[test]
fn libraries_name_no_options() {
    let crates = tree::root().join("crates");
    let mut found = Vec::new();
    let mut excepted = Vec::new();
    for file in tree::files(&crates, &["rs"]) {
        let path = file.strip_prefix(&crates).expect("the file is below the crates");
        let is_library = is_in_sources(path) && NO_LIBRARIES.iter().all(|name| !path.starts_with(name));
        // Tests in files of their own.
        if !is_library || path.to_string_lossy().ends_with("tests.rs") {
            continue;
        }
        let (name, text) = (path.display().to_string(), tree::text(&file));
        let options: Vec<&str> = literals(&text).filter(|literal| names_an_option(literal)).collect();
        match EXCEPTIONS.iter().any(|(exception, _)| *exception == name) {
            true if !options.is_empty() => excepted.push(name),
            true => {}
            false => found.extend(options.iter().map(|literal| format!("{name}: {literal}"))),
        }
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "name the setting, and the option in crates/klatch/src/advice.rs"
    );
    assert_eq!(excepted, EXCEPTIONS.map(|(name, _)| name), "left: exceptions in use; right: all");
}

fn is_in_sources(path: &Path) -> bool {
    path.iter().nth(1).is_some_and(|folder| folder == "src")
}

#[test]
fn an_option_in_a_literal_is_found() {
    let text = "// \"--comment\"\nlet a = ['\"', '\\'']; let b = r#\"x --raw\"#;\nerror(\"say \\\"--quoted\\\"\"); \
                \"a -- b\"; \"x--y\"; \"https://x\"; // it's\n\"--plain\"\n#[cfg(test)]\nmod tests { \"--test\" }";
    let found: Vec<&str> = literals(text).filter(|literal| names_an_option(literal)).collect();
    assert_eq!(found, ["r#\"x --raw\"#", "\"say \\\"--quoted\\\"\"", "\"--plain\""]);
}
