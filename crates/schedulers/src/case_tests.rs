//! Tests that run the hand-worked cases of the policies as ordinary C and as BPF in the kernel.

use std::path::Path;
use std::process::Command;

use libbpf_rs::{ObjectBuilder, ProgramInput};

/// Folders with a policy. `fifo` has none, and `head` uses that of `goodness`.
const POLICIES: [&str; 3] = ["goodness", "multiqueue", "o1"];

/// Compiles the cases of a policy, and panics with the errors of the compiler.
fn compile(compiler: &str, flags: &[&str], policy: &str, to: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/{policy}/cases.c"));
    let output =
        Command::new(compiler).args(flags).args(["-Wall", "-Werror", "-o"]).arg(to).arg(&source).output();
    let output =
        output.unwrap_or_else(|error| panic!("{compiler}: {error}; install it: scripts/setup.sh test"));
    assert!(output.status.success(), "{policy}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_cases_hold_in_user_space() {
    for policy in POLICIES {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("cases");
        compile("cc", &["-O1"], policy, &program);
        let done = Command::new(&program).output().unwrap();
        assert!(done.status.success(), "{policy}/cases.c: {}", String::from_utf8_lossy(&done.stdout));
    }
}

/// The verifier and the kernel's JIT compiler treat the cases like the schedulers.
#[test]
fn the_same_cases_hold_in_the_kernel() {
    klatch_testing::needs!(klatch_testing::Need::Bpf);
    for policy in POLICIES {
        let folder = tempfile::tempdir().unwrap();
        let object = folder.path().join("cases.o");
        compile("clang", &["-target", "bpf", "-mcpu=v3", "-g", "-O2", "-c"], policy, &object);
        let object = ObjectBuilder::default().open_file(&object).unwrap().load().unwrap_or_else(|error| {
            panic!("{policy}: {error:#}; BPF programs need root and a kernel 5.14 or newer")
        });
        let cases = object.progs_mut().find(|program| program.name() == "cases").unwrap();
        let done = cases.test_run(ProgramInput::default()).unwrap();
        assert_eq!(done.return_value, 0, "this line of {policy}/cases.c does not hold");
    }
}

/// Measured by gcov, for lines and branches.
#[test]
fn the_cases_take_every_branch() {
    for policy in POLICIES {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("cases");
        compile("gcc", &["-O0", "--coverage", "-DEACH_ONCE"], policy, &program);
        assert!(Command::new(&program).status().unwrap().success());
        let counted = Command::new("gcov").args(["-b", "cases.gcda"]).current_dir(folder.path()).output();
        let counted =
            counted.unwrap_or_else(|error| panic!("gcov: {error}; install gcc: scripts/setup.sh test"));
        let output = String::from_utf8_lossy(&counted.stdout).into_owned();
        let of_policy = output.split("File '").find(|part| part.contains(&format!("{policy}/policy.h")));
        let of_policy =
            of_policy.unwrap_or_else(|| panic!("gcov reports nothing for {policy}/policy.h: {output}"));
        println!("{of_policy}");
        for counted in ["Lines executed:100.00%", "Taken at least once:100.00%"] {
            assert!(of_policy.contains(counted), "{of_policy}");
        }
    }
}
