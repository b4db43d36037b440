//! Text of others is printed so that it cannot control a terminal: that of servers, catalogs, study files and records.

use std::path::Path;
use std::process::Command;

use crate::support::hostile::{Attack, Carrier, HostileServer};
use crate::support::{Finished, klatch, run_once};
use klatch_record::samples::record;

/// A title, a bell, a cleared screen by each kind of control, an override of the direction, and a line that begins anew.
const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}2J\u{202e}gpj\r";

/// What is in place of its beginning. A Java crowd takes each byte for a character.
const SHOWN: &str = "\\u001b]0;title\\u0007\\u001b[2J";
/// What is in place of the whole.
const SHOWN_WHOLE: &str = "\\u001b]0;title\\u0007\\u001b[2J\\u009b2J\\u202egpj";

fn is_harmless(text: &str) -> bool {
    text.chars().all(|letter| {
        let is_bidi = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        !is_bidi && (!letter.is_control() || letter == '\n' || letter == '\t')
    })
}

/// Runs the command, which must print the text, and nothing that controls a terminal.
fn shows(command: &mut Command) -> Finished {
    let finished = Finished::run(command);
    let printed = finished.out.clone() + &finished.err;
    assert!(is_harmless(&printed), "{command:?}: {printed:?}");
    assert!(printed.contains(SHOWN), "{command:?}: {printed}");
    finished
}

#[test]
fn replies_of_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = format!(":s 433 * x :{HOSTILE}\n").into_bytes();
    for crowd in ["native", "native-threads", "java"] {
        let server = HostileServer {
            carrier: Carrier::default(),
            join: Vec::new(),
            spared: 0,
            attack: Attack::Once(refusal.clone()),
        };
        let target = format!("irc://{}", server.start(folder.path()));
        let mut run = klatch();
        run.args([
            "run",
            "--target",
            &target,
            "--crowd",
            crowd,
            "--warmups",
            "0",
            "--trials",
            "1",
            "--timeout",
            "2",
        ]);
        run.args(["--rooms", "1", "--users", "2", "--count", "5", "--out"]).arg(folder.path());
        shows(&mut run);
    }
}

#[test]
fn a_catalog_and_the_standard_error_of_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let quoted = serde_json::to_string(HOSTILE).unwrap();
    let script = format!("printf '%s\\n' '{HOSTILE}' >&2; exit 1");
    let file = folder.path().join("noisy.toml");
    let text = format!(
        "name = \"noisy\"\nsummary = {quoted}\nclass = \"classic\"\nprotocol = \"irc\"\n\
         command = [\"sh\", \"-c\", {}, \"{{address}}\"]\n",
        serde_json::to_string(&script).unwrap()
    );
    std::fs::write(&file, text).unwrap();
    shows(klatch().arg("platforms").arg("--catalog").arg(folder.path()));
    let mut run = run_once(&folder.path().join("out"), &["--platform", "noisy", "--catalog"]);
    let finished = shows(run.arg(folder.path()));
    assert_eq!(finished.status, Some(2), "{finished:?}");
}

#[test]
fn a_file_of_a_study() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("study.toml");
    let quoted = serde_json::to_string(HOSTILE).unwrap();
    let right = format!(
        "question = {quoted}\nplatforms = ['native-epoll']\n[workload]\nrooms = 1\nusers = 5\ncount = 20\n"
    );
    // TOML has no raw controls.
    let wrong = format!("question = '{HOSTILE}'\n");
    let plan = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let mut plan = klatch();
        plan.arg("study").arg(&file).args(["--dry-run", "--out"]).arg(folder.path().join("out"));
        plan
    };
    assert!(shows(&mut plan(&right)).out.contains(SHOWN_WHOLE));
    let refused = Finished::run(&mut plan(&wrong));
    assert!(refused.status == Some(2) && is_harmless(&refused.err), "{refused:?}");
}

#[test]
fn records_as_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let mut hostile = record(1, 1, 100_000.0);
    hostile.platform.name = HOSTILE.to_owned();
    let file = folder.path().join("trial-1.json");
    std::fs::write(&file, serde_json::to_string(&hostile).unwrap()).unwrap();
    for format in ["md", "csv", "json"] {
        shows(klatch().arg("report").arg(&file).args(["--format", format]));
        let out = folder.path().join(format);
        Finished::run(klatch().arg("report").arg(&file).args(["--format", format, "--out"]).arg(&out));
        let text = std::fs::read_to_string(&out).unwrap();
        assert!(is_harmless(&text) && text.contains(SHOWN_WHOLE), "{format}: {text}");
        if format == "json" {
            let report: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(report.to_string().contains("title\\u0007"), "{report}");
        }
    }
    // The page has scripts with hashes, and shows text by elements.
    let page = Finished::run(klatch().arg("report").arg(&file).args(["--format", "html", "--out", "-"]));
    let saved = folder.path().join("page.html");
    Finished::run(klatch().arg("report").arg(&file).args(["--format", "html", "--out"]).arg(&saved));
    assert_eq!(page.out, std::fs::read_to_string(&saved).unwrap());
}

/// The name of a thread in a trace.
#[test]
fn names_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (text, trace) = (folder.path().join("perf.txt"), folder.path().join("perf.trace"));
    let name = &HOSTILE[..HOSTILE.len() - 1];
    let script = format!(
        "x 7 [000] 1.000001: sched:sched_switch: x:7 [120] S ==> {name}:8 [120]\n\
         y 8 [000] 1.000002: sched:sched_switch: {name}:8 [120] S ==> x:7 [120]\n"
    );
    std::fs::write(&text, script).unwrap();
    let imported = Finished::run(klatch().args(["trace", "import"]).args([&text, &trace]));
    assert_eq!(imported.status, Some(0), "{imported:?}");
    for action in ["show", "summary"] {
        shows(klatch().args(["trace", action]).arg(&trace));
    }
}

#[test]
fn paths() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(HOSTILE);
    let missing = shows(klatch().arg("report").arg(Path::new(&file)));
    assert_eq!(missing.status, Some(2), "{missing:?}");
}
