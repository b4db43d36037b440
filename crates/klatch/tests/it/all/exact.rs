//! A duet whose sides are counted in the lab too.

use std::path::Path;

use crate::support::planted::wasteful_servers;
use crate::support::{Finished, klatch};
use klatch_record::lab::CountedBy;
use klatch_record::{Duet, ExactCount, ExactRow};
use klatch_testing::{Need, needs};

/// A short duet of two programs of a catalog, of which B makes twenty more system calls for each delivery.
fn counted(folder: &Path) -> Duet {
    let mut duet = klatch();
    duet.args(["duet", "plain", "slowed", "--exact", "--json", "--rooms", "1", "--users", "5"]);
    duet.args(["--duration", "3s", "--starts", "1", "--warmup", "100ms", "--slice", "20ms"]);
    duet.arg("--catalog-a").arg(folder).arg("--catalog-b").arg(folder);
    let finished = Finished::run(duet.arg("--out").arg(folder.join("results")));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"))
}

#[test]
fn planted_system_calls_are_counted_to_the_digit() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    wasteful_servers(folder, "call");
    let duet = counted(folder);
    assert_eq!(duet.uncounted, None);
    let count: ExactCount = duet.exact.expect("a count");
    // 80 messages of 5 users, each with 4 deliveries.
    assert_eq!((count.a_operations, count.b_operations), (2_000, 2_000), "{count:?}");
    let is_server = |row: &ExactRow| row.by == CountedBy::Server;
    let named: Vec<&ExactRow> = count
        .routines
        .iter()
        .filter(|row| is_server(row) && row.kernel && row.routine.ends_with("sys_getpeername"))
        .collect();
    assert!(!named.is_empty(), "{:?}", count.routines);
    for row in named {
        // Twenty calls for each of 1,600 deliveries, all with the same number of instructions.
        assert!(row.a == 0 && row.b > 0 && row.b % (20 * 1_600) == 0, "{row:?}");
    }
    let [a, b] = count.total(is_server);
    assert!(b > a + 100.0, "{a} against {b}");
    // The crowd gets the same from both, but in more reads from the slower one: at most one for each of the four deliveries.
    let [a, b] = count.total(|row| row.by == CountedBy::Crowd);
    assert!(b > a * 0.5 && b < a * 2.0, "{a} against {b}");
    assert!(count.routines.iter().any(|row| row.routine.contains("klatch_crowd::")), "{:?}", count.routines);
    let latest = folder.join("results/latest");
    let page = Finished::run(klatch().arg("report").arg(&latest).args(["--format", "md", "--out", "-"]));
    assert!(page.out.contains("## Exact count") && page.out.contains("getpeername"), "{page:?}");
}
