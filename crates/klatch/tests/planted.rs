//! The server's CPU time per that of the crowd shows a planted slow-down of 5 %. A busy machine disturbs this ratio least,
//! because it slows both sides.

mod support;

use std::path::Path;

use klatch_record::{Comparison, MetricComparison};
use support::{Finished, klatch};

/// The planted slow-down, as a fraction of the server's CPU time.
const PLANTED: f64 = 0.05;
/// Starts of each server. With a load of four, the ratio of 50 starts per side had a standard error of about 1.1 %, so 5 %
/// is more than four standard errors.
const STARTS: u32 = 60;

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

fn run(folder: &Path, name: &str, out: &str) {
    let workload = ["--rooms", "2", "--users", "10", "--count", "150", "--warmup", "0", "--trials", "1"];
    let mut run = klatch();
    run.args(["run", "--platform", name]).args(workload);
    let finished =
        Finished::run(run.arg("--catalog").arg(folder).arg("--out").arg(folder.join("results").join(out)));
    assert_eq!(finished.status, Some(0), "{finished:?}");
}

fn compare(folder: &Path, a: &str, b: &str, metric: &str) -> MetricComparison {
    let results = |name: &str| folder.join("results").join(name);
    let finished = Finished::run(klatch().arg("compare").args([results(a), results(b)]).arg("--json"));
    let comparison: Comparison =
        serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"));
    comparison.metrics.into_iter().find(|of| of.metric == metric).unwrap()
}

#[test]
fn a_planted_slow_down_of_five_per_cent_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Derive 5 % from the cost of a message on this machine.
    catalog(folder, 0);
    for out in ["first", "second"] {
        run(folder, "plain", out);
        run(folder, "plain", out);
    }
    let cost = compare(folder, "first", "second", "server_cpu_us_per_message").a;
    let us_per_message = cost.iter().sum::<f64>() / cost.len() as f64;
    // In a room of ten users, nine receive each message: nine deliveries per ten messages in total.
    catalog(folder, (us_per_message * 10.0 / 9.0 * PLANTED * 1e3).round() as u32);
    for start in 0..STARTS {
        // Alternate the order, so that neither side always comes first in a pair.
        let order = if start % 2 == 0 { ["plain", "slowed"] } else { ["slowed", "plain"] };
        order.iter().for_each(|name| run(folder, name, name));
    }
    let metric = compare(folder, "plain", "slowed", "server_cpu_per_crowd_cpu");
    let ratio = metric.ratio.unwrap();
    println!("planted {PLANTED}, measured {ratio:?}");
    assert!(ratio.low > 1.0, "{metric:?}");
    assert!(ratio.low < 1.0 + PLANTED * 1.5 && ratio.high > 1.0 + PLANTED / 2.0, "{metric:?}");
}
