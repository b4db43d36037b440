//! The kit detects each fault that is planted in a server, and reports none in a correct server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
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

const CLASS: &str = "class: one write per delivery";
/// All groups of checks but the class: an echo breaks any of them.
const EVERYWHERE: &[&str] = &["registration:", "rooms:", "talk:", "leaving:", "errors:", "input:", "load:"];

/// A fault, the checks that must fail under it, and those that may.
type Planted = (&'static str, &'static [&'static str], &'static [&'static str]);

/// All in servers that declare class classic.
const PLANTED: [Planted; 15] = [
    ("none", &[], &[]),
    ("echo", &["talk: others only", "talk: order under load"], EVERYWHERE),
    (
        "reorder",
        &["talk: order under load"],
        &["input: many lines in one segment", "load: slow reader", "load: break in a storm"],
    ),
    ("corrupt", &["talk: others only"], &[]),
    ("split-writes", &[CLASS], &[]),
    ("coalesce", &[CLASS], &[]),
    (
        "drop QUIT",
        &[
            "rooms: names",
            "leaving: QUIT",
            "leaving: half-closed",
            "leaving: reset",
            "input: NUL",
            "load: break in a storm",
        ],
        &[],
    ),
    // The numeric of a nick in use.
    ("drop 433", &["registration: nick in use"], &[]),
    ("drop 001", &["registration: welcome", "registration: CAP"], &[]),
    ("drop 353", &["rooms: join", "rooms: names", "load: 1,000 joins and parts"], &[]),
    ("drop JOIN", &["rooms: join", "load: 1,000 joins and parts"], &[]),
    ("drop 421", &["errors: 421 unknown command"], &[]),
    ("drop 417", &["input: line of 1,000 bytes", "input: line of 100,000 bytes"], &[]),
    // If a write fails first, the reader of a broken connection gets an end of input.
    ("ignore-half-close", &["leaving: half-closed"], &["leaving: reset", "load: break in a storm"]),
    // Deliveries may still be delayed for a while afterwards.
    ("wait-for-slow-readers", &["load: slow reader"], &["load: break in a storm"]),
];

/// Where the checks of a server with a fault are not as expected.
fn wrong((fault, must, may): Planted) -> Vec<String> {
    let findings = Dummy::start(fault).check(Some(Class::Classic));
    let missed = must
        .iter()
        .filter(|name| !findings.iter().any(|one| one.name == **name && one.outcome == Outcome::Failed));
    let missed = missed.map(|name| format!("{fault}: {name} has not failed"));
    let is_listed = |finding: &&Finding| must.iter().chain(may).any(|name| finding.name.starts_with(name));
    let others = findings.iter().filter(|finding| match finding.outcome {
        Outcome::Passed => false,
        Outcome::Failed => !is_listed(finding),
        Outcome::NotChecked { .. } => true,
    });
    missed.chain(others.map(|finding| format!("{fault}: {finding:#?}"))).collect()
}

#[test]
fn each_planted_fault_is_detected_and_a_correct_server_has_none() {
    let cases = Mutex::new(PLANTED.into_iter());
    let next = || cases.lock().unwrap().next();
    // Most of the time each waits for a line that never arrives.
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers =
            [(); 4].map(|()| scope.spawn(|| std::iter::from_fn(next).flat_map(wrong).collect::<Vec<_>>()));
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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

#[test]
fn a_server_of_another_protocol_is_asked_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            let _ = client.shutdown(Shutdown::Write);
            let _ = client.read_to_end(&mut Vec::new());
        }
    });
    let subject = Subject { class: None, pid: None, answer_timeout: ANSWER_TIMEOUT };
    let findings = check(&address, &subject, |_, _| ()).unwrap();
    assert_eq!(findings[0].outcome, Outcome::Failed);
    let seen = findings[0].seen.as_deref().unwrap();
    assert!(seen.ends_with("the last line was `HTTP/1.1 400 Bad Request`"), "{seen}");
    let is_left_out = |finding: &Finding| matches!(&finding.outcome, Outcome::NotChecked { reason } if reason.contains("welcomes no user"));
    assert!(findings.len() > 30 && findings[1..].iter().all(is_left_out), "{findings:#?}");
}
