//! A duet whose sides are counted in the lab too.

use std::path::Path;

use crate::support::planted::wasteful_servers;
use crate::support::{Finished, klatch, run_once};
use klatch_host::privileges::cache_path;
use klatch_record::lab::CountedBy;
use klatch_record::{Duet, ExactCount, ExactRow};
use klatch_testing::{Need, needs};

/// A short duet of two platforms, of these options, whose sides are counted.
fn counted(sides: [&str; 2], options: &[&str], out: &Path) -> Duet {
    let mut duet = klatch();
    duet.arg("duet").args(sides).args(["--exact", "--json", "--starts", "1", "--slice", "20ms"]);
    let finished = Finished::run(duet.args(options).arg("--out").arg(out));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"))
}

#[test]
fn planted_system_calls_are_counted_to_the_digit() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    wasteful_servers(folder, "call");
    let catalog = folder.to_str().unwrap();
    let options = ["--rooms", "1", "--users", "5", "--duration", "3s", "--warmup", "100ms"];
    let options = [&options[..], &["--catalog-a", catalog, "--catalog-b", catalog]].concat();
    // B makes twenty more system calls for each delivery.
    let duet = counted(["plain", "slowed"], &options, &folder.join("results"));
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

#[test]
fn web_servers_in_java_are_counted() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let options =
        ["--workload", "web", "--line", "none", "--lines", "4", "--duration", "8s", "--warmup", "1s"];
    let duet = counted(["jdk-httpserver", "jetty"], &options, folder.path());
    assert_eq!(duet.uncounted, None);
    let count: ExactCount = duet.exact.expect("a count");
    assert!(
        count.a_operations > 0 && count.b_operations > 0,
        "{} and {}",
        count.a_operations,
        count.b_operations
    );
    let [of_the_jdk, of_jetty] = count.total(|row| row.by == CountedBy::Server);
    assert!(of_the_jdk > 1_000.0 && of_jetty > 1_000.0, "{of_the_jdk} against {of_jetty}");
    every_java_server_starts_with_the_modules_of_the_lab(folder.path());
}

/// A count has just built the small Java runtimes that are in the cache. Any Java server may be counted, so each must find its classes there.
/// That of Debian 12 is Java 17, which Helidon and virtual threads are too new for.
fn every_java_server_starts_with_the_modules_of_the_lab(out: &Path) {
    let caches = std::fs::read_dir(cache_path().unwrap()).unwrap().flatten();
    let runtimes = caches.filter(|entry| entry.file_name().to_string_lossy().starts_with("java-"));
    let newest = runtimes.max_by_key(|entry| entry.metadata().unwrap().modified().unwrap()).unwrap();
    let java = newest.path().join("bin/java");
    let java = java.to_str().unwrap();
    let servers = [
        ["web", "java-netty"],
        ["web", "tomcat"],
        ["web", "undertow"],
        ["web", "vertx"],
        ["chat", "java-threads"],
        ["chat", "java-selector"],
        ["chat", "jetty-ws"],
        ["chat", "tomcat-ws"],
        ["chat", "undertow-ws"],
        ["chat", "java-netty-ws"],
    ];
    for [workload, platform] in servers {
        let one = ["--workload", workload, "--platform", platform, "--java", java, "--duration", "0.3s"];
        let load = if workload == "web" {
            ["--line", "none", "--lines", "4"]
        } else {
            ["--rooms", "1", "--users", "4"]
        };
        let finished = Finished::run(run_once(out, &one).args(load));
        assert_eq!(finished.status, Some(0), "{platform}: {finished:?}");
    }
}
