//! The kit detects each fault that is planted in a server, and reports none in a correct server.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use klatch_conformance::{Finding, Outcome, Subject, check, summary};
use klatch_record::Class;

/// The time that a check waits for a line that never arrives. Lines that do arrive are faster, even on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(8);

/// A server of `examples/dummy.rs`, killed when dropped.
struct Dummy {
    child: Child,
    address: String,
}

impl Dummy {
    fn start(fault: &str) -> Dummy {
        // Cargo puts a package's examples beside the directory of its tests.
        let tests = std::env::current_exe().unwrap();
        let program = tests.ancestors().nth(2).unwrap().join("examples/dummy");
        let mut child = Command::new(&program)
            .args(fault.split(' '))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim_end().strip_prefix("port ").expect("its port");
        Dummy { child, address: format!("127.0.0.1:{port}") }
    }

    fn check(&self, class: Option<Class>) -> Vec<Finding> {
        let subject = Subject { class, pid: Some(self.child.id()), answer_timeout: ANSWER_TIMEOUT };
        check(&self.address, &subject, |_, _| ()).unwrap()
    }
}

impl Drop for Dummy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The checks of a dummy that declares class classic fail in `must`, may fail in `may`, and pass otherwise.
fn check_fails_in(fault: &str, must: &[&str], may: &[&str]) {
    let findings = Dummy::start(fault).check(Some(Class::Classic));
    let failed: Vec<&Finding> =
        findings.iter().filter(|finding| finding.outcome == Outcome::Failed).collect();
    for name in must {
        assert!(failed.iter().any(|finding| finding.name == *name), "{fault}: {name} has not failed");
    }
    let listed = |finding: &&&Finding| must.iter().chain(may).any(|name| finding.name.starts_with(name));
    let others: Vec<_> = failed.iter().filter(|finding| !listed(finding)).collect();
    assert!(others.is_empty(), "{fault}: {others:#?}");
    let skipped: Vec<_> =
        findings.iter().filter(|finding| matches!(finding.outcome, Outcome::NotChecked { .. })).collect();
    assert!(skipped.is_empty(), "{fault}: {skipped:#?}");
}

const CLASS: &str = "class: one write per delivery";

#[test]
fn a_correct_server_passes_all_checks() {
    check_fails_in("none", &[], &[]);
}

#[test]
fn an_echo_is_detected() {
    let everywhere = ["registration:", "rooms:", "talk:", "leaving:", "errors:", "input:", "load:"];
    check_fails_in("echo", &["talk: others only", "talk: order under load"], &everywhere);
}

#[test]
fn reordering_under_load_is_detected() {
    let also = ["input: many lines in one segment", "load: slow reader", "load: break in a storm"];
    check_fails_in("reorder", &["talk: order under load"], &also);
}

#[test]
fn a_corrupted_text_is_detected() {
    check_fails_in("corrupt", &["talk: others only"], &[]);
}

#[test]
fn two_writes_per_delivery_are_detected() {
    check_fails_in("split-writes", &[CLASS], &[]);
}

#[test]
fn coalescing_in_class_classic_is_detected() {
    check_fails_in("coalesce", &[CLASS], &[]);
}

#[test]
fn a_lost_quit_is_detected() {
    let must = [
        "rooms: names",
        "leaving: QUIT",
        "leaving: half-closed",
        "leaving: reset",
        "input: NUL",
        "load: break in a storm",
    ];
    check_fails_in("drop QUIT", &must, &[]);
}

#[test]
fn an_unreported_nick_collision_is_detected() {
    check_fails_in("drop 433", &["registration: nick in use"], &[]);
}

#[test]
fn a_missing_line_of_the_welcome_is_detected() {
    check_fails_in("drop 001", &["registration: welcome", "registration: CAP"], &[]);
}

#[test]
fn missing_names_are_detected() {
    check_fails_in("drop 353", &["rooms: join", "rooms: names", "load: 1,000 joins and parts"], &[]);
}

#[test]
fn a_lost_join_is_detected() {
    check_fails_in("drop JOIN", &["rooms: join", "load: 1,000 joins and parts"], &[]);
}

#[test]
fn missing_error_numerics_are_detected() {
    check_fails_in("drop 421", &["errors: 421 unknown command"], &[]);
    check_fails_in("drop 417", &["input: line of 1,000 bytes", "input: line of 100,000 bytes"], &[]);
}

#[test]
fn a_server_that_ignores_the_end_of_input_is_detected() {
    // If a write fails first, the reader of a broken connection gets an end of input.
    let also = ["leaving: reset", "load: break in a storm"];
    check_fails_in("ignore-half-close", &["leaving: half-closed"], &also);
}

#[test]
fn a_server_that_waits_for_slow_readers_is_detected() {
    // Deliveries may still be delayed for a while afterwards.
    check_fails_in("wait-for-slow-readers", &["load: slow reader"], &["load: break in a storm"]);
}

#[test]
fn a_check_that_cannot_run_is_reported_and_not_passed() {
    let dummy = Dummy::start("coalesce");
    for (class, reason) in [
        (Some(Class::Open), "class open may combine several deliveries in one write"),
        (None, "the class and the process of a server that Klatch did not start are unknown"),
    ] {
        let findings = dummy.check(class);
        let last = findings.last().unwrap();
        assert_eq!((last.name.as_str(), &last.seen), (CLASS, &None));
        assert_eq!(last.outcome, Outcome::NotChecked { reason: reason.into() });
        let count = findings.len() - 1;
        assert_eq!(summary(&findings), format!("{count} passed, 0 failed, 1 not checked ({reason})"));
    }
}

#[test]
fn an_unreachable_server_is_an_error() {
    let subject = Subject { class: None, pid: None, answer_timeout: ANSWER_TIMEOUT };
    let error = check("127.0.0.1:1", &subject, |_, _| ()).unwrap_err().to_string();
    assert!(error.starts_with("no server answers at 127.0.0.1:1: Connection refused"), "{error}");
}

#[test]
fn a_server_that_dies_fails_the_remaining_checks_quickly() {
    let mut dummy = Dummy::start("none");
    let subject = Subject { class: None, pid: None, answer_timeout: ANSWER_TIMEOUT };
    let address = dummy.address.clone();
    let mut checks = 0;
    let findings = check(&address, &subject, |_, _| {
        checks += 1;
        if checks == 5 {
            dummy.child.kill().unwrap();
            dummy.child.wait().unwrap();
        }
    });
    let findings = findings.unwrap();
    let passed = findings.iter().take_while(|finding| finding.outcome == Outcome::Passed).count();
    assert_eq!(passed, 5);
    let rest = &findings[5..findings.len() - 1];
    assert!(rest.iter().all(|finding| finding.outcome == Outcome::Failed), "{rest:#?}");
    assert!(rest[0].seen.as_ref().unwrap().starts_with("no connection: "), "{:?}", rest[0]);
}
