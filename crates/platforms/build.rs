//! Packs the jars for the program, which includes them, one after the other: the second and the third have much in common. One that
//! Maven has not built has no bytes.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use liblzma::write::XzEncoder;
use sha2::{Digest, Sha256};
use zip::read::ZipArchive;
use zip::write::{SimpleFileOptions, ZipWriter};

/// The largest preset of xz, with its slower search: 12 MB in place of the jars' 30.
const SMALLEST: u32 = 9 | 1 << 31;
/// A build for tests does not wait for that.
const FASTEST: u32 = 0;

fn main() {
    let (from, to) =
        (PathBuf::from(env("CARGO_MANIFEST_DIR")).join("../../java/target"), PathBuf::from(env("OUT_DIR")));
    let preset = if env("PROFILE") == "release" { SMALLEST } else { FASTEST };
    let (mut all, mut spans) = (Vec::new(), Vec::new());
    // The smallest is first, because a jar is read by reading those before it.
    for name in ["klatch.jar", "klatch-netty.jar", "klatch-web.jar"] {
        let jar = from.join(name);
        println!("cargo::rerun-if-changed={}", jar.display());
        let contents = match std::fs::read(&jar) {
            Ok(compressed) => stored(&compressed).expect("Maven has written a jar"),
            Err(_) => Vec::new(),
        };
        let sum: String = Sha256::digest(&contents).iter().map(|byte| format!("{byte:02x}")).collect();
        spans.push(format!("Span {{ offset: {}, length: {}, sha256: {sum:?} }}", all.len(), contents.len()));
        all.extend(contents);
    }
    write(&to.join("jars.xz"), &packed(&all, preset));
    write(&to.join("spans.rs"), format!("[{}]", spans.join(", ")).as_bytes());
    // The catalog is compiled in too; without this line cargo would miss new files.
    println!("cargo::rerun-if-changed=../../platforms");
}

/// The same jar with its files not compressed one by one, so that xz finds what they have in common.
fn stored(jar: &[u8]) -> zip::result::ZipResult<Vec<u8>> {
    let mut from = ZipArchive::new(Cursor::new(jar))?;
    let mut to = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..from.len() {
        let mut file = from.by_index(index)?;
        let name = file.name()?.into_owned();
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .last_modified_time(file.last_modified().unwrap_or_default());
        if file.is_dir() {
            to.add_directory(name, options)?;
        } else {
            to.start_file(name, options)?;
            std::io::copy(&mut file, &mut to)?;
        }
    }
    Ok(to.finish()?.into_inner())
}

/// `contents` in the format of xz.
fn packed(contents: &[u8], preset: u32) -> Vec<u8> {
    let mut encoder = XzEncoder::new(Vec::new(), preset);
    encoder.write_all(contents).and_then(|()| encoder.finish()).expect("memory is enough")
}

fn write(path: &Path, contents: &[u8]) {
    std::fs::write(path, contents).expect("the build folder can be written");
}

fn env(name: &str) -> String {
    std::env::var(name).expect("cargo sets it")
}
