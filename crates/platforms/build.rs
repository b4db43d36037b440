//! Puts `klatch.jar` where the program can take it in; an empty file where Maven has not built it.

use std::path::PathBuf;

fn main() {
    let jar = PathBuf::from(env("CARGO_MANIFEST_DIR")).join("../../java/target/klatch.jar");
    let place = PathBuf::from(env("OUT_DIR")).join("klatch.jar");
    println!("cargo::rerun-if-changed={}", jar.display());
    // The catalog is inside the program too, and new files are not seen otherwise.
    println!("cargo::rerun-if-changed=../../platforms");
    let contents = std::fs::read(&jar).unwrap_or_default();
    std::fs::write(place, contents).expect("the build folder can be written");
}

fn env(name: &str) -> String {
    std::env::var(name).expect("cargo sets it")
}
