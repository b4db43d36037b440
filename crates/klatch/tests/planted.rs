//! A slow-down that was planted is found, by CPU time per message, which a busy machine disturbs least.

mod support;

use std::path::Path;

use klatch_record::Comparison;
use support::{Said, klatch};

/// Time burnt on each delivery: several times what a delivery costs, so that a loaded CI machine cannot hide it.
const BURN_NS: u32 = 30_000;
const STARTS: usize = 3;

/// A catalog of two servers that differ in what they burn.
fn catalog(folder: &Path) {
    let server = Path::new(env!("CARGO_BIN_EXE_klatch")).with_file_name("examples").join("slow_server");
    assert!(
        server.is_file(),
        "{} is missing; `cargo build --example slow_server` builds it",
        server.display()
    );
    for (name, burn_ns) in [("plain", 0), ("slowed", BURN_NS)] {
        let text = format!(
            "name = '{name}'\nsummary = 'burns {burn_ns} ns'\nclass = 'classic'\nwire = 'irc'\n\
             command = ['{}', '{{address}}', '{burn_ns}']\n",
            server.display()
        );
        std::fs::write(folder.join(format!("{name}.toml")), text).unwrap();
    }
}

#[test]
fn a_planted_slow_down_is_found() {
    let folder = tempfile::tempdir().unwrap();
    catalog(folder.path());
    let results = |name: &str| folder.path().join("results").join(name);
    for _ in 0..STARTS {
        for name in ["plain", "slowed"] {
            let workload =
                ["--rooms", "2", "--users", "10", "--count", "40", "--warmup", "1", "--trials", "1"];
            let mut run = klatch();
            run.args(["run", "--platform", name]).args(workload);
            let said = Said::of(run.arg("--catalog").arg(folder.path()).arg("--out").arg(results(name)));
            assert_eq!(said.status, Some(0), "{said:?}");
        }
    }
    let mut compare = klatch();
    let said = Said::of(compare.arg("compare").args([results("plain"), results("slowed")]).arg("--json"));
    let comparison: Comparison = serde_json::from_str(&said.out).unwrap();
    assert_eq!((comparison.a.starts, comparison.b.starts), (STARTS as u32, STARTS as u32));
    let metric =
        comparison.metrics.iter().find(|metric| metric.metric == "server_cpu_us_per_message").unwrap();
    let ratio = metric.ratio.unwrap();
    assert!(ratio.low > 1.2, "{metric:?}");
}
