//! The lab on another architecture: a machine of arm64, with the program for it.

use std::path::Path;

use klatch_testing::{Need, needs};
use serde_json::Value;

use super::lab::lab;
use crate::support::Finished;

/// Counts of a short chat in a machine of arm64; its results are in `out`.
fn counted_chat(options: &[&str], out: &Path) -> String {
    let mut exec = lab(&["exec", "--kernel", "6.18:arm64", "--counters=instructions", "--operations"]);
    exec.args(options).arg("--out").arg(out).args([
        "--",
        "run",
        "--platform",
        "native-epoll",
        "--rooms",
        "1",
    ]);
    exec.args(["--users", "5", "--count", "4", "--warmups", "0", "--trials", "1"]);
    let finished = Finished::run(&mut exec);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    std::fs::read_to_string(out.join("counters.json")).unwrap()
}

#[test]
fn a_machine_of_arm64_counts_the_same_twice() {
    needs!(Need::KlatchForArm64, Need::Program("qemu-system-aarch64", "qemu-system-arm"));
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let text = counted_chat(&[], &first);
    assert_eq!(counted_chat(&["--boot-anew"], &second), text);
    let counts: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(counts["operations"]["count"], 5 * 4 * 5, "messages and deliveries of 5 users: {text}");
    // The server writes each delivery by itself, on any architecture. So calls are followed into the kernel and back.
    let routines = counts["routines"].as_array().unwrap();
    let is_send = |one: &&Value| one["routine"] == "tcp_sendmsg" && one["by"] == "server";
    assert_eq!(routines.iter().find(is_send).unwrap()["calls"], 5 * 4 * 4, "{text}");
    let results = std::fs::read_dir(first.join("results")).unwrap().next().unwrap().unwrap();
    let record = std::fs::read_to_string(results.path().join("trial-1.json")).unwrap();
    assert!(record.contains("\"architecture\": \"aarch64\""), "{record}");
}
