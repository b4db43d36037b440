//! Compiles the instruments' BPF programs and the plugins of QEMU; the crate includes them with `include_bytes!`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-env-changed=CLANG");
    println!("cargo::rerun-if-changed=plugin");
    println!("cargo::rerun-if-changed=stop");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    build_plugins(&out);
    // The headers must belong to the version of libbpf that is linked.
    let headers = std::env::var("DEP_BPF_INCLUDE").expect("libbpf-sys exports the folder of its headers");
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets the target architecture");
    // As the kernel, and so libbpf, calls it.
    let arch = match arch.as_str() {
        "x86_64" => "x86",
        "aarch64" => "arm64",
        "riscv64" => "riscv",
        other => other,
    };
    let arch = format!("-D__TARGET_ARCH_{arch}");
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

/// The plugins of QEMU as shared objects, and the caches of the counters for the tests.
fn build_plugins(out: &Path) {
    let mut build = cc::Build::new();
    // Every emulated instruction passes through the counters, in tests too.
    build.opt_level(2).debug(false).pic(true).warnings_into_errors(true).extra_warnings(true).std("gnu11");
    build.flag(without_folder());
    for (folder, object) in [("plugin", "klatch-counters.so"), ("stop", "klatch-stop.so")] {
        // Symbols are left out, as they contain names of temporary files.
        let mut compiler = build.get_compiler().to_command();
        compiler.args(["-shared", "-fvisibility=hidden", "-flto", "-O3", "-s", "-Wl,--build-id=none", "-o"]);
        compiler.arg(out.join(object)).args(sources_in(folder));
        let status = compiler.status().unwrap_or_else(|error| panic!("cannot run {compiler:?}: {error}"));
        assert!(status.success(), "{compiler:?}: {status}");
    }
    build.file("plugin/caches.c").compile("klatch-counters-caches");
}

fn sources_in(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("there is a folder of each plugin").flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    // Equal sources give equal bytes, whatever the order of the folder.
    all.sort();
    all
}

/// Keeps the folder of this checkout out of the object, so that equal sources give equal bytes.
fn without_folder() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize();
    format!("-ffile-prefix-map={}=.", root.expect("the crate is in a workspace").display())
}
