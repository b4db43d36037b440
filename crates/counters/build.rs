//! Builds the plugin as a shared object, which the crate includes, and its caches for the tests.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=plugin");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut build = cc::Build::new();
    // Every emulated instruction passes through it, in tests too.
    build.opt_level(2).debug(false).pic(true).warnings_into_errors(true).extra_warnings(true).std("gnu11");
    build.flag(without_folder());
    // Symbols are left out, as they contain names of temporary files.
    let mut compiler = build.get_compiler().to_command();
    compiler.args(["-shared", "-fvisibility=hidden", "-flto", "-O3", "-s", "-Wl,--build-id=none", "-o"]);
    compiler.arg(out.join("klatch-counters.so")).args(sources());
    let status = compiler.status().unwrap_or_else(|error| panic!("cannot run {compiler:?}: {error}"));
    assert!(status.success(), "{compiler:?}: {status}");
    build.file("plugin/caches.c").compile("klatch-counters-caches");
}

fn sources() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("plugin").expect("there is a folder of the plugin").flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    // Equal sources give equal bytes, whatever the order of the folder.
    all.sort();
    all
}

/// Keeps the folder of this checkout out of the object.
fn without_folder() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize();
    format!("-ffile-prefix-map={}=.", root.expect("the crate is in a workspace").display())
}
