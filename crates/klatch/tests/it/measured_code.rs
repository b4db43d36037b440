//! The code of servers and crowds is compiled in their own crates, at the level of optimisation that is measured.
//!
//! Generic code is compiled in the crate that makes it concrete. A callback as a type parameter once moved every event loop into the
//! command line's crate, which was compiled for size: one loop of a server ran other machine code than its neighbours.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Paths of the code that carries messages, with the crate that must contain it.
const MEASURED: [(&str, &str); 7] = [
    ("klatch_server::epoll::event_loop::", "klatch_server"),
    ("klatch_server::uring::event_loop::", "klatch_server"),
    ("klatch_server::threads::", "klatch_server"),
    ("klatch_server::tokio::", "klatch_server"),
    ("klatch_crowd::event_loop::", "klatch_crowd"),
    ("klatch_crowd::rooms::", "klatch_crowd"),
    ("klatch_crowd::user_threads::", "klatch_crowd"),
];

/// The newest library of each crate of the workspace, in the folder from which cargo linked this program's `klatch`.
fn libraries() -> BTreeMap<String, PathBuf> {
    let folder = Path::new(env!("CARGO_BIN_EXE_klatch")).with_file_name("deps");
    let mut newest: BTreeMap<String, (SystemTime, PathBuf)> = BTreeMap::new();
    for entry in folder.read_dir().expect("cargo has a folder of libraries") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some((name, _)) = name.strip_prefix("lib").and_then(|name| name.split_once('-')) else {
            continue;
        };
        if !name.starts_with("klatch") || path.extension().is_none_or(|extension| extension != "rlib") {
            continue;
        }
        let built = path.metadata().and_then(|file| file.modified()).expect("a file has a time");
        let place = newest.entry(name.to_owned()).or_insert((built, path.clone()));
        if built > place.0 {
            *place = (built, path);
        }
    }
    newest.into_iter().map(|(name, (_, path))| (name, path)).collect()
}

/// The names of the functions that this library contains.
fn functions(library: &Path) -> Vec<String> {
    let output = Command::new("nm").args(["--defined-only", "--demangle"]).arg(library).output();
    let output = output.expect("nm belongs to the C compiler's packages");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let function = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let (_, kind, name) = (words.next()?, words.next()?, words.next()?);
        matches!(kind, "t" | "T" | "w" | "W").then(|| name.to_owned())
    };
    text.lines().filter_map(function).collect()
}

#[test]
fn every_loop_is_compiled_in_its_own_crate_alone() {
    let libraries = libraries();
    assert!(libraries.contains_key("klatch") && libraries.len() > 10, "{libraries:?}");
    for (library, path) in &libraries {
        let functions = functions(path);
        for (code, owner) in MEASURED {
            let count = functions.iter().filter(|name| name.contains(code)).count();
            if library == owner {
                assert!(count > 0, "{library} has no code of {code}: was it renamed?");
            } else {
                let example = functions.iter().find(|name| name.contains(code));
                assert_eq!(count, 0, "{library} contains a copy of {code}, such as {example:?}");
            }
        }
    }
}

#[test]
fn what_is_measured_is_optimised_alike_in_every_profile() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let manifest: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    // The program of `make run` and of these tests, from which that of `make dist` inherits the settings of packages.
    let (release, dist) = (&manifest["profile"]["release"], &manifest["profile"]["dist"]);
    assert_eq!(dist["inherits"].as_str(), Some("release"));
    for package in ["crowd", "exchange", "protocol", "server"] {
        let package = format!("klatch-{package}");
        let own = &release["package"][&package];
        assert_eq!(
            (own["opt-level"].as_integer(), own["codegen-units"].as_integer()),
            (Some(3), Some(1)),
            "{package}"
        );
        assert_eq!(own["overflow-checks"].as_bool(), Some(false), "{package}");
        assert!(dist.get("package").is_none_or(|packages| packages.get(&package).is_none()), "{package}");
    }
}
