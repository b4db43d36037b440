//! Compiles the policies as ordinary C, and hands the folder of the headers to crates that compile them as BPF.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=include");
    println!("cargo::rerun-if-changed=src/exports");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    println!("cargo::metadata=include={}", include.display());
    cc::Build::new()
        .include(&include)
        .files(["goodness", "multiqueue", "o1", "sleepers"].map(|policy| format!("src/exports/{policy}.c")))
        .warnings_into_errors(true)
        // A walk is slow without it, in tests too.
        .opt_level(2)
        .compile("klatch-policies");
}
