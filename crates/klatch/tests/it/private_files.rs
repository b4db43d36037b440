//! Nobody else can enter the temporary folders of a run or read its private key, whatever the umask is.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use crate::support::{run_once, until_joined};
use rustix::fs::Mode;
use rustix::process::{Pid, Signal, kill_process, umask};

/// Mode and path of everything below a folder.
fn modes(folder: &Path) -> Vec<(u32, String)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            let mode = path.symlink_metadata().unwrap().permissions().mode() & 0o7777;
            let inner = if path.is_dir() { modes(&path) } else { Vec::new() };
            inner.into_iter().chain([(mode, path.display().to_string())])
        })
        .collect()
}

#[test]
#[allow(unsafe_code)]
fn temporary_folders_and_keys_are_private_without_a_umask() {
    let (out, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut command = run_once(out.path(), &["--platform", "native-epoll", "--transport", "tls"]);
    command.args(["--rooms", "1", "--users", "2", "--pacing", "rate", "--rate", "1", "--count", "1000"]);
    command.env("TMPDIR", temporary.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    // SAFETY: a system call that takes a number and cannot fail.
    unsafe {
        command.pre_exec(|| {
            umask(Mode::empty());
            Ok(())
        });
    }
    let mut run = command.spawn().unwrap();
    until_joined(&mut run);
    let found = modes(temporary.path());
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    run.wait().unwrap();
    assert!(found.iter().any(|(_, path)| path.ends_with("/key.pem")), "{found:?}");
    for (mode, path) in &found {
        let expected = if path.ends_with(".pem") { 0o600 } else { 0o700 };
        assert_eq!(*mode, expected, "{path}: {mode:o}");
    }
}
