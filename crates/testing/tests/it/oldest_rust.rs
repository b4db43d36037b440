//! `rust-version` in Cargo.toml: CI builds with exactly that version, the set-up asks for it, and no dependency needs a newer one.
//! clippy's `incompatible_msrv` rejects newer functions of the standard library.

use std::process::Command;

use regex::Regex;

use crate::tree;

/// The version of a package's field `rust-version`, or one of Cargo.toml: major and minor.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split('.').map(|number| number.parse().expect("a version has numbers"));
    (numbers.next().expect("a version has a first number"), numbers.next().unwrap_or(0))
}

fn text(file: &str) -> String {
    tree::text(&tree::root().join(file))
}

fn oldest() -> String {
    let manifest: toml::Table = text("Cargo.toml").parse().unwrap();
    manifest["workspace"]["package"]["rust-version"].as_str().expect("a version is text").to_owned()
}

#[test]
fn ci_and_the_setup_have_the_version_of_the_manifest() {
    let oldest = oldest();
    let tool = Regex::new(r"\) rust rust-oldest (\d+\.\d+)\.0 [0-9a-f]{64} ;;").unwrap();
    assert_eq!(&tool.captures(&text("scripts/install-tools.sh")).expect("a tool")[1], oldest);
    assert!(text("scripts/setup.sh").contains(&format!("\nrust_min={oldest}\n")));
    assert!(text(".github/workflows/ci.yml").contains("run: scripts/install-tools.sh rust-oldest\n"));
}

#[test]
fn no_dependency_needs_a_newer_rust() {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", &target]);
    let output = cargo.current_dir(tree::root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100);
    let oldest = version(&oldest());
    let newer = packages
        .iter()
        .filter(|package| package["rust_version"].as_str().is_some_and(|needed| version(needed) > oldest));
    let newer: Vec<String> =
        newer.map(|package| format!("{} needs {}", package["id"], package["rust_version"])).collect();
    assert_eq!(newer, Vec::<String>::new(), "raise rust-version, or take an older version");
}
