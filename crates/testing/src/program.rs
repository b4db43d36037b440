//! Programs that a test writes and then executes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes an executable file with this content, by a process of its own. If the test wrote it itself, a process that another test
/// starts at that moment could inherit the open file, and executing it would fail with `Text file busy`.
///
/// # Panics
/// The file cannot be written.
pub fn write_program(path: &Path, content: &str) {
    let mut install = Command::new("install");
    install.args(["-m", "755", "/dev/stdin"]).arg(path).stdin(Stdio::piped());
    let mut install = install.spawn().expect("coreutils has install");
    install.stdin.take().expect("a pipe").write_all(content.as_bytes()).expect("install reads its input");
    let status = install.wait().expect("install is a child process");
    assert!(status.success(), "install could not write {}: {status}", path.display());
}

#[test]
fn the_program_can_be_executed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    write_program(&path, "#!/bin/sh\necho hello\n");
    assert_eq!(Command::new(&path).output().unwrap().stdout, b"hello\n");
}
