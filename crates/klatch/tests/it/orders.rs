//! Workload `orders`: dealers, factories and suppliers on a database, with faults that replies or the audit show.

use klatch_testing::{Need, needs};

use crate::support::accounts::Accounts;
use crate::support::planted::{assert_audit_names, invalid, planted_server};
use crate::support::{databases, least, sample, two_at_a_time};
use klatch_record::{FailureKind, Record, Status};

const ORDERS: Accounts = Accounts {
    small: &["--workload", "orders", "--injection-rate", "20", "--ramp", "0.3", "--timeout", "6"],
    duration: "4",
};

fn run(arguments: &[&str]) -> (Option<i32>, Record) {
    ORDERS.run(arguments)
}

fn is_valid(way: &str, status: Option<i32>, record: &Record) {
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{way}: {:?}", record.verdict);
    let audit = record.audit.as_ref().unwrap();
    assert!(audit.broken.is_empty() && audit.orders > 1_510 && audit.users > 10, "{way}: {audit:?}");
    let operations = record.operations.as_ref().unwrap();
    assert_eq!(
        (operations.name.as_str(), record.results.parties().unwrap().parties),
        ("operation", 20),
        "{way}"
    );
    let kinds: Vec<&str> = record.results.kinds().iter().map(|kind| kind.name.as_str()).collect();
    let all = ["change_order", "customer_status", "delivery", "new_order", "order_status", "work_order"];
    // Few districts use few of the components on hand, so a short run may purchase nothing.
    assert!(kinds == all || kinds == [&all[..2], &all[3..]].concat(), "{way}: {kinds:?}");
    let work_orders = record.results.kinds().last().unwrap();
    assert!(work_orders.latency.p50_us > 999_000.0, "{way}: three pauses of 333 ms: {work_orders:?}");
    let orders = record.results.orders().unwrap();
    assert_eq!((orders.injection_rate, orders.limits.len(), orders.mix.len()), (20, 5, 4), "{way}");
    let tops = orders.tops.unwrap_or_else(|| panic!("{way}: no TOPS: {orders:?}"));
    assert!((22.0..50.0).contains(&tops) && (tops - operations.per_s).abs() < 0.01, "{way}: {tops}");
    assert_eq!(record.score.sent, record.score.received, "{way}");
    let database = operations.database.unwrap();
    assert!(database.transactions > 100 && database.repeats <= database.transactions, "{way}: {database:?}");
}

#[test]
fn every_platform_that_carries_it_keeps_its_accounts() {
    let ways = crate::support::carrying("orders").concat();
    for way in &ways {
        // Platforms that do not use JDBC cannot use H2, which is part of a server in Java.
        let without_h2 = ["go-pgx", "node-pg"].contains(&way.as_str());
        let database = if without_h2 { "postgresql" } else { "h2" };
        let (status, record) = run(&["--platform", way, "--database", database]);
        is_valid(way, status, &record);
    }
    assert!(ways.len() >= least(7, 1), "only {ways:?} have the workload");
}

#[test]
fn helidon_keeps_its_accounts_on_a_newer_java() {
    needs!(Need::TestAll);
    let java = klatch_testing::newer_java();
    let (status, record) = run(&["--platform", "helidon", "--java", java.to_str().unwrap()]);
    is_valid("helidon", status, &record);
}

#[test]
fn shards_on_postgresql_share_the_suppliers_and_merge() {
    needs!(Need::TestAll);
    let (status, record) = run(&["--database", "postgresql", "--shards", "2", "--crowd-loops", "2"]);
    is_valid("postgresql", status, &record);
    let database = record.platform.database.as_ref().unwrap();
    assert_eq!((database.name.as_str(), record.shards.len()), ("postgresql", 2));
    assert!(record.usage.database.as_ref().unwrap().cpu_s > 0.05);
}

#[test]
fn later_runs_of_a_start_continue_from_the_accounts_of_earlier_ones() {
    let [one, other] = ORDERS.two_of_one_start("2");
    assert!(one.audit.is_some() && one.audit == other.audit, "one audit for all");
}

/// Runs against a server with a fault.
fn run_planted(plant: &str, arguments: &[&str]) -> (Option<i32>, Record) {
    let catalog = tempfile::tempdir().unwrap();
    planted_server("orders/database/PlantedOrders", plant, catalog.path());
    let catalog = catalog.path().to_str().unwrap();
    run(&[&["--catalog", catalog, "--platform", "planted"], arguments].concat())
}

fn run_invalid(plant: &str) -> Record {
    // One customer in ten has a low limit, so few of a small business reach it.
    let more = if plant == "credit" { ["--injection-rate", "100"] } else { ["--injection-rate", "20"] };
    invalid(plant, ["4", "16"], |duration| {
        run_planted(plant, &[&more[..], &["--duration", duration]].concat())
    })
}

#[test]
fn what_the_audit_shows_is_named() {
    let rules = [
        ("work-order-twice", "made"),
        ("below-zero", "components"),
        ("lost-order", "confirmed"),
        ("credit", "credit"),
        ("lost-large-line", "large"),
        ("cancelled-kept", "ordered"),
    ];
    two_at_a_time(&sample(rules, 4), |(plant, rule)| assert_audit_names(rule, plant, &run_invalid(plant)));
}

#[test]
fn what_replies_show_is_named_with_district_and_request() {
    let faults = [
        ("wrong-total", "new: total: "),
        ("credit", "credit: the order is accepted, and the customer owes "),
    ];
    for (plant, part) in sample(faults, 2) {
        let record = run_invalid(plant);
        assert!(record.checks.wrong > 0, "{plant}: {:?}", record.checks);
        let mut details = record.checks.faults.iter().filter_map(|fault| fault.detail.as_ref());
        assert!(
            details.any(|one| one.starts_with("district ") && one.contains(part)),
            "{plant}: {:?}",
            record.checks
        );
    }
}

#[test]
fn a_late_operation_leaves_a_valid_run_without_a_score() {
    let (status, record) = run_planted("late", &[]);
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{:?}", record.verdict);
    let orders = record.results.orders().unwrap();
    assert_eq!(orders.tops, None);
    let late: Vec<&str> =
        orders.limits.iter().filter(|limit| !limit.within).map(|limit| limit.name.as_str()).collect();
    assert_eq!(late, ["order_status"], "{orders:?}");
    assert!(record.audit.unwrap().broken.is_empty());
}

#[test]
fn a_dealer_without_a_reply_ends_the_run() {
    // `make test` has a trader without one.
    needs!(Need::TestAll);
    let record = run_invalid("no-reply");
    let failure = record.checks.failure.as_ref().unwrap();
    assert_eq!(failure.kind, FailureKind::Timeout, "{failure:?}");
    assert!(record.checks.lost >= 1, "{:?}", record.checks);
    assert!(record.audit.unwrap().broken.is_empty(), "a look at an order changes nothing");
}

#[test]
fn confirmed_orders_survive_the_death_of_the_server() {
    for &database in databases() {
        // Memory survives the death of a process, and not that of the machine.
        let memory = tempfile::Builder::new().prefix("klatch-test-").tempdir_in("/dev/shm").unwrap();
        let record = ORDERS.killed(database, memory.path(), &["--duration", "8"]);
        assert!(record.audit.as_ref().is_some_and(|audit| audit.orders > 1_505), "{:?}", record.audit);
        assert_eq!(record.platform.database.unwrap().file_system.as_deref(), Some("tmpfs"));
        let volatile = format!(
            "commits are not durable although the run is to be: of {database}, its data are on tmpfs, in memory"
        );
        let warnings = &record.warnings;
        assert!(warnings.iter().any(|warning| warning.message == volatile), "{warnings:?}");
    }
}

#[test]
fn what_a_business_cannot_have_is_refused() {
    ORDERS.refuses(&["--database", "oracle"], "no database is named oracle; there are h2, postgresql");
    ORDERS.refuses(&["--platform", "nginx"], "nginx does not carry the workload orders");
    ORDERS.refuses(&["--injection-rate", "0"], "injection_rate must be 1 to 10,000, got 0");
    ORDERS.refuses(
        &["--injection-rate", "50", "--population", "49"],
        "population must be 50 to 10,000, got 49",
    );
    ORDERS.refuses(&["--ramp", "-1"], "ramp must be 0 to 86,400 seconds, got -1");
    ORDERS.refuses(&["--duration", "0"], "duration must be above 0 and at most 86,400 seconds, got 0");
    ORDERS.refuses(&["--crowd", "java"], "the Java crowd carries the workload chat, not orders");
    ORDERS.refuses(&["--traders", "3"], "traders belongs to the workload trade, not to orders");
    ORDERS.refuses(&["--rate", "3"], "rate belongs to the workload chat or rr or trade, not to orders");
    ORDERS.refuses(&["--count", "3"], "count belongs to the workload chat, not to orders");
    ORDERS.refuses(
        &["--hosts", "a", "--host-address", "127.0.0.1"],
        "the ledgers of a workload with a database are on this machine",
    );
}
