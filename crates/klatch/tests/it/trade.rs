//! Workload `trade`: a brokerage on a database, with faults that replies or the audit show.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::accounts::Accounts;
use crate::support::planted::{assert_audit_names, invalid, planted_server};
use crate::support::{Finished, children_of, databases, klatch, least, sample, two_at_a_time, until_line};
use klatch_record::{FailureKind, Record, Status, Workload};
use klatch_testing::{Need, needs};
use rustix::process::{Pid, Signal, kill_process};

const TRADE: Accounts = Accounts {
    small: &[
        "--workload",
        "trade",
        "--traders",
        "8",
        "--users",
        "80",
        "--quotes",
        "40",
        "--mix",
        "high-volume",
        "--timeout",
        "4",
    ],
    duration: "1.5",
};

fn run(arguments: &[&str]) -> (Option<i32>, Record) {
    TRADE.run(arguments)
}

fn is_valid(way: &str, status: Option<i32>, record: &Record) {
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{way}: {record:?}");
    let audit = record.audit.as_ref().unwrap();
    assert!(audit.broken.is_empty() && audit.orders > 400 && audit.users >= 8, "{way}: {audit:?}");
    let operations = record.operations.as_ref().unwrap();
    assert_eq!(
        (operations.name.as_str(), record.results.parties().unwrap().parties),
        ("operation", 8),
        "{way}"
    );
    let kinds: Vec<&str> = record.results.kinds().iter().map(|kind| kind.name.as_str()).collect();
    let all =
        ["account", "buy", "home", "login", "logout", "portfolio", "quote", "register", "sell", "update"];
    assert_eq!(kinds, all, "{way}");
    let quotes = record.results.kinds().iter().find(|kind| kind.name == "quote").unwrap();
    assert!((0.3..0.42).contains(&quotes.share), "40 % of the mix, to which logins come: {quotes:?}");
    let database = operations.database.unwrap();
    assert!(database.transactions > 10 && database.repeats <= database.transactions, "{way}: {database:?}");
    let counted: u64 = record.results.kinds().iter().map(|kind| kind.count).sum();
    assert_eq!((counted, record.score.sent), (operations.count, operations.count), "{way}");
}

#[test]
fn every_platform_that_carries_it_keeps_its_accounts() {
    let ways = crate::support::carrying("trade").concat();
    for way in &ways {
        // H2 is part of a server in Java that uses JDBC itself.
        let without_h2 = ["go-pgx", "node-pg", "payara"].contains(&way.split('@').next().unwrap());
        let database = if without_h2 { "postgresql" } else { "h2" };
        let mut arguments = vec!["--platform", way, "--database", database];
        // Its first requests take ten times as long as later ones.
        if way.starts_with("payara") {
            arguments.extend(["--duration", "5", "--ready-timeout", "240"]);
        }
        let (status, record) = run(&arguments);
        is_valid(way, status, &record);
        assert_eq!(record.usage.database.is_some(), database == "postgresql", "{way}");
    }
    assert!(ways.len() >= least(8, 1), "only {ways:?} have the workload");
}

#[test]
fn helidon_keeps_them_on_a_newer_java() {
    needs!(Need::TestAll);
    let java = klatch_testing::newer_java();
    let (status, record) = run(&["--platform", "helidon", "--java", java.to_str().unwrap()]);
    is_valid("helidon", status, &record);
}

#[test]
fn postgresql_has_a_process_and_a_usage_of_its_own() {
    needs!(Need::TestAll);
    let (status, record) = run(&["--database", "postgresql", "--shards", "2"]);
    is_valid("postgresql", status, &record);
    let database = record.platform.database.as_ref().unwrap();
    assert_eq!((database.name.as_str(), database.durable, record.shards.len()), ("postgresql", false, 2));
    assert!(database.version.is_some(), "{database:?}");
    let used = record.usage.database.as_ref().unwrap();
    assert!(used.cpu_s > 0.05 && used.threads > 8, "a process for each connection: {used:?}");
}

#[test]
fn later_runs_of_a_start_continue_from_the_accounts_of_earlier_ones() {
    let [one, other] = TRADE.two_of_one_start("0.7");
    assert!(one.audit.is_some() && one.audit == other.audit, "one audit for all");
}

fn run_planted(plant: &str) -> Record {
    let catalog = tempfile::tempdir().unwrap();
    planted_server("database/PlantedApplication", plant, catalog.path());
    let catalog = catalog.path().to_str().unwrap();
    let arguments = ["--catalog", catalog, "--platform", "planted", "--duration"];
    invalid(plant, ["1.5", "12"], |duration| run(&[&arguments[..], &[duration]].concat()))
}

#[test]
fn what_the_audit_shows_is_named() {
    let rules =
        [("double-sale", "shares"), ("no-fee", "money"), ("lost-order", "confirmed"), ("price", "prices")];
    two_at_a_time(&sample(rules, 3), |(plant, rule)| assert_audit_names(rule, plant, &run_planted(plant)));
}

#[test]
fn what_replies_show_is_named_with_user_and_request() {
    let faults = [
        // The page of the user shows them as well.
        ("stale-portfolio", "holdings"),
        ("wrong-balance", "balance: "),
        ("price", "price out of rule: quote "),
    ];
    for (plant, part) in sample(faults, 3) {
        let record = run_planted(plant);
        assert!(record.checks.wrong > 0, "{plant}: {:?}", record.checks);
        let details = record.checks.faults.iter().filter_map(|fault| fault.detail.as_ref());
        assert!(
            details.clone().any(|one| one.starts_with("user ") && one.contains(part)),
            "{plant}: {record:?}"
        );
    }
}

#[test]
fn a_trader_without_a_reply_ends_the_run() {
    let record = run_planted("no-reply");
    let failure = record.checks.failure.as_ref().unwrap();
    assert_eq!(failure.kind, FailureKind::Timeout, "{failure:?}");
    assert!(record.checks.lost >= 1, "{:?}", record.checks);
}

/// As [`Accounts::start`], with temporary files where they usually are.
fn start(out: &Path, arguments: &[&str]) -> (Child, u32) {
    TRADE.start(out, &std::env::temp_dir(), arguments)
}

#[test]
fn confirmed_orders_survive_the_death_of_the_server() {
    // `make test` has the one of `orders`.
    needs!(Need::TestAll);
    for &database in databases() {
        let record = TRADE.killed(database, &std::env::temp_dir(), &[]);
        assert!(record.audit.as_ref().is_some_and(|audit| audit.orders > 400), "{:?}", record.audit);
        let Workload::Trade(trade) = &record.workload else { panic!("{:?}", record.workload) };
        assert!(trade.durable && record.platform.database.as_ref().is_some_and(|one| one.durable));
    }
}

#[test]
fn confirmed_orders_survive_the_death_of_the_database() {
    needs!(Need::TestAll);
    let out = tempfile::tempdir().unwrap();
    let (mut run, _) = start(out.path(), &["--database", "postgresql", "--durable", "--duration", "5"]);
    until_line(&mut run, " operations");
    let children = children_of(run.id());
    let (database, _) = children.iter().find(|(_, line)| line.contains("postgres")).unwrap();
    kill_process(Pid::from_raw(*database as i32).unwrap(), Signal::KILL).unwrap();
    let finished = Finished::from(run.wait_with_output().unwrap());
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(1), Status::Invalid), "{record:?}");
    assert!(record.checks.wrong > 0, "{:?}", record.checks);
    let audit = record.audit.as_ref().unwrap_or_else(|| panic!("{:?}", record.verdict));
    assert!(audit.broken.is_empty() && audit.orders > 400, "{audit:?}");
}

#[test]
fn an_interrupt_leaves_no_database_behind() {
    needs!(Need::TestAll);
    let out = tempfile::tempdir().unwrap();
    let (mut run, server) = start(out.path(), &["--database", "postgresql"]);
    let children = children_of(run.id());
    let (database, line) = children.iter().find(|(_, line)| line.contains("postgres")).unwrap();
    let folder = line.split(' ').skip_while(|word| *word != "-D").nth(1).unwrap().to_owned();
    assert!(Path::new(&folder).exists(), "{line}");
    kill_process(Pid::from_raw(run.id() as i32).unwrap(), Signal::INT).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
    for pid in [server, *database] {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "process {pid} still runs");
    }
    assert!(!Path::new(&folder).exists(), "{folder} is still there");
}

#[test]
fn an_interrupt_keeps_finished_runs_as_not_audited() {
    let out = tempfile::tempdir().unwrap();
    let mut command = klatch();
    command.args(["run", "--warmups", "0", "--trials", "2", "--out"]).arg(out.path());
    command.args(TRADE.small).args(["--duration", "3"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().unwrap();
    until_line(&mut run, "trial 2 of 2: all joined");
    kill_process(Pid::from_raw(run.id() as i32).unwrap(), Signal::INT).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let saved = std::fs::read_to_string(out.path().join("latest/trial-1.json")).unwrap();
    let record: Record = serde_json::from_str(&saved).unwrap();
    assert_eq!((record.verdict.status, record.audit), (Status::Unknown, None));
    let reason = &record.verdict.reasons[0].message;
    assert!(reason.starts_with("the database was not audited: "), "{reason}");
    assert!(!out.path().join("latest/trial-2.json").exists());
}

/// Makes a small file system for temporary files, in a mount namespace that ends with the program, and fills it when all have joined.
const FILL: &str = r#"
    mount -t tmpfs -o size=300m,mode=1777 none "$1" && export TMPDIR="$1"
    folder=$1 klatch=$2 out=$3
    shift 3
    # It is there before tail looks for it.
    touch "$out/progress"
    "$klatch" "$@" --out "$out" 2>"$out/progress" >"$out/record" &
    tail --follow --pid=$! "$out/progress" | grep -q --max-count=1 "all joined"
    dd if=/dev/zero of="$folder/filler" bs=64k 2>/dev/null
    wait $!
    status=$?
    ls "$folder"
    exit $status
"#;

#[test]
fn a_disk_that_fills_under_the_database_makes_an_invalid_run_and_leaves_nothing() {
    // PostgreSQL cannot run as another user in a namespace of users.
    needs!(Need::TestAll, Need::Root);
    let (disk, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut command = Command::new("unshare");
    command.args(["--mount", "bash", "-c", FILL, "bash"]).arg(disk.path());
    command.arg(env!("CARGO_BIN_EXE_klatch")).arg(out.path()).args([
        "run",
        "--warmups",
        "0",
        "--trials",
        "1",
    ]);
    command.args(TRADE.small).args(["--database", "postgresql", "--duration", "6", "--json"]);
    let finished = Finished::run(&mut command);
    assert_eq!((finished.status, finished.out.trim()), (Some(1), "filler"), "{finished:?}");
    let record: Record =
        serde_json::from_str(&std::fs::read_to_string(out.path().join("record")).unwrap()).unwrap();
    assert_eq!(record.verdict.status, Status::Invalid);
    let reasons = &record.verdict.reasons;
    assert!(reasons.iter().any(|one| one.message.contains("No space left on device")), "{reasons:?}");
}

#[test]
fn what_a_brokerage_cannot_have_is_refused() {
    TRADE.refuses(&["--database", "oracle"], "no database is named oracle; there are h2, postgresql");
    TRADE.refuses(&["--platform", "nginx"], "nginx does not carry the workload trade");
    TRADE.refuses(
        &["--platform", "go-pgx"],
        "go-pgx cannot use the database h2; it uses postgresql: add --database postgresql",
    );
    TRADE.refuses(&["--traders", "50", "--users", "49"], "users must be 50 to 1,000,000, got 49");
    TRADE.refuses(&["--users-per-trader", "1000"], "users_per_trader must be 1 to 200, got 1000");
    TRADE.refuses(&["--mix", "wild"], "[possible values: standard, high-volume, equal]");
    TRADE.refuses(&["--crowd", "java"], "the Java crowd carries the workload chat, not trade");
    TRADE.refuses(&["--lines", "3"], "lines belongs to the workload web, not to trade");
    TRADE.refuses(&["--rate", "3", "--think", "1"], "think must be 0 with a rate");
    TRADE.refuses(&["--target", "http://127.0.0.1:1", "--trials", "1"], "127.0.0.1:1");
    TRADE.refuses(
        &["--hosts", "a", "--host-address", "127.0.0.1"],
        "the ledgers of a workload with a database are on this machine",
    );
}
