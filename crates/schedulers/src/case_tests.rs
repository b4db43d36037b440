//! Runs the hand-worked cases of the policies as BPF in the kernel. `tests/it/cases.rs` runs the same cases as ordinary C.

use std::path::Path;
use std::process::Command;

use libbpf_rs::{ObjectBuilder, ProgramInput};

/// The verifier and the kernel's JIT compiler treat the cases like the schedulers.
#[test]
fn the_cases_hold_in_the_kernel() {
    klatch_testing::needs!(klatch_testing::Need::Bpf);
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = std::fs::read_dir(crate_folder.join("cases")).unwrap().map(|entry| entry.unwrap().path());
    let sources: Vec<_> =
        sources.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect();
    assert!(sources.len() > 3, "{sources:?}");
    for source in sources {
        let policy = source.file_stem().unwrap().to_string_lossy();
        let folder = tempfile::tempdir().unwrap();
        let object = folder.path().join("cases.o");
        let compiled = Command::new("clang")
            .args(["-target", "bpf", "-mcpu=v3", "-g", "-O2", "-c", "-Wall", "-Werror", "-I"])
            .arg(crate_folder.join("include"))
            .arg("-o")
            .arg(&object)
            .arg(&source)
            .output()
            .unwrap_or_else(|error| panic!("clang: {error}; install it: scripts/setup.sh test"));
        assert!(compiled.status.success(), "{policy}: {}", String::from_utf8_lossy(&compiled.stderr));
        let object = ObjectBuilder::default().open_file(&object).unwrap().load().unwrap_or_else(|error| {
            panic!("{policy}: {error:#}; BPF programs need root and a kernel 5.14 or newer")
        });
        let cases = object.progs_mut().find(|program| program.name() == "cases").unwrap();
        let done = cases.test_run(ProgramInput::default()).unwrap();
        assert_eq!(done.return_value, 0, "this line of cases/{policy}.c does not hold");
    }
}
