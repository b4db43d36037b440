//! A duet shows a planted slow-down of 5 % and works as a gate.

use std::path::Path;

use crate::support::{Finished, klatch};
use klatch_record::{Duet, RatioEstimate};

/// The planted slow-down, as a fraction of the server's CPU time.
const PLANTED: f64 = 0.05;

/// A catalog of two servers that burn different CPU time on each delivery.
fn catalog(folder: &Path, burn_ns: u32) {
    let server = Path::new(env!("CARGO_BIN_EXE_klatch")).with_file_name("examples").join("slow_server");
    assert!(
        server.is_file(),
        "{} is missing; `cargo build --example slow_server` builds it",
        server.display()
    );
    for (name, burn_ns) in [("plain", 0), ("slowed", burn_ns)] {
        let text = format!(
            "name = '{name}'\nsummary = 'burns {burn_ns} ns'\nclass = 'classic'\nprotocol = 'irc'\n\
             command = ['{}', '{{address}}', '{burn_ns}']\n",
            server.display()
        );
        std::fs::write(folder.join(format!("{name}.toml")), text).unwrap();
    }
}

/// A duet with `plain` as A. Returns its exit status and the ratio of a metric, with A's mean.
fn against_plain(folder: &Path, b: &str, options: &[&str]) -> (Option<i32>, RatioEstimate, f64) {
    let mut command = klatch();
    command.args(["duet", "plain", b, "--rooms", "2", "--users", "10", "--slice", "30ms", "--json"]);
    command.arg("--catalog-a").arg(folder).arg("--catalog-b").arg(folder).args(options);
    let finished = Finished::run(command.arg("--out").arg(folder.join("results")));
    let duet: Duet = serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"));
    let metric =
        duet.metrics.into_iter().find(|metric| metric.metric == "server_cpu_us_per_message").unwrap();
    println!("{b}: {:?}, starts {:?}", metric.ratio, metric.starts);
    (finished.status, metric.ratio.unwrap(), metric.a.unwrap())
}

#[test]
fn a_planted_slow_down_of_five_per_cent_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Derive 5 % from the cost of a message on this machine. A server is not slower than itself by half.
    catalog(folder, 0);
    let (status, _, us_per_message) =
        against_plain(folder, "plain", &["--duration", "9s", "--starts", "3", "--fail-if-slower", "50%"]);
    assert_eq!(status, Some(0));
    // In a room of ten users, nine receive each message: nine deliveries per ten messages in total.
    catalog(folder, (us_per_message * 10.0 / 9.0 * PLANTED * 1e3).round() as u32);
    let (status, ratio, _) =
        against_plain(folder, "slowed", &["--duration", "60s", "--starts", "20", "--fail-if-slower", "0.5%"]);
    assert!(ratio.low > 1.0, "{ratio:?}");
    assert!(ratio.low < 1.0 + PLANTED * 1.5 && ratio.high > 1.0 + PLANTED / 2.0, "{ratio:?}");
    // The gate closes when the whole interval is beyond its limit.
    assert_eq!(status, Some(i32::from(ratio.low > 1.005)));
}
