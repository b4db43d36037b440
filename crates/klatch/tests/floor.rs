//! `klatch floor` from the outside.

mod support;

use klatch_record::FloorResult;
use support::{Said, klatch};

#[test]
fn servers_stand_beside_the_floor_and_beside_each_other_and_the_history_grows() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history/floor.jsonl");
    let mut command = klatch();
    command.args(["floor", "--blocks", "2", "--only", "epoll-coalesce_pacing-rounds,redis_pacing-rounds"]);
    command.arg("--out").arg(folder.path()).arg("--history").arg(&history);
    let said = Said::of(&mut command);
    assert_eq!(said.status, Some(0), "{said:?}");
    assert!(said.out.contains("rounds: the least, a round of deliveries in a call"), "{said:?}");
    let text = std::fs::read_to_string(&history).unwrap();
    let said = Said::of(klatch().arg("report").arg(&history).args(["--format", "json"]));
    assert!(said.status == Some(0) && said.out.contains("rounds-server-to-floor"), "{said:?}");
    let said = Said::of(klatch().arg("report").arg(&history).args(["--format", "csv"]));
    assert!(said.status == Some(2) && said.err.contains("--format html or json"), "{said:?}");
    let result: FloorResult = serde_json::from_str(text.trim_end()).unwrap();
    let row = |name: &str| {
        result.rows.iter().find(|row| row.platform == name).unwrap_or_else(|| panic!("{said:?}"))
    };
    let own = row("native-epoll-coalesce");
    assert!(own.server_us.len() == 2 && own.server_to_floor.is_some(), "{own:?}");
    assert!(own.to_peers.contains_key("redis") && row("redis").to_peers.is_empty(), "{result:?}");
}

#[test]
fn a_cell_that_is_none_is_told() {
    let said = Said::of(klatch().args(["floor", "--only", "abacus"]));
    assert_eq!(
        (said.status, said.err.as_str()),
        (Some(2), "klatch: no cell has one of abacus in its name\n")
    );
}
