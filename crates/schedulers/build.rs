//! Compiles the policies as ordinary C, and the BPF programs of the schedulers, and lists these for `catalog.rs`, which embeds them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Headers of the policies.
const POLICIES: &str = "include";
/// A scheduler for tests.
const SAMPLE: &str = "samples/misbehaving.bpf.c";

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed={POLICIES}");
    println!("cargo::rerun-if-changed={SAMPLE}");
    println!("cargo::rerun-if-env-changed=CLANG");
    compile_policies();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // Headers of the libbpf version that is linked.
    let libbpf = std::env::var("DEP_BPF_INCLUDE").expect("libbpf-sys sets the path of its headers");
    let folders = std::fs::read_dir("src").expect("src is readable").flatten();
    let mut names: Vec<String> =
        folders.map(|folder| folder.file_name().into_string().expect("folder names are text")).collect();
    names.retain(|name| source(name).exists());
    names.sort();
    for name in &names {
        compile(&source(name), &libbpf, &out.join(format!("{name}.bpf.o")));
    }
    if std::env::var_os("CARGO_FEATURE_SAMPLES").is_some() {
        compile(Path::new(SAMPLE), &libbpf, &out.join("misbehaving.bpf.o"));
    }
    let list: String = names.iter().map(|name| format!("scheduler!({name:?}), ")).collect();
    std::fs::write(out.join("schedulers.rs"), format!("[{list}]")).expect("OUT_DIR is writable");
}

/// The BPF program of a scheduler.
fn source(name: &str) -> PathBuf {
    Path::new("src").join(name).join(format!("{name}.bpf.c"))
}

fn compile_policies() {
    let exports = std::fs::read_dir("src/policies/exports").expect("policies have exports").flatten();
    let mut files: Vec<PathBuf> = exports.map(|entry| entry.path()).collect();
    // Equal sources give equal bytes, whatever the order of the folder.
    files.sort();
    cc::Build::new()
        .include(POLICIES)
        .files(files)
        .warnings_into_errors(true)
        // A walk is slow without it, in tests too.
        .opt_level(2)
        .compile("klatch-policies");
}

fn compile(source: &Path, libbpf: &str, object: &Path) {
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let flags = [
        "-target",
        "bpf",
        "-mcpu=v3",
        "-g",
        "-O2",
        "-Wall",
        "-Werror",
        "-Isrc/bpf",
        &without_folder(),
        "-I",
        libbpf,
        "-I",
        POLICIES,
        "-c",
    ];
    match Command::new(&clang).args(flags).arg(source).arg("-o").arg(object).status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} could not compile {}: {status}", source.display()),
        Err(error) => {
            panic!("the schedulers need {clang} to be built ({error}); install it: scripts/setup.sh run")
        }
    }
}

/// Keeps the folder of this checkout out of the object, so that equal sources give equal bytes.
fn without_folder() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize();
    format!("-ffile-prefix-map={}=.", root.expect("the crate is in a workspace").display())
}
