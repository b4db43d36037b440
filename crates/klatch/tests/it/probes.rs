//! Probes that need processes of their own, and what all of them print.

use crate::support::{Finished, klatch};

fn probe(arguments: &[&str]) -> Finished {
    let finished = Finished::run(klatch().arg("probe").args(arguments));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    finished
}

#[test]
fn processes_of_hackbench_receive_every_message() {
    for through in [&["--pipe"][..], &[]] {
        let arguments = [&["hackbench", "-g", "2", "-f", "3", "-l", "5", "--json"], through].concat();
        let result: serde_json::Value = serde_json::from_str(&probe(&arguments).out).unwrap();
        assert_eq!((&result["steps"], &result["operation"]), (&90.into(), &"message".into()), "{result}");
        assert_eq!(result["times"]["message"]["count"], 90, "{result}");
        assert_eq!(result["settings"]["tasks_are"], "processes", "{result}");
    }
}

#[test]
fn a_terminal_gets_a_row_for_each_distribution() {
    let schbench = ["schbench", "-t", "2", "-R", "5", "-F", "1", "-n", "1", "-s", "0"];
    let text = probe(&schbench).out;
    assert!(
        text.starts_with("schbench: 10 requests in ") && text.contains("cache footprint kib 1"),
        "{text}"
    );
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("time, µs")).skip(1).collect();
    assert!(rows[0].starts_with("request") && rows[1].starts_with("wakeup"), "{text}");
    assert!(rows.iter().all(|row| row.split_whitespace().nth(1) == Some("10")), "{text}");
}
