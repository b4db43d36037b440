//! Copies the jars to where the program includes them, or an empty file for one that Maven has not built.

use std::path::PathBuf;

fn main() {
    let (from, to) =
        (PathBuf::from(env("CARGO_MANIFEST_DIR")).join("../../java/target"), PathBuf::from(env("OUT_DIR")));
    for name in ["klatch.jar", "klatch-netty.jar", "klatch-web.jar"] {
        let jar = from.join(name);
        println!("cargo::rerun-if-changed={}", jar.display());
        let contents = std::fs::read(&jar).unwrap_or_default();
        std::fs::write(to.join(name), contents).expect("the build folder can be written");
    }
    // The catalog is compiled in too; without this line cargo would miss new files.
    println!("cargo::rerun-if-changed=../../platforms");
}

fn env(name: &str) -> String {
    std::env::var(name).expect("cargo sets it")
}
