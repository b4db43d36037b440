//! Why the sides of a duet differ, in the terminal, on the page and in Markdown.

use klatch_record::observed::Sides;
use klatch_record::{
    Duet, ExplainedCount, ExplainedProcess, ExplainedRow, ExplainedTime, Explanation, RatioEstimate,
};
use klatch_report::{duet_report, html, markdown, why};

use crate::support::duet;

fn row(name: &str, a_us: f64, b_us: f64, is_shown: bool) -> ExplainedRow {
    let difference_us = b_us - a_us;
    let (low_us, high_us) = (difference_us - 0.05, difference_us + 0.05);
    ExplainedRow {
        name: name.to_owned(),
        a_us,
        b_us,
        difference_us,
        low_us,
        high_us,
        shows_us: 0.08,
        is_shown,
    }
}

fn explained() -> Duet {
    let ratio = RatioEstimate { estimate: 3.2, low: 3.1, high: 3.3, smallest_difference: 0.02 };
    let time = ExplainedTime {
        areas: vec![row("network", 2.0, 2.9, true), row("program", 1.0, 1.01, false)],
        calls: vec![row("write", 2.0, 2.9, true), row("program", 1.0, 1.01, false)],
        purposes: vec![row("sending", 2.0, 2.9, true), row("program", 1.0, 1.01, false)],
        routines: vec![row("tcp_sendmsg_[k]", 0.4, 1.0, true), row("all others", 2.6, 2.91, false)],
    };
    let count = ExplainedCount {
        by: ExplainedProcess::Server,
        name: "calls of write".to_owned(),
        a: 0.31,
        b: 1.0,
        ratio: Some(ratio),
        is_shown: true,
    };
    let explanation = Explanation {
        frequency_hz: 499,
        samples: 12_345,
        starts: 10,
        cost_share: Some(0.006),
        time: Sides { server: Some(time), crowd: None },
        counts: vec![count],
    };
    Duet { explanation: Some(explanation), ..duet(["before", "after"], 1.2, 1.3) }
}

#[test]
fn the_terminal_says_how_much_more_where_and_how_often() {
    let text = why(&explained()).unwrap();
    let expected = "\
after needs 0.91 µs more server CPU per request than before: 3.91 against 3.00 µs.
0.90 µs more is in write and below (0.85–0.95 µs); after makes 1.00 calls of write per request, before 0.31.
By area, 0.90 µs more is network (0.85–0.95 µs), 0.60 µs more in routine tcp_sendmsg_[k] alone (0.55–0.65 µs).

server by area, µs per request  before  after  difference        interval
network                           2.00   2.90       +0.90  +0.85 to +0.95

server by system call, µs per request  before  after  difference        interval
write                                    2.00   2.90       +0.90  +0.85 to +0.95

server by routine, µs per request  before  after  difference        interval
tcp_sendmsg_[k]                      0.40   1.00       +0.60  +0.55 to +0.65

counts per request      before  after  ratio      interval
server: calls of write    0.31   1.00   3.20  3.10 to 3.30

12,345 samples at 499 Hz in 10 starts, for 0.6 % of the CPU time of servers and crowds; a row is shown if it is more than chance among all \
that were looked at
";
    assert_eq!(text, expected);
}

#[test]
fn without_evidence_it_says_what_would_show() {
    let mut duet = explained();
    let time = duet.explanation.as_mut().and_then(|one| one.time.server.as_mut()).unwrap();
    let lists = [&mut time.areas, &mut time.calls, &mut time.purposes, &mut time.routines];
    for row in lists.into_iter().flatten() {
        row.is_shown = false;
    }
    let text = why(&duet).unwrap();
    let said = "No area, system call or routine of the server differs; half of the areas would show 0.08 µs per request or more.";
    assert!(text.starts_with(said), "{text}");
    let refused = Duet { explanation: None, unexplained: Some("no BPF".to_owned()), ..duet };
    assert_eq!(why(&refused).unwrap(), "no explanation: no BPF\n");
    assert_eq!(why(&Duet { unexplained: None, ..refused }), None);
}

#[test]
fn a_call_is_named_though_the_program_itself_differs_more() {
    let mut duet = explained();
    let time = duet.explanation.as_mut().and_then(|one| one.time.server.as_mut()).unwrap();
    time.calls[1] = row("program", 1.0, 3.0, true);
    time.purposes[1] = row("program", 1.0, 3.0, true);
    let text = why(&duet).unwrap();
    assert!(text.contains("\n0.90 µs more is in write and below"), "{text}");
}

#[test]
fn sides_that_send_by_other_calls_differ_by_what_is_left() {
    let mut duet = explained();
    let explanation = duet.explanation.as_mut().unwrap();
    let time = explanation.time.server.as_mut().unwrap();
    time.calls = vec![row("write", 0.0, 2.9, true), row("sendto", 2.0, 0.0, true)];
    let of_write = &mut explanation.counts[0];
    (of_write.a, of_write.ratio) = (0.0, None);
    let of_sendto =
        ExplainedCount { name: "calls of sendto".to_owned(), a: 0.31, b: 0.0, ..of_write.clone() };
    explanation.counts.push(of_sendto);
    let text = why(&duet).unwrap();
    let said = "\n0.90 µs more is in sending (write, sendto) and below (0.85–0.95 µs); \
                after makes 1.00 such calls per request, before 0.31.\n";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("server by purpose of system calls, µs per request"), "{text}");
}

#[test]
fn a_part_that_differs_is_not_said_of_the_whole() {
    let explanation = explained().explanation;
    let text = why(&Duet { explanation, ..duet(["before", "after"], 0.98, 1.02) }).unwrap();
    let said = "\
before and after show no difference in server CPU per request as a whole (3.00 and 3.91 µs), but in parts.
0.90 µs more is in write and below (0.85–0.95 µs); after makes 1.00 calls of write per request, before 0.31.
";
    assert!(text.starts_with(said), "{text}");
}

#[test]
fn page_and_markdown_have_all_rows_and_the_flame_graph_of_the_difference() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.folded"), "server;x;write_[k] 200\nserver;x;f 100\n").unwrap();
    std::fs::write(folder.path().join("b.folded"), "server;x;write_[k] 290\nserver;x;f 101\n").unwrap();
    let report = duet_report(folder.path(), &explained());
    let section = report.sections.iter().find(|section| section.id == "why").unwrap();
    assert!(section.tables[0].rows.iter().any(|row| row[0] == "program"), "rows without evidence, too");
    // 3,000 ns of A and 3,910 of B, of which write has 2,000 and 2,900.
    let root = &section.flames[0].root;
    assert_eq!((root.samples, root.difference), (3_455, Some(910)));
    let write = &root.calls[0].calls[0].calls[0];
    assert_eq!((write.name.as_str(), write.samples, write.difference), ("write_[k]", 2_450, Some(900)));
    let page = html(&report).unwrap();
    assert!(
        page.contains("server by system call, µs per request") && page.contains("red takes more in after")
    );
    let text = markdown(&report);
    assert!(text.contains("| write | +0.90 | +0.85 to +0.95 | yes | 2.00 | 2.90 |"), "{text}");
}

#[test]
fn the_terminal_is_as_it_was_at_three_widths() {
    let duet = explained();
    insta::assert_snapshot!("why.txt", crate::terminal::at_widths(|| why(&duet).unwrap()));
}
