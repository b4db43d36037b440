//! Ways round the functions of `privileges` that start programs and make temporary folders.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::tree;

/// A way that is kept, and its reason.
struct Exception {
    file: &'static str,
    reason: &'static str,
}

const EXCEPTIONS: [Exception; 6] = [
    Exception { file: "crates/host/src/privileges/program.rs", reason: "the way itself" },
    Exception { file: "crates/host/src/privileges/private.rs", reason: "the way itself" },
    Exception {
        file: "crates/lab/src/guest/mod.rs",
        reason: "the first process of the emulated machine, which has no user but root",
    },
    Exception {
        file: "crates/lab/src/probe/forks.rs",
        reason: "in the emulated machine; measures how this very call starts processes",
    },
    Exception {
        file: "crates/lab/src/probe/hackbench.rs",
        reason: "copies of this process that pass messages; they start no program",
    },
    Exception {
        file: "crates/lab/src/count.rs",
        reason: "in the emulated machine; nothing may lie between its counters and the program",
    },
];

/// What starts a program or makes a temporary folder in Rust.
const DETOURS: [&str; 6] = [
    // `Command` of any module that has been renamed too.
    r"\bCommand::new\b",
    r"\b(?:libc|unistd)::(?:exec\w+|posix_spawnp?|v?fork|system|popen)\b",
    r"\btempdir(?:_in)?\s*\(",
    r"\bTempDir::",
    r"\bprocess::Command\s+as\b",
    r"\bCommandExt\b",
];

/// The lines of a file that go round, without those of tests.
fn detours(text: &str) -> Vec<String> {
    static DETOUR: LazyLock<Regex> = LazyLock::new(|| Regex::new(&DETOURS.join("|")).expect("a regex"));
    static TESTS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"#\[cfg\(test\)\]\s*(?:pub\(crate\) )?mod tests \{").expect("a regex"));
    let without_tests = TESTS.split(text).next().unwrap_or_default();
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    let lines = (1..).zip(without_tests.lines().map(code));
    lines
        .filter(|(_, line)| DETOUR.is_match(line))
        .map(|(number, line)| format!("{number}: {}", line.trim()))
        .collect()
}

/// Whether a file is of tests, examples or a build alone.
fn is_of_tests(name: &str, texts: &[(String, String)]) -> bool {
    let places = ["/tests/", "/examples/"];
    if name.starts_with("crates/testing/")
        || name.ends_with("/build.rs")
        || places.iter().any(|place| name.contains(place))
    {
        return true;
    }
    let path = Path::new(name);
    let (Some(folder), Some(module)) = (path.parent(), path.file_stem()) else { return false };
    let module = regex::escape(&module.to_string_lossy());
    // In the file of the module around it, or, with its path, in a file beside it.
    let declared = format!(
        r#"#\[cfg\(test\)\]\s*(?:(?:pub\(crate\) )?mod {module}|#\[path = "{module}\.rs"\]\s*(?:pub\(crate\) )?mod \w+);"#
    );
    let declared = Regex::new(&declared).expect("a regex");
    let is_near = |other: &Path| other.parent() == Some(folder) || other == folder.with_extension("rs");
    texts.iter().any(|(other, text)| is_near(Path::new(other)) && declared.is_match(text))
}

#[test]
fn programs_and_temporary_folders_are_made_in_one_way() {
    let root = tree::root();
    let name = |path: &Path| path.strip_prefix(&root).expect("below the root").display().to_string();
    let texts: Vec<(String, String)> = tree::files(&root.join("crates"), &["rs"])
        .iter()
        .map(|path| (name(path), tree::text(path)))
        .collect();
    let all: Vec<(&str, Vec<String>)> = texts
        .iter()
        .filter(|(name, _)| !is_of_tests(name, &texts))
        .map(|(name, text)| (name.as_str(), detours(text)))
        .filter(|(_, lines)| !lines.is_empty())
        .collect();
    let is_known = |name: &str| EXCEPTIONS.iter().any(|exception| exception.file == name);
    let unknown: Vec<String> = all
        .iter()
        .filter(|(name, _)| !is_known(name))
        .flat_map(|(name, lines)| lines.iter().map(move |line| format!("{name}:{line}")))
        .collect();
    assert_eq!(
        unknown,
        Vec::<String>::new(),
        "start programs with klatch_host::privileges::Program, which runs them as the invoking user under sudo, and make folders with \
         klatch_host::privileges::temporary_folder, which nobody else can enter"
    );
    let unused: Vec<String> = EXCEPTIONS
        .iter()
        .filter(|exception| !all.iter().any(|(name, _)| *name == exception.file))
        .map(|exception| format!("{} ({})", exception.file, exception.reason))
        .collect();
    assert_eq!(unused, Vec::<String>::new(), "exceptions that are no longer needed");
}

#[test]
fn detours_are_found_in_code_only() {
    let text = "use std::process::Command;\n// Command::new\nlet a = process::Command::new(\"ls\");\n\
                let b = tempfile::tempdir()?;\nunsafe { libc::execve(a, b, c) };\nforks(2);\n\
                #[cfg(test)]\nmod tests {\n    Command::new(\"sh\");\n}\n";
    assert_eq!(
        detours(text),
        [
            "3: let a = process::Command::new(\"ls\");",
            "4: let b = tempfile::tempdir()?;",
            "5: unsafe { libc::execve(a, b, c) };"
        ]
    );
}
