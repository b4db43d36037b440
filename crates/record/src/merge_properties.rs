//! Merging in any order and in any number of steps gives the same record, also over files.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};

use super::tests::record;
use super::*;
use crate::{
    DatabaseCounts, Failure, FailureKind, Fault, FaultKind, IntervalCounts, Latency, Moment, Results, Status,
    Timeline, WarningKind,
};

/// What differs between shards of one run.
#[derive(Clone, Debug)]
struct Facts {
    sent: u64,
    cpu_ns: u64,
    elapsed_s: f64,
    join_s: f64,
    latency_ns: Vec<(u64, u64)>,
    over_time: Option<(u32, Vec<(u64, u64)>)>,
    faults: Vec<(u8, u32)>,
    failure: Option<(bool, u32)>,
    warned: bool,
    other_kernel: bool,
    other_address: bool,
    opened_ns: Option<u64>,
    transactions: Option<u64>,
}

fn facts() -> impl Strategy<Value = Facts> {
    let counts = || vec((1..2_000_000_000_u64, 1..1_000_u64), 0..6);
    let numbers = (0..1_000_000_u64, any::<u32>(), 0.1..100.0_f64, 0.0..10.0_f64);
    let times = (counts(), option::of((0..4_u32, counts())));
    let wrong = (vec((0..3_u8, 0..50_u32), 0..12), option::of((any::<bool>(), 0..3_u32)), any::<bool>());
    let place = (any::<bool>(), any::<bool>(), option::of(0..10_000_000_000_u64));
    let done = option::of(0..1_000_u64);
    (numbers, times, wrong, place, done).prop_map(|(numbers, times, wrong, place, done)| Facts {
        sent: numbers.0,
        cpu_ns: u64::from(numbers.1),
        elapsed_s: numbers.2,
        join_s: numbers.3,
        latency_ns: times.0,
        over_time: times.1,
        faults: wrong.0,
        failure: wrong.1,
        warned: wrong.2,
        other_kernel: place.0,
        other_address: place.1,
        opened_ns: place.2,
        transactions: done,
    })
}

/// The record of the shard with rooms `start` and `start + 1`.
fn with_facts(start: u32, facts: &Facts) -> Record {
    let mut record = record(start);
    let usage = Usage::together(
        &[&Usage { cpu_s: facts.cpu_ns as f64 / 1e9, ..record.usage.crowd.clone().unwrap() }],
        facts.sent * 2,
    )
    .unwrap();
    let shard = &mut record.shards[0];
    shard.usage = Some(usage.clone());
    shard.elapsed_s = facts.elapsed_s;
    shard.total = facts.sent * 2;
    shard.opened = facts.opened_ns.map(|ns| Moment { clock: "a".into(), ns });
    let transactions = facts.transactions;
    shard.database =
        transactions.map(|transactions| DatabaseCounts { transactions, ..DatabaseCounts::default() });
    if facts.other_address {
        shard.address = "10.0.0.8:6667".into();
    }
    if facts.other_kernel {
        record.environment.kernel = "6.18".into();
    }
    if facts.warned {
        let (message, advice) = (format!("{} ms late", start % 2), String::new());
        record.warnings.push(Warning { kind: WarningKind::CrowdLate, message, advice });
        shard.warnings = record.warnings.clone();
    }
    record.usage = UsageOfBoth { server: None, crowd: Some(usage), database: None };
    record.latency = Latency::from_counts_ns(&facts.latency_ns).unwrap();
    record.results = Results::Chat { reconnects: record.latency.clone(), repeated: 3, open_handshakes: 2 };
    record.over_time = facts.over_time.as_ref().map(|(doubled, counts)| {
        let counts = IntervalCounts {
            interval_ms: 25 << doubled,
            latency_ns: vec![counts.clone(), vec![], counts.clone()],
        };
        Timeline::from_counts(&counts).unwrap()
    });
    let kinds = [FaultKind::Lost, FaultKind::Corrupted, FaultKind::Duplicated];
    let fault = |&(kind, sequence): &(u8, u32)| Fault {
        kind: kinds[usize::from(kind)],
        connection: None,
        reader: None,
        room: start,
        user: Some(1),
        speaker: None,
        sequence: Some(sequence / 10),
        count: 1,
        detail: Some(format!("message {sequence}")),
    };
    record.checks.faults = facts.faults.iter().map(fault).collect();
    record.checks.faults.truncate(crate::EXAMPLES_MAX);
    record.checks.failure = facts.failure.map(|(stopped, detail)| Failure {
        kind: if stopped { FailureKind::Stopped } else { FailureKind::Timeout },
        connection: None,
        room: None,
        user: None,
        detail: detail.to_string(),
    });
    if let Some(failure) = &record.checks.failure {
        shard.reasons = vec![failure.detail.clone()];
        record.verdict = Verdict::from_reasons(vec![Reason::new(Cause::Crowd, failure.detail.as_str())]);
    }
    // Derived from the same counts as everything above.
    let mut part = parts(std::slice::from_ref(&record)).remove(0);
    part.sent = facts.sent;
    part.received = facts.sent;
    part.join_s = facts.join_s;
    let workload = record.workload.kind();
    record.score =
        Score::new(workload, part.sent, part.received, part.elapsed_s(), part.join_s, &record.usage);
    record
}

/// Merges by steps: the numbers say how many of the records that are left are merged next, and where the result goes.
fn merged_in_steps(mut records: Vec<Record>, steps: &[(usize, usize)]) -> Record {
    for (several, place) in steps {
        let several = 1 + several % records.len();
        let merged = merge(records.split_off(records.len() - several)).unwrap();
        records.insert(place % (records.len() + 1), over_a_file(&merged));
    }
    merge(records).unwrap()
}

fn over_a_file(record: &Record) -> Record {
    let read: Record = serde_json::from_str(&serde_json::to_string(record).unwrap()).unwrap();
    assert_eq!(&read, record);
    read
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_and_any_steps_give_the_same_record(
        (facts, order) in vec(facts(), 1..7).prop_flat_map(|facts| {
            let places: Vec<usize> = (0..facts.len()).collect();
            (Just(facts), Just(places).prop_shuffle())
        }),
        steps in vec((any::<usize>(), any::<usize>()), 0..5),
    ) {
        let in_order: Vec<Record> =
            (1..).step_by(3).zip(&facts).map(|(start, facts)| with_facts(start, facts)).collect();
        let shuffled = order.iter().map(|&place| in_order[place].clone()).collect();
        let all = merge(in_order).unwrap();
        prop_assert_eq!(merged_in_steps(shuffled, &steps), all);
    }
}

#[test]
fn a_thousand_shards_merge_in_four_times_the_cpu_time_of_a_quarter() {
    let folder = tempfile::tempdir().unwrap();
    let interval = |place: u64| (1..20).map(|step| ((place + 1) << (step + 8), 5)).collect();
    let counts = IntervalCounts { interval_ms: 100, latency_ns: (0..128).map(interval).collect() };
    let over_time = Timeline::from_counts(&counts).unwrap();
    let file = |number: u32| {
        let record = Record { over_time: Some(over_time.clone()), ..record(1 + 2 * number) };
        let path = folder.path().join(format!("shard-{number}.json"));
        std::fs::write(&path, serde_json::to_string(&record).unwrap()).unwrap();
        path
    };
    let files: Vec<PathBuf> = (0..1_000).map(file).collect();
    let cpu_time = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
    };
    let merge = |files: &[PathBuf]| {
        let before = cpu_time();
        let merged = crate::merge_files(files).unwrap();
        assert_eq!((merged.shards.len(), merged.verdict.status), (files.len(), Status::Valid));
        cpu_time() - before
    };
    let (quarter_s, all_s) = (merge(&files[..250]), merge(&files));
    // A merge that compares each with each takes sixteen times as long.
    assert!(all_s < 8.0 * quarter_s, "{quarter_s:.2} s for 250, and {all_s:.2} s for 1,000");
}
