//! `klatch conformance` passes a correct server, detects one that claims the wrong class, and reports what it could not check.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Finished, NativeServer, carrying, children_of, klatch, least, listed, two_at_a_time};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn conformance(arguments: &[&str]) -> Finished {
    Finished::run(klatch().arg("conformance").args(arguments))
}

/// Names of the checks with this outcome.
fn with_outcome<'a>(findings: &'a Value, outcome: &str) -> Vec<&'a str> {
    let findings = findings.as_array().expect("an array").iter();
    findings
        .filter(|finding| finding["outcome"] == outcome)
        .map(|finding| finding["name"].as_str().expect("a name"))
        .collect()
}

/// Third-party servers: their faults are not ours to fix.
const PEERS: [&str; 3] = ["ergo", "inspircd", "ngircd"];

#[test]
fn every_own_server_passes_all_checks() {
    let ours = listed().into_iter().filter(|(platform, _)| {
        let plain = has_transport(platform, "plain");
        platform["protocol"] == "irc" && plain && !PEERS.iter().any(|peer| platform["name"] == *peer)
    });
    let ours: Vec<(String, bool)> = ours
        .flat_map(|(platform, ways)| ways.into_iter().map(move |way| (way, platform["class"] == "classic")))
        .collect();
    assert!(ours.iter().any(|(way, classic)| way == "native-epoll" && *classic), "{ours:?}");
    two_at_a_time(&ours, |(way, classic)| passes_all(way, *classic));
}

#[test]
fn every_server_of_web_and_rr_passes_all_checks() {
    for (workload, checks) in [("rr", 5), ("web", 17)] {
        let ways = carrying(workload).concat();
        let passed = AtomicUsize::new(0);
        two_at_a_time(&ways, |way| {
            let finished = conformance(&[way, "--workload", workload, "--json", "--timeout", "30"]);
            let findings: Value =
                serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{way}: {finished:?}"));
            assert_eq!(with_outcome(&findings, "failed"), [""; 0], "{way}: {}", finished.out);
            assert_eq!(finished.status, Some(0), "{way}: {}", finished.err);
            let all = usize::from(with_outcome(&findings, "passed").len() >= checks);
            passed.fetch_add(all, Ordering::Relaxed);
        });
        let passed = passed.into_inner();
        assert!(passed >= least(4, 2), "only {passed} servers of {workload} passed {checks} checks");
    }
}

fn has_transport(platform: &Value, name: &str) -> bool {
    platform["transports"]["chat"].as_array().is_some_and(|all| all.contains(&name.into()))
}

#[test]
fn every_server_over_websocket_passes_all_checks() {
    let mut checked = 0;
    for (platform, ways) in listed() {
        let peer = PEERS.iter().any(|peer| platform["name"] == *peer);
        if peer || platform["protocol"] != "irc" || !has_transport(&platform, "ws") {
            continue;
        }
        for way in &ways {
            let finished = conformance(&[way, "--transport", "ws", "--json", "--timeout", "30"]);
            let findings: Value =
                serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{way}: {finished:?}"));
            assert_eq!(with_outcome(&findings, "failed"), [""; 0], "{way}: {}", finished.out);
            // Only the write calls of class classic are counted.
            let counted = usize::from(platform["class"] == "classic");
            assert_eq!(with_outcome(&findings, "passed").len(), 13 + counted, "{way}: {}", finished.out);
            assert_eq!(finished.status, Some(0), "{way}: {finished:?}");
            checked += 1;
        }
    }
    assert!(checked >= least(10, 5), "only {checked} servers were checked");
}

#[test]
fn a_running_websocket_is_checked_and_one_over_tls_is_refused() {
    let server = NativeServer::start_with(&["--transport", "ws"]);
    let finished = conformance(&[&format!("ws://{}", server.address)]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.out.contains("violation: no mask"), "{}", finished.out);
    let plain = NativeServer::start();
    let finished = conformance(&[&format!("ws://{}", plain.address), "--timeout", "1"]);
    assert_eq!(finished.status, Some(1), "{finished:?}");
    let finished = conformance(&[&format!("wss://{}", server.address)]);
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("the kit has no checks for transport wss"), "{}", finished.err);
}

fn passes_all(way: &str, classic: bool) {
    let finished = conformance(&[way, "--json", "--timeout", "30"]);
    let findings: Value =
        serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{way}: {finished:?}"));
    assert_eq!(with_outcome(&findings, "failed"), [""; 0], "{way}: {}", finished.out);
    let unchecked: &[&str] = if classic { &[] } else { &["class: one write per delivery"] };
    assert_eq!(with_outcome(&findings, "not_checked"), unchecked, "{way}: {}", finished.out);
    assert!(with_outcome(&findings, "passed").len() >= 30, "{way}: {}", finished.out);
    assert_eq!(finished.status, Some(0), "{way}: {}", finished.err);
}

#[test]
fn a_coalescing_server_of_class_classic_fails() {
    let catalog = tempfile::tempdir().unwrap();
    let entry = "name = 'liar'\nsummary = 'coalesces, and declares classic'\nclass = 'classic'\nprotocol = 'irc'\n\
        ready = 'accepts'\ncommand = ['{klatch}', 'serve', '--listen', '{address}', '--coalesce']\n";
    std::fs::write(catalog.path().join("liar.toml"), entry).unwrap();
    let finished = conformance(&["liar", "--catalog", catalog.path().to_str().unwrap()]);
    assert_eq!(finished.status, Some(1), "{finished:?}");
    assert!(finished.out.contains("FAILED must    class: one write per delivery\n"), "{}", finished.out);
    assert!(finished.out.contains(" write calls for 450 deliveries\n"), "{}", finished.out);
    assert!(
        finished.out.ends_with(" passed, 1 failed (1 that a score counts on), 0 not checked\n"),
        "{}",
        finished.out
    );
}

#[test]
fn a_running_server_is_checked_except_for_its_class() {
    let server = NativeServer::start();
    let finished = conformance(&[&format!("irc://{}", server.address)]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let summary = finished.out.lines().last().unwrap();
    assert!(
        summary.contains(" passed, 0 failed, 1 not checked (the class and the process of a server"),
        "{summary}"
    );
}

#[test]
fn a_server_that_repeats_the_request_as_it_is_answers_no_request() {
    let server = NativeServer::start_with(&["--workload", "rr"]);
    for target in [format!("redis://{}", server.address), format!("http://{}", server.address)] {
        let finished = conformance(&[&target, "--workload", "rr", "--timeout", "1"]);
        assert_eq!(finished.status, Some(1), "{finished:?}");
        assert!(finished.out.contains("FAILED must    requests: sizes\n"), "{}", finished.out);
        assert!(
            finished.out.ends_with("0 passed, 5 failed (5 that a score counts on), 0 not checked\n"),
            "{}",
            finished.out
        );
    }
}

#[test]
fn a_check_that_cannot_run_gives_the_reason() {
    let cases = [
        ("irc://127.0.0.1:1", "no server answers at 127.0.0.1:1: Connection refused"),
        ("nats://127.0.0.1:4222", "nats://127.0.0.1:4222 uses nats, for which the kit has no checks"),
        ("redis", "redis uses redis, for which the kit has no checks in workload chat"),
        ("irc://nowhere", "irc://nowhere has no port, as in irc://127.0.0.1:6667"),
        ("native-fibers", "no platform is named native-fibers"),
    ];
    for (target, why) in cases {
        let finished = conformance(&[target]);
        assert_eq!((finished.status, finished.out.as_str()), (Some(2), ""), "{finished:?}");
        assert!(finished.err.contains(why), "{finished:?}");
    }
}

#[test]
fn an_interrupt_leaves_nothing_running() {
    let mut command = klatch();
    let mut child = command.args(["conformance", "native-epoll"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut rows = BufReader::new(child.stdout.take().unwrap());
    rows.read_line(&mut String::new()).unwrap();
    let children = children_of(child.id());
    assert!(!children.is_empty(), "the server runs");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for (pid, command) in children {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{command} still runs");
    }
}
