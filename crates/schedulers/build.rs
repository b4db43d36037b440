//! Compiles the BPF programs of the schedulers; `catalog.rs` embeds the objects.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-env-changed=CLANG");
    println!("cargo::rerun-if-changed=../policies/include");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // Headers of the libbpf version that is linked.
    let libbpf = std::env::var("DEP_BPF_INCLUDE").expect("libbpf-sys sets the path of its headers");
    let policies =
        std::env::var("DEP_KLATCH_POLICIES_INCLUDE").expect("policies sets the path of its headers");
    for folder in std::fs::read_dir("src").expect("src is readable").flatten() {
        let name = folder.file_name().into_string().expect("folder names are text");
        let source = folder.path().join(format!("{name}.bpf.c"));
        if source.exists() {
            compile(&source, [&libbpf, &policies], &out.join(format!("{name}.bpf.o")));
        }
    }
}

fn compile(source: &Path, [libbpf, policies]: [&str; 2], object: &Path) {
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
        policies,
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
