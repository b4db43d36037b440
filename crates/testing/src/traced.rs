//! System calls of a test, in order.

use std::process::Command;

/// Runs an ignored test of the calling test program in a process of its own under strace, which the calling test
/// [needs](crate::needs!). Returns one line for each of `calls`, as strace prints it: with paths beside descriptors.
///
/// # Panics
/// strace cannot be started, or the test fails.
pub fn system_calls(test: &str, calls: &str) -> Vec<String> {
    let log = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "4096", "-e", "signal=none", "-e", &format!("trace={calls}"), "-o"]);
    strace.arg(log.path()).arg(std::env::current_exe().expect("this program has a path"));
    strace.args(["--ignored", "--exact", test]);
    let output = strace.output().expect("strace can be started");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{output:?}");
    let text = std::fs::read_to_string(log.path()).expect("strace wrote its log");
    text.lines().filter(|line| line.contains('(')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Need, needs};

    /// Run under strace by the test below.
    #[test]
    #[ignore = "another test starts it"]
    fn makes_two_folders() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("first")).unwrap();
        std::fs::create_dir(folder.path().join("second")).unwrap();
    }

    #[test]
    fn calls_are_in_order() {
        needs!(Need::Program("strace", "strace"));
        let calls = system_calls("traced::tests::makes_two_folders", "mkdir,mkdirat");
        let [_, first, second] = &calls[..] else { panic!("{calls:?}") };
        assert!(first.contains("/first\"") && second.contains("/second\""), "{calls:?}");
    }
}
