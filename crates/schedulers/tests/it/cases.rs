//! Runs the hand-worked cases of the policies as ordinary C. `src/case_tests.rs` runs the same cases as BPF in the kernel.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The policies: each has cases. The scheduler `fifo` has no policy, and `head` uses that of `goodness`.
fn policies() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = |folder: PathBuf, ending: &str| {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> = files
            .filter(|path| path.extension().is_some_and(|of| of == ending))
            .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    let mut headers = names(folder.join("include/policies"), "h");
    headers.retain(|name| name != "types");
    let cases = names(folder.join("cases"), "c");
    assert!(cases.len() > 3 && headers == cases, "left: headers, right: cases: {headers:?} {cases:?}");
    cases
}

/// Compiles the cases of a policy, and panics with the errors of the compiler.
fn compile(compiler: &str, flags: &[&str], policy: &str, to: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = folder.join(format!("cases/{policy}.c"));
    let output = Command::new(compiler)
        .args(flags)
        .args(["-Wall", "-Werror", "-I"])
        .arg(folder.join("include"))
        .arg("-o")
        .arg(to)
        .arg(source)
        .output();
    let output =
        output.unwrap_or_else(|error| panic!("{compiler}: {error}; install it: scripts/setup.sh test"));
    assert!(output.status.success(), "{policy}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_cases_hold_in_user_space() {
    for policy in &policies() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("cases");
        compile("cc", &["-O1"], policy, &program);
        let done = Command::new(&program).output().unwrap();
        assert!(done.status.success(), "cases/{policy}.c: {}", String::from_utf8_lossy(&done.stdout));
    }
}

/// Measured by gcov, for lines and branches.
#[test]
fn the_cases_take_every_branch() {
    for policy in &policies() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("cases");
        compile("gcc", &["-O0", "--coverage", "-DEACH_ONCE"], policy, &program);
        assert!(Command::new(&program).status().unwrap().success());
        let counted = Command::new("gcov")
            .args(["-b", &format!("cases-{policy}.gcda")])
            .current_dir(folder.path())
            .output();
        let counted =
            counted.unwrap_or_else(|error| panic!("gcov: {error}; install gcc: scripts/setup.sh test"));
        let output = String::from_utf8_lossy(&counted.stdout).into_owned();
        let header = format!("policies/{policy}.h");
        let of_policy = output.split("File '").find(|part| part.contains(&header));
        let of_policy = of_policy.unwrap_or_else(|| panic!("gcov reports nothing for {header}: {output}"));
        println!("{of_policy}");
        for counted in ["Lines executed:100.00%", "Taken at least once:100.00%"] {
            assert!(of_policy.contains(counted), "{of_policy}");
        }
    }
}
