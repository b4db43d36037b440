//! A duet shows a planted slow-down of 5 %, works as a gate, and names planted causes.

use std::path::Path;

use crate::support::{Finished, klatch};
use klatch_record::{Duet, ExplainedRow, RatioEstimate};
use klatch_testing::{Need, needs};

/// The planted slow-down, as a fraction of the server's CPU time.
const PLANTED: f64 = 0.05;

/// A catalog of two servers, of which one wastes CPU time on each delivery.
fn catalog(folder: &Path, cause: &str) {
    let server = Path::new(env!("CARGO_BIN_EXE_klatch")).with_file_name("examples").join("slow_server");
    assert!(
        server.is_file(),
        "{} is missing; `cargo build --example slow_server` builds it",
        server.display()
    );
    for (name, cause) in [("plain", "0"), ("slowed", cause)] {
        let text = format!(
            "name = '{name}'\nsummary = 'wastes {cause}'\nclass = 'classic'\nprotocol = 'irc'\n\
             command = ['{}', '{{address}}', '{cause}']\n",
            server.display()
        );
        std::fs::write(folder.join(format!("{name}.toml")), text).unwrap();
    }
}

/// A duet with `plain` as A, and its exit status.
fn duet(folder: &Path, b: &str, options: &[&str]) -> (Option<i32>, Duet) {
    let mut command = klatch();
    command.args(["duet", "plain", b, "--rooms", "2", "--users", "10", "--slice", "30ms", "--json"]);
    command.arg("--catalog-a").arg(folder).arg("--catalog-b").arg(folder).args(options);
    let finished = Finished::run(command.arg("--out").arg(folder.join("results")));
    let duet = serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"));
    (finished.status, duet)
}

/// The exit status of a duet with `plain` as A, the ratio of a metric, and A's mean.
fn against_plain(folder: &Path, b: &str, options: &[&str]) -> (Option<i32>, RatioEstimate, f64) {
    let (status, duet) = duet(folder, b, options);
    let metric =
        duet.metrics.into_iter().find(|metric| metric.metric == "server_cpu_us_per_message").unwrap();
    println!("{b}: {:?}, starts {:?}", metric.ratio, metric.starts);
    (status, metric.ratio.unwrap(), metric.a.unwrap())
}

#[test]
fn a_planted_slow_down_of_five_per_cent_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Derive 5 % from the cost of a message on this machine. A server is not slower than itself by half.
    catalog(folder, "0");
    let (status, _, us_per_message) =
        against_plain(folder, "plain", &["--duration", "20s", "--starts", "3", "--fail-if-slower", "50%"]);
    assert_eq!(status, Some(0));
    // In a room of ten users, nine receive each message: nine deliveries per ten messages in total.
    let burn_ns = (us_per_message * 10.0 / 9.0 * PLANTED * 1e3).round();
    catalog(folder, &burn_ns.to_string());
    let (status, ratio, _) =
        against_plain(folder, "slowed", &["--duration", "60s", "--starts", "20", "--fail-if-slower", "0.5%"]);
    assert!(ratio.low > 1.0, "{ratio:?}");
    assert!(ratio.low < 1.0 + PLANTED * 1.5 && ratio.high > 1.0 + PLANTED / 2.0, "{ratio:?}");
    // The gate closes when the whole interval is beyond its limit.
    assert_eq!(status, Some(i32::from(ratio.low > 1.005)));
}

#[test]
fn planted_causes_are_named_and_a_server_is_not_blamed_for_being_itself() {
    needs!(Need::Bpf);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let explained = |b: &str| {
        let options = ["--duration", "20s", "--starts", "8", "--warmup", "300ms", "--explain"];
        let (status, duet) = duet(folder, b, &options);
        assert_eq!((status, duet.unexplained), (Some(0), None));
        let time = duet.explanation.expect("an explanation").time.server.expect("of the server");
        println!("{b}: {time:?}");
        time
    };
    // The first three that are shown, largest first.
    let named = |rows: &[ExplainedRow]| -> Vec<String> {
        rows.iter().filter(|row| row.is_shown).take(3).map(|row| row.name.clone()).collect()
    };
    catalog(folder, "call");
    let time = explained("slowed");
    assert_eq!(named(&time.calls)[0], "getpeername", "{:?}", time.calls);
    let row = &time.calls[0];
    assert!(row.low_us > 0.0 && row.a_us == 0.0, "{row:?}");
    // Each list has the whole difference.
    let sum = |rows: &[ExplainedRow]| rows.iter().map(|row| row.difference_us).sum::<f64>();
    let [areas, calls, routines] = [&time.areas, &time.calls, &time.routines].map(|rows| sum(rows));
    assert!((areas - calls).abs() < 1e-6 && (areas - routines).abs() < 1e-6, "{areas} {calls} {routines}");
    catalog(folder, "text");
    let time = explained("slowed");
    assert!(named(&time.areas).contains(&"program".to_owned()), "{:?}", time.areas);
    // Numbers are formatted by the standard library.
    assert!(named(&time.routines).iter().any(|name| name.contains("core::")), "{:?}", time.routines);
    let time = explained("plain");
    for rows in [&time.areas, &time.calls, &time.routines] {
        assert!(named(rows).len() <= 1, "{rows:?}");
    }
}
