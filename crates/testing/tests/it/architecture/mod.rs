//! Holds the crates and their modules to ARCHITECTURE.md: imports run down only, and nothing runs in a circle.

mod detours;
mod graph;
mod modules;
mod options;

use std::collections::{BTreeMap, BTreeSet};

use crate::tree;

/// The crates as the block "```crates" of ARCHITECTURE.md lists them: name, floor, dependencies.
type Crates = BTreeMap<String, (String, BTreeSet<String>)>;

/// Lines of the form `floor name: dependency dependency`.
fn documented(page: &str) -> Crates {
    let block = page.split("```crates\n").nth(1).and_then(|rest| rest.split("```").next());
    block
        .expect("ARCHITECTURE.md has a block ```crates")
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (head, dependencies) =
                line.split_once(':').unwrap_or_else(|| panic!("no colon in the line `{line}`"));
            let (floor, name) =
                head.trim().split_once(' ').unwrap_or_else(|| panic!("no floor in the line `{line}`"));
            let dependencies = dependencies.split_whitespace().map(str::to_owned).collect();
            (name.trim().to_owned(), (floor.to_owned(), dependencies))
        })
        .collect()
}

/// The crates as their manifests are: name and dependencies on other crates of the workspace, those of tests left out.
fn actual() -> BTreeMap<String, BTreeSet<String>> {
    let manifests = ["crates", "research"]
        .into_iter()
        .flat_map(|folder| tree::files(&tree::root().join(folder), &["toml"]))
        .filter(|path| path.ends_with("Cargo.toml"));
    manifests
        .map(|path| {
            let manifest: toml::Table =
                tree::text(&path).parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let name = manifest["package"]["name"].as_str().expect("a crate's name is a string");
            let dependencies = ["dependencies", "build-dependencies"]
                .iter()
                .filter_map(|table| manifest.get(*table)?.as_table())
                .flat_map(|table| table.keys())
                .filter_map(|name| name.strip_prefix("klatch-"))
                .map(str::to_owned)
                .collect();
            (name.trim_start_matches("klatch-").to_owned(), dependencies)
        })
        .collect()
}

/// The dependencies that do not run from a floor to one below it. Floors sort as text: `1`, `1b`, `2`, `2b`, `3`, `4`.
fn upward(crates: &Crates) -> Vec<String> {
    let floor = |name: &str| crates.get(name).map(|(floor, _)| floor.as_str());
    crates
        .iter()
        .flat_map(|(name, (own, dependencies))| {
            dependencies.iter().map(move |dependency| (name, own, dependency))
        })
        .filter(|(_, own, dependency)| floor(dependency).is_none_or(|floor| floor >= own.as_str()))
        .map(|(name, own, dependency)| {
            format!("{name} (floor {own}) imports {dependency} (floor {})", floor(dependency).unwrap_or("?"))
        })
        .collect()
}

#[test]
fn the_documented_crates_are_the_actual_ones() {
    let documented = documented(&tree::text(&tree::root().join("ARCHITECTURE.md")));
    let documented: BTreeMap<_, _> =
        documented.into_iter().map(|(name, (_, dependencies))| (name, dependencies)).collect();
    assert_eq!(
        documented,
        actual(),
        "left: the block ```crates of ARCHITECTURE.md; right: the manifests in crates/*/Cargo.toml and research/Cargo.toml"
    );
}

#[test]
fn no_crate_imports_upward() {
    let documented = documented(&tree::text(&tree::root().join("ARCHITECTURE.md")));
    assert_eq!(upward(&documented), Vec::<String>::new());
}

#[test]
fn an_upward_or_sideways_import_is_found() {
    let crates = documented(
        "```crates\n1 record:\n2 server: record\n2 crowd: server\n1 stats: report\n3 report: record\n```\n",
    );
    assert_eq!(
        upward(&crates),
        ["crowd (floor 2) imports server (floor 2)", "stats (floor 1) imports report (floor 3)"]
    );
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let mut circles = Vec::new();
    for manifest in tree::files(&tree::root().join("crates"), &["toml"])
        .iter()
        .filter(|path| path.ends_with("Cargo.toml"))
    {
        let folder = manifest.parent().expect("a manifest is in a folder");
        let name = folder.file_name().expect("a crate's folder has a name").to_string_lossy().into_owned();
        circles.extend(
            modules::circles(&folder.join("src")).into_iter().map(|circle| format!("{name}: {circle}")),
        );
    }
    assert_eq!(circles, Vec::<String>::new(), "modules that import each other");
}

/// Libraries that are oracles of tests, or derive the schemas that a test compares.
#[test]
fn the_program_is_built_without_what_only_tests_need() {
    let edges = ["--edges", "normal,build", "--prefix", "none"];
    let mut cargo = std::process::Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "--package", "klatch"]).args(edges);
    let output = cargo.current_dir(tree::root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let built: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(built.contains("klatch-record") && built.contains("serde"), "{built:?}");
    let only_tests = ["jsonschema", "nom", "proptest", "schemars", "tungstenite"];
    assert_eq!(only_tests.map(|library| built.contains(library)), [false; 5], "{only_tests:?}");
}

/// A build of the workspace enables the feature for all, so only this test and a build of the program alone notice.
#[test]
fn schemas_are_derived_behind_the_feature() {
    let mut wrong = Vec::new();
    for file in tree::files(&tree::root().join("crates"), &["rs"]) {
        let (name, text) = (file.display().to_string(), tree::text(&file));
        let is_of_schemas = name.ends_with("schema.rs") || !name.contains("/src/");
        let bare = |line: &&str| {
            (line.contains("schemars") || line.contains("JsonSchema"))
                && !line.contains("cfg_attr(feature = \"schema\"")
                && !line.contains("schema_for!")
        };
        if !is_of_schemas {
            wrong.extend(text.lines().filter(bare).map(|line| format!("{name}: {}", line.trim())));
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "write #[cfg_attr(feature = \"schema\", …)]");
}
