//! Puts the jars into the program, one after the other. One that Maven has not built has no bytes.
//!
//! They are included as Maven wrote them. For a small program `scripts/pack-jars.py` packs them together first, which takes a
//! minute, and `KLATCH_PACKED_JARS` names its folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

fn main() {
    let to = PathBuf::from(env("OUT_DIR"));
    println!("cargo::rerun-if-env-changed=KLATCH_PACKED_JARS");
    let packed = std::env::var_os("KLATCH_PACKED_JARS").map(PathBuf::from);
    let from =
        packed.clone().unwrap_or_else(|| PathBuf::from(env("CARGO_MANIFEST_DIR")).join("../../java/target"));
    if packed.is_none() {
        // Maven may still be at work: scripts/first-build.sh. Where there is no such lock or program, nothing is waited for.
        let _ = Command::new("flock").arg("--shared").arg(from.join("lock")).arg("true").status();
    }
    let (mut all, mut spans) = (Vec::new(), Vec::new());
    // The smallest is first, because a packed jar is read by reading those before it.
    for name in ["klatch.jar", "klatch-netty.jar", "klatch-web.jar"] {
        let contents = read(&from.join(name)).unwrap_or_default();
        let sum: String = Sha256::digest(&contents).iter().map(|byte| format!("{byte:02x}")).collect();
        spans.push(format!("Span {{ offset: {}, length: {}, sha256: {sum:?} }}", all.len(), contents.len()));
        all.extend(contents);
    }
    let spans = format!("[{}]", spans.join(", "));
    if let Some(folder) = &packed {
        all = read(&folder.join("jars.xz")).expect("KLATCH_PACKED_JARS names a folder with jars.xz");
    }
    write(&to.join("jars"), &all);
    write(&to.join("spans.rs"), spans.as_bytes());
    write(&to.join("packed.rs"), packed.is_some().to_string().as_bytes());
    // The catalog is compiled in too; without this line cargo would miss new files.
    println!("cargo::rerun-if-changed=../../platforms");
}

fn read(path: &Path) -> Option<Vec<u8>> {
    println!("cargo::rerun-if-changed={}", path.display());
    std::fs::read(path).ok()
}

/// Leaves a file alone that has these contents already, so that nothing is compiled anew.
fn write(path: &Path, contents: &[u8]) {
    if std::fs::read(path).is_ok_and(|present| present == contents) {
        return;
    }
    std::fs::write(path, contents).expect("the build folder can be written");
}

fn env(name: &str) -> String {
    std::env::var(name).expect("cargo sets it")
}
