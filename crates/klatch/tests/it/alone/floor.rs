//! `klatch floor` as a user runs it.

use crate::support::{Finished, klatch};
use klatch_record::FloorResult;

#[test]
fn floor_compares_servers_and_appends_to_the_history() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history/floor.jsonl");
    let mut command = klatch();
    command.args(["floor", "--blocks", "2", "--only", "epoll-coalesce_pacing-rounds,redis_pacing-rounds"]);
    command.arg("--out").arg(folder.path()).arg("--history").arg(&history);
    let finished = Finished::run(&mut command);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.out.contains("rounds: the least, a round of deliveries in a call"), "{finished:?}");
    let text = std::fs::read_to_string(&history).unwrap();
    let finished = Finished::run(klatch().arg("report").arg(&history).args(["--format", "json"]));
    assert!(finished.status == Some(0) && finished.out.contains("rounds-server-to-floor"), "{finished:?}");
    let finished = Finished::run(klatch().arg("report").arg(&history).args(["--format", "csv"]));
    assert!(finished.status == Some(2) && finished.err.contains("--format html or json"), "{finished:?}");
    let result: FloorResult = serde_json::from_str(text.trim_end()).unwrap();
    let row = |name: &str| {
        result.rows.iter().find(|row| row.platform == name).unwrap_or_else(|| panic!("{finished:?}"))
    };
    let own = row("native-epoll-coalesce");
    assert!(own.server_us.len() == 2 && own.server_to_floor.is_some(), "{own:?}");
    assert!(own.to_peers.contains_key("redis") && row("redis").to_peers.is_empty(), "{result:?}");
}

#[test]
fn an_unknown_cell_is_refused() {
    let finished = Finished::run(klatch().args(["floor", "--only", "abacus"]));
    assert_eq!(
        (finished.status, finished.err.as_str()),
        (
            Some(2),
            "klatch: no cell has one of abacus in its name; klatch study floor --dry-run lists the cells\n"
        )
    );
}

#[test]
fn the_floor_of_requests_has_other_projects_load_generators_beside_the_crowd() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("floor-rr.jsonl");
    let mut command = klatch();
    command.args(["floor", "--workload", "rr", "--blocks", "2", "--only", "native-epoll,redis"]);
    command.arg("--out").arg(folder.path()).arg("--history").arg(&history);
    let finished = Finished::run(&mut command);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.out.contains("rr: the least, a call for the request"), "{finished:?}");
    let result: FloorResult =
        serde_json::from_str(std::fs::read_to_string(&history).unwrap().trim_end()).unwrap();
    let row = |name: &str| {
        result.rows.iter().find(|row| row.platform == name).unwrap_or_else(|| panic!("{finished:?}"))
    };
    assert!(result.exchange.unwrap().per_operation_us().0 > 0.1, "{result:?}");
    let own = row("native-epoll");
    // A request costs the server at least a receive and a send.
    assert!(own.server_us.iter().all(|us| *us > 0.5) && own.to_peers.contains_key("redis"), "{own:?}");
    // redis-tools, which the Debian package redis-server needs, contains it.
    let client = row("redis under redis-benchmark");
    assert!(client.crowd_us.iter().chain(&client.server_us).all(|us| *us > 0.5), "{client:?}");
    // Debian 12's main archive does not have it, so CI lacks it.
    if std::process::Command::new("netperf").arg("-V").output().is_ok() {
        let netperf = row("netperf");
        assert!(netperf.crowd_us.iter().chain(&netperf.server_us).all(|us| *us > 0.5), "{netperf:?}");
        assert!(own.to_peers.contains_key("netperf"), "{own:?}");
    } else {
        klatch_testing::not_run("netperf", "not installed, and not in Debian 12's main archive");
    }
    let finished = Finished::run(klatch().arg("report").arg(&history).args(["--format", "json"]));
    assert!(finished.status == Some(0) && finished.out.contains("rr-server-to-floor"), "{finished:?}");
    let finished = Finished::run(klatch().args(["floor", "--workload", "files"]));
    assert!(finished.status == Some(2) && finished.err.contains("no floor"), "{finished:?}");
}
