//! The kit finds what it is there for: each fault that is planted in a server, and none where there is none.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use klatch_conformance::{Finding, Outcome, Subject, check, summary};
use klatch_record::Class;

/// What waits for something that never comes, waits so long; what comes, comes in time on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(8);

/// A server of `examples/dummy.rs`, killed when dropped.
struct Dummy {
    child: Child,
    address: String,
}

impl Dummy {
    fn start(fault: &str) -> Dummy {
        // Cargo builds the examples of a package with its tests, and puts them beside the folder of the tests.
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
        let subject = Subject { class, pid: Some(self.child.id()), patience: PATIENCE };
        check(&self.address, &subject, |_| ()).unwrap()
    }
}

impl Drop for Dummy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The checks of a dummy that claims class classic fail in `must`, perhaps in `may`, and in nothing else.
fn finds(fault: &str, must: &[&str], may: &[&str]) {
    let findings = Dummy::start(fault).check(Some(Class::Classic));
    let failed: Vec<&Finding> =
        findings.iter().filter(|finding| finding.outcome == Outcome::Failed).collect();
    for name in must {
        assert!(failed.iter().any(|finding| finding.name == *name), "{fault}: {name} has not failed");
    }
    let known = |finding: &&&Finding| must.iter().chain(may).any(|name| finding.name.starts_with(name));
    let others: Vec<_> = failed.iter().filter(|finding| !known(finding)).collect();
    assert!(others.is_empty(), "{fault}: {others:#?}");
    let skipped: Vec<_> =
        findings.iter().filter(|finding| matches!(finding.outcome, Outcome::NotChecked { .. })).collect();
    assert!(skipped.is_empty(), "{fault}: {skipped:#?}");
}

const CLASS: &str = "class: one write per delivery";

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    finds("none", &[], &[]);
}

#[test]
fn an_echo_is_found() {
    let everywhere = ["registration:", "rooms:", "talk:", "leaving:", "errors:", "input:", "load:"];
    finds("echo", &["talk: others only", "talk: order under load"], &everywhere);
}

#[test]
fn disorder_under_load_is_found() {
    let also = ["input: many lines in one segment", "load: slow reader", "load: break in a storm"];
    finds("disorder", &["talk: order under load"], &also);
}

#[test]
fn an_altered_text_is_found() {
    finds("alter", &["talk: others only"], &[]);
}

#[test]
fn two_writes_per_delivery_are_found() {
    finds("split-writes", &[CLASS], &[]);
}

#[test]
fn coalescing_that_claims_to_be_classic_is_found() {
    finds("coalesce", &[CLASS], &[]);
}

#[test]
fn a_lost_quit_is_found() {
    let must = [
        "rooms: names",
        "leaving: QUIT",
        "leaving: half-closed",
        "leaving: reset",
        "input: NUL",
        "load: break in a storm",
    ];
    finds("lose QUIT", &must, &[]);
}

#[test]
fn a_collision_that_nobody_is_told_of_is_found() {
    finds("lose 433", &["registration: nick in use"], &[]);
}

#[test]
fn a_missing_line_of_the_welcome_is_found() {
    finds("lose 001", &["registration: welcome", "registration: CAP"], &[]);
}

#[test]
fn missing_names_are_found() {
    finds("lose 353", &["rooms: join", "rooms: names", "load: 1,000 joins and parts"], &[]);
}

#[test]
fn a_lost_join_is_found() {
    finds("lose JOIN", &["rooms: join", "load: 1,000 joins and parts"], &[]);
}

#[test]
fn errors_that_nobody_is_told_of_are_found() {
    finds("lose 421", &["errors: 421 unknown command"], &[]);
    finds("lose 417", &["input: line of 1,000 bytes", "input: line of 100,000 bytes"], &[]);
}

#[test]
fn a_server_that_does_not_see_the_end_of_input_is_found() {
    // Where a write fails first, the reader of a broken connection gets an end of input.
    let also = ["leaving: reset", "load: break in a storm"];
    finds("deaf-to-half-close", &["leaving: half-closed"], &also);
}

#[test]
fn a_server_that_waits_for_slow_readers_is_found() {
    // What it holds up, it still holds up a while later.
    finds("wait-for-slow-readers", &["load: slow reader"], &["load: break in a storm"]);
}

#[test]
fn what_cannot_be_checked_is_told_and_no_pass() {
    let dummy = Dummy::start("coalesce");
    for (class, reason) in [
        (Some(Class::Open), "class open may put several deliveries into one write"),
        (None, "class and process of a server that Klatch did not start are not known"),
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
fn nobody_there_is_no_finding() {
    let subject = Subject { class: None, pid: None, patience: PATIENCE };
    let error = check("127.0.0.1:1", &subject, |_| ()).unwrap_err().to_string();
    assert!(error.starts_with("nobody answers at 127.0.0.1:1: Connection refused"), "{error}");
}

#[test]
fn a_server_that_dies_fails_what_is_left_soon() {
    let mut dummy = Dummy::start("none");
    let subject = Subject { class: None, pid: None, patience: PATIENCE };
    let address = dummy.address.clone();
    let mut checks = 0;
    let findings = check(&address, &subject, |_| {
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
