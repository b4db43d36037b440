//! The lab's count of both sides of a duet, in the terminal, on the page and in Markdown.

use klatch_record::lab::CountedBy;
use klatch_record::{Duet, ExactCount, ExactRow, WorkloadKind};
use klatch_report::{duet_report, exact, html, markdown};

use crate::support::duet;

fn row(by: CountedBy, routine: &str, kernel: bool, a: u64, b: u64) -> ExactRow {
    ExactRow { by, routine: routine.to_owned(), kernel, a, b }
}

/// A count whose server executes 1.25 times as much on side B.
fn counted(low: f64, high: f64) -> Duet {
    use CountedBy::{Crowd, Others, Server};
    let count = ExactCount {
        kernel: "6.18".to_owned(),
        cpus: 1,
        memory_mb: 2_048,
        seed: 1,
        workload: WorkloadKind::Web.usual(),
        jvm: false,
        a_operations: 2_000,
        b_operations: 1_000,
        routines: vec![
            row(Server, "tcp_sendmsg", true, 10_000_000, 6_000_000),
            row(Server, "format", false, 0, 250_001),
            row(Crowd, "read", true, 8_000_000, 4_004_000),
            row(Server, ExactCount::REST, false, 10_000_000, 6_250_000),
            row(Others, "do_idle", true, 50_000, 25_000),
        ],
    };
    Duet { exact: Some(count), ..duet(["before", "after"], low, high) }
}

#[test]
fn the_terminal_has_totals_routines_and_whether_the_measurement_agrees() {
    let text = exact(&counted(1.2, 1.3)).unwrap();
    let expected = "\
The server of after executes 25.00 % more instructions per request than that of before: 12,500.00 against 10,000.00.
The measured CPU time agrees in sign and size: instructions × 1.250, CPU time × 1.249 (1.200–1.300).

instructions per request     before      after  difference   ratio
server, program            5,000.00   6,500.00   +1,500.00  1.3000
server, kernel             5,000.00   6,000.00   +1,000.00  1.2000
crowd, program                 0.00       0.00       +0.00       –
crowd, kernel              4,000.00   4,004.00       +4.00  1.0010
others                        25.00      25.00       +0.00  1.0000
all                       14,025.00  16,529.00   +2,504.00  1.1785

server by routine, instructions per request    before     after  difference   ratio
tcp_sendmsg [k]                              5,000.00  6,000.00   +1,000.00  1.2000
format                                           0.00    250.00     +250.00       –

Every instruction of 2,000 and 1,000 requests, after all had joined, in an emulated machine: Linux 6.18, 1 CPU, 2,048 MB, seed 1. No caches, \
cycles or concurrency are in it: it counts work, not time.
";
    assert_eq!(text, expected);
}

#[test]
fn a_measurement_that_does_not_agree_is_named() {
    let says = |low, high, words: &str| {
        let text = exact(&counted(low, high)).unwrap();
        assert!(text.contains(words), "{text}");
    };
    says(1.05, 1.1, "agrees in sign, not in size: instructions × 1.250, CPU time × 1.075");
    says(0.7, 0.8, "does not agree: instructions × 1.250, CPU time × 0.748");
    says(0.95, 1.05, "as it shows no difference of this size");
    says(0.9, 1.3, "does not contradict it, and shows no difference");
}

#[test]
fn page_and_markdown_have_the_count_or_why_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let report = duet_report(folder.path(), &counted(1.2, 1.3));
    assert!(html(&report).unwrap().contains("server by routine, instructions per request"));
    let text = markdown(&report);
    assert!(
        text.contains("## Exact count") && text.contains("The server of after executes 25.00 % more"),
        "{text}"
    );
    assert!(text.contains(r"| tcp\_sendmsg \[k\] | 5,000.00 | 6,000.00 | +1,000.00 | 1.2000 |"), "{text}");
    assert!(text.contains("crowd by routine, instructions per request"), "{text}");
    let failed = Duet { exact: None, uncounted: Some("no room".to_owned()), ..counted(1.2, 1.3) };
    assert_eq!(exact(&failed).unwrap(), "no exact count: no room\n");
    assert!(markdown(&duet_report(folder.path(), &failed)).contains("No exact count: no room."));
    assert_eq!(exact(&Duet { uncounted: None, ..failed }), None);
}
