//! Compiles the instruments' BPF programs; the crate includes the objects with `include_bytes!`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-env-changed=CLANG");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // The headers must belong to the version of libbpf that is linked.
    let headers = std::env::var("DEP_BPF_INCLUDE").expect("libbpf-sys exports the folder of its headers");
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets the target architecture");
    let arch = format!("-D__TARGET_ARCH_{}", if arch == "x86_64" { "x86" } else { &arch });
    for entry in std::fs::read_dir("src").expect("there is a source folder").flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().expect("file names are UTF-8");
        if let Some(name) = name.strip_suffix(".bpf.c") {
            compile(&path, &arch, &headers, &out.join(format!("{name}.bpf.o")));
        }
    }
}

fn compile(source: &Path, arch: &str, headers: &str, object: &Path) {
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let status = Command::new(&clang)
        .args([
            "-target",
            "bpf",
            "-mcpu=v3",
            "-g",
            "-O2",
            "-Wall",
            "-Werror",
            arch,
            "-Isrc/bpf",
            &without_folder(),
            "-I",
            headers,
            "-c",
        ])
        .arg(source)
        .arg("-o")
        .arg(object)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} could not compile {}: {status}", source.display()),
        Err(error) => {
            panic!("the instruments need {clang} to be built ({error}); install it: scripts/setup.sh run")
        }
    }
}

/// Keeps the folder of this checkout out of the object, so that equal sources give equal bytes.
fn without_folder() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize();
    format!("-ffile-prefix-map={}=.", root.expect("the crate is in a workspace").display())
}
