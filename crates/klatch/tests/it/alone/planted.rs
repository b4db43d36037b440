//! A duet shows a planted slow-down, works as a gate, and names planted causes.

use std::path::Path;

use crate::support::planted::wasteful_servers;
use crate::support::{Finished, klatch};
use klatch_record::{Duet, ExplainedRow, ExplainedTime, RatioEstimate};
use klatch_testing::{Need, needs};

/// A duet with `plain` as A, and its exit status.
fn duet(folder: &Path, b: &str, options: &[&str]) -> (Option<i32>, Duet) {
    let mut command = klatch();
    command.args(["duet", "plain", b, "--rooms", "2", "--users", "10", "--slice", "30ms", "--json"]);
    command.args(["--warmup", "300ms"]);
    command.arg("--catalog-a").arg(folder).arg("--catalog-b").arg(folder).args(options);
    let finished = Finished::run(command.arg("--out").arg(folder.join("results")));
    let duet = serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"));
    (finished.status, duet)
}

/// The exit status of a duet with `plain` as A, and the ratio of the server's CPU times.
fn against_plain(folder: &Path, b: &str, options: &[&str]) -> (Option<i32>, Option<RatioEstimate>) {
    let (status, duet) = duet(folder, b, options);
    let metric =
        duet.metrics.into_iter().find(|metric| metric.metric == "server_cpu_us_per_message").unwrap();
    println!("{b}: {:?}, starts {:?}", metric.ratio, metric.starts);
    (status, metric.ratio)
}

/// Tests run on machines whose starts scatter by 15 %, so what is planted is large. What a duet shows on a quiet machine is measured by
/// hand (research/planted).
#[test]
fn a_planted_slow_down_is_shown_and_closes_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    wasteful_servers(folder, "half");
    // A server is not shown to be twice as slow as itself.
    let options = ["--duration", "20s", "--starts", "6", "--fail-if-slower", "100%"];
    let (status, _) = against_plain(folder, "plain", &options);
    assert_ne!(status, Some(1));
    // The gate closes when the whole interval is beyond its limit. A machine that has other speeds in some starts has a wide interval.
    let options = ["--duration", "40s", "--starts", "10", "--fail-if-slower", "0.5%"];
    let closed = (0..3).any(|_| {
        let (status, ratio) = against_plain(folder, "slowed", &options);
        // The write is most of what this server does, and to read the clock costs something too.
        assert!(ratio.is_none_or(|ratio| ratio.estimate < 6.0), "{ratio:?}");
        status == Some(1)
    });
    assert!(closed, "three duets did not show it");
}

#[test]
fn planted_causes_are_named_and_a_server_is_not_blamed_for_being_itself() {
    needs!(Need::Bpf);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let explained = |b: &str| {
        let options = ["--duration", "24s", "--starts", "8", "--explain"];
        let (status, duet) = duet(folder, b, &options);
        assert_eq!((status, duet.unexplained), (Some(0), None));
        let explanation = duet.explanation.expect("an explanation");
        println!("{b}: {explanation:?}");
        (explanation.time.server.expect("of the server"), explanation.counts)
    };
    // The first three that are shown, largest first.
    let named = |rows: &[ExplainedRow]| -> Vec<String> {
        rows.iter().filter(|row| row.is_shown).take(3).map(|row| row.name.clone()).collect()
    };
    // A machine that has other speeds in some starts hides what others show.
    let found = |cause: &str, is_named: &dyn Fn(&ExplainedTime) -> bool| {
        wasteful_servers(folder, cause);
        (0..3)
            .map(|_| explained("slowed"))
            .find(|(time, _)| is_named(time))
            .unwrap_or_else(|| panic!("{cause} was not found"))
    };
    let (time, counts) =
        found("call", &|time| named(&time.calls).first().is_some_and(|name| name == "getpeername"));
    let row = &time.calls[0];
    assert!(row.low_us > 0.0 && row.a_us == 0.0, "{row:?}");
    // Twenty for each of the nine deliveries in ten messages.
    let count = counts.iter().find(|count| count.name == "calls of getpeername").expect("they are counted");
    assert!(count.a == 0.0 && (16.0..20.0).contains(&count.b), "{count:?}");
    // Each list has the whole difference.
    let sum = |rows: &[ExplainedRow]| rows.iter().map(|row| row.difference_us).sum::<f64>();
    let [areas, calls, purposes, routines] =
        [&time.areas, &time.calls, &time.purposes, &time.routines].map(|rows| sum(rows));
    assert!((areas - calls).abs() < 1e-6 && (areas - routines).abs() < 1e-6, "{areas} {calls} {routines}");
    assert!((calls - purposes).abs() < 1e-6, "{calls} {purposes}");
    // Numbers are formatted by the standard library.
    let is_text = |time: &ExplainedTime| {
        named(&time.areas).contains(&"program".to_owned())
            && named(&time.routines).iter().any(|name| name.contains("core::"))
    };
    found("text", &is_text);
    let (time, _) = explained("plain");
    for rows in [&time.areas, &time.calls, &time.purposes, &time.routines] {
        assert!(named(rows).len() <= 1, "{rows:?}");
    }
}
