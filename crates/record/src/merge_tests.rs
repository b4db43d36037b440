use super::*;
use crate::{
    ChatWorkload, DatabaseCounts, EXAMPLES_MAX, Environment, Failure, FailureKind, Fault, FaultKind, Gate,
    IntervalCounts, Latency, Moment, OperationKindScore, OrdersCounts, OrdersScore, PartyCounts, Results,
    Status, Stranger, Timeline, WarningKind, Workload, WorkloadKind, samples,
};

/// Two rooms from `start` on.
fn workload(start: u32, users: u32) -> Workload {
    let sample = samples::record(1, 0, 1.0).workload;
    let chat = ChatWorkload { users, count: 10, ..sample.chat().unwrap().clone() };
    Workload::Chat(chat).with_parties(start, 2)
}

pub(crate) fn shard(start: u32, rooms: u32) -> Shard {
    Shard {
        start,
        rooms,
        address: "10.0.0.7:6667".into(),
        command: vec!["klatch".into(), "crowd".into()],
        elapsed_s: 10.0,
        total: 400,
        ..samples::shard()
    }
}

fn environment(kernel: &str) -> Environment {
    Environment { kernel: kernel.into(), ..samples::record(1, 0, 1.0).environment }
}

fn usage(cpu_s: f64) -> Usage {
    let one = Usage {
        cpu_s,
        user_s: cpu_s / 3.0,
        system_s: cpu_s - cpu_s / 3.0,
        cpu_us_per_message: 0.0,
        user_us_per_message: 0.0,
        system_us_per_message: 0.0,
        switches_voluntary: Some(7),
        switches_involuntary: Some(3),
        switches_per_message: Some(0.0),
        threads: 4,
        memory_peak_bytes: Some(1_000),
        gc_s: Some(cpu_s / 7.0),
    };
    Usage::together(&[&one], 400).unwrap()
}

/// All 300 deliveries, in intervals whose width depends on the number.
fn over_time(start: u32) -> Timeline {
    let interval_ms = 25 << (start % 3);
    let latency_ns = vec![vec![(1_024, 200)], vec![], vec![(u64::from(start) << 20, 99), (1 << 22, 1)]];
    Timeline::from_counts(&IntervalCounts { interval_ms, latency_ns }).unwrap()
}

/// The record of a shard with rooms `start` to `start + 1`; the number makes it differ from others.
pub(crate) fn record(start: u32) -> Record {
    let odd = f64::from(start) / 7.0;
    let shard = Shard { elapsed_s: 10.0 + odd.round(), usage: Some(usage(odd)), ..shard(start, 2) };
    let usage = UsageOfBoth { server: None, crowd: Some(usage(odd)), database: None };
    let sample = samples::record(1, 0, 1.0);
    Record {
        started_at: format!("2026-11-21T10:00:{start:02}Z"),
        platform: Platform { name: "irc://10.0.0.7:6667".into(), class: None, ..sample.platform },
        workload: workload(start, 5),
        score: Score::new(WorkloadKind::Chat, 100, 300, shard.elapsed_s, odd, &usage),
        latency: Latency::from_counts_ns(&[(u64::from(start) * 1_000, 200), (5_000_000, 100)]).unwrap(),
        over_time: Some(over_time(start)),
        usage,
        environment: environment("6.1"),
        shards: vec![shard],
        ..sample
    }
}

/// The same with everything that can be wrong with it.
fn spoilt(start: u32) -> Record {
    let mut record = record(start);
    let fault = |sequence| Fault {
        connection: None,
        reader: None,
        kind: FaultKind::Lost,
        room: start,
        user: Some(1),
        speaker: Some(2),
        sequence: Some(sequence),
        count: 1,
        detail: None,
    };
    record.checks.lost = 15;
    record.checks.faults = (0..15).rev().map(fault).collect();
    record.checks.strangers = vec![Stranger { room: start, nick: "eve".into(), messages: 1 }];
    let (kind, detail) = (FailureKind::Timeout, "no progress for 60 s".to_owned());
    record.checks.failure = Some(Failure { kind, connection: None, room: None, user: None, detail });
    let advice = "lower the rate".to_owned();
    let late = Warning { kind: WarningKind::CrowdLate, message: format!("{start} ms late"), advice };
    record.warnings = vec![late];
    record.shards[0].warnings = record.warnings.clone();
    record.shards[0].reasons = vec!["no progress for 60 s".into(), "15 deliveries lost".into()];
    record.shards[0].host = Some(format!("host{start}"));
    let mut reasons = vec![Reason::new(Cause::Server, "the server died: killed by SIGKILL")];
    reasons.extend(record.shards[0].reasons.iter().map(|reason| Reason::new(Cause::Crowd, reason.as_str())));
    record.verdict = Verdict::from_reasons(reasons);
    record
}

#[test]
fn sums_are_exact() {
    let merged = merge(vec![record(3), record(1)]).unwrap();
    assert_eq!((merged.verdict.status, merged.verdict.reasons.len()), (Status::Valid, 0));
    assert_eq!((merged.workload.start(), merged.workload.parties()), (1, 4));
    assert_eq!((merged.score.sent, merged.score.received, merged.score.total), (200, 600, 800));
    assert_eq!((merged.score.elapsed_s, merged.score.messages_per_s), (10.0, 80.0));
    let latency = merged.latency.unwrap();
    assert_eq!(latency, {
        let counts = [(1_000, 200), (5_000_000, 200), (3_000, 200)];
        Latency::from_counts_ns(&counts).unwrap().unwrap()
    });
    let over_time = merged.over_time.unwrap();
    let deliveries: Vec<u64> = over_time.intervals.iter().map(|interval| interval.deliveries).collect();
    assert_eq!((over_time.interval_ms, &deliveries[..]), (50, &[400, 100, 100][..]));
    let crowd = merged.usage.crowd.unwrap();
    assert!((crowd.cpu_s - 4.0 / 7.0).abs() < 1e-8 && crowd.threads == 8, "{crowd:?}");
    assert_eq!(crowd.cpu_us_per_message, crowd.cpu_s * 1e6 / 800.0);
    assert_eq!(merged.shards.iter().map(|shard| shard.start).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn the_merge_of_merges_is_the_merge_of_all() {
    let mut gated = [record(1), spoilt(3), record(5), spoilt(7)];
    gated[3].environment = environment("6.18");
    gated[1].shards[0].opened = Some(Moment { clock: "a".into(), ns: 5_000_000_000 });
    gated[2].shards[0].opened = Some(Moment { clock: "a".into(), ns: 7_000_000_000 });
    for record in &mut gated {
        record.shards[0].gate = Some(Gate { shards: 4, name: "gate".into() });
    }
    let [a, b, c, d] = gated;
    let all = merge(vec![d.clone(), b.clone(), a.clone(), c.clone()]).unwrap();
    let pairs = [[&a, &b, &c, &d], [&a, &c, &b, &d], [&d, &a, &c, &b]];
    for [one, two, three, four] in pairs {
        let left = merge(vec![one.clone(), two.clone()]).unwrap();
        let right = merge(vec![three.clone(), four.clone()]).unwrap();
        assert_eq!(merge(vec![right, left.clone()]).unwrap(), all);
        let three_of_them = merge(vec![three.clone(), left]).unwrap();
        assert_eq!(merge(vec![merge(vec![three_of_them]).unwrap(), four.clone()]).unwrap(), all);
    }
    assert_eq!(all.checks.lost, 30);
    let over_time = all.over_time.unwrap();
    assert_eq!(over_time.intervals.iter().map(|interval| interval.deliveries).sum::<u64>(), 1_200);
    assert_eq!(all.checks.faults.len(), EXAMPLES_MAX);
    let reasons: Vec<&str> = all.verdict.reasons.iter().map(|reason| reason.message.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "the server died: killed by SIGKILL",
            "the shard of rooms 3 to 4 on host3: no progress for 60 s",
            "the shard of rooms 3 to 4 on host3: 15 deliveries lost",
            "the shard of rooms 7 to 8 on host7: no progress for 60 s",
            "the shard of rooms 7 to 8 on host7: 15 deliveries lost",
        ]
    );
    let messages: Vec<&str> = all.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        messages[..2],
        ["the shard of rooms 3 to 4 on host3: 3 ms late", "the shard of rooms 7 to 8 on host7: 7 ms late"]
    );
    assert_eq!(all.shards[3].environment, Some(environment("6.18")));
}

#[test]
fn a_shard_that_is_missing_is_told() {
    let gated = |start| {
        let mut record = record(start);
        record.shards[0].gate = Some(Gate { shards: 3, name: "gate".into() });
        record
    };
    let merged = merge(vec![gated(1), gated(5)]).unwrap();
    assert_eq!(merged.verdict.status, Status::Invalid);
    let told =
        "2 of 3 announced shards are here: the shard of rooms 1 to 2, the shard of rooms 5 to 6".to_owned();
    assert_eq!(merged.verdict.reasons, [Reason::new(Cause::MissingShards, told)]);
    let whole = merge(vec![merged, gated(3)]).unwrap();
    assert_eq!((whole.verdict.status, whole.verdict.reasons.len()), (Status::Valid, 0));
}

#[test]
fn a_contradiction_leaves_the_verdict_unknown_until_a_shard_fails() {
    let mut odd = record(1);
    odd.verdict = Verdict::from_reasons(vec![Reason::new(Cause::Contradiction, "Little's law is broken")]);
    let merged = merge(vec![odd, record(3)]).unwrap();
    assert_eq!((merged.verdict.status, merged.verdict.reasons.len()), (Status::Unknown, 1));
    let merged = merge(vec![merged, spoilt(5)]).unwrap();
    assert_eq!((merged.verdict.status, merged.verdict.reasons.len()), (Status::Invalid, 4));
}

#[test]
fn a_reason_with_the_words_of_a_warning_still_invalidates() {
    let mut died = record(1);
    let message = "the server died: killed by SIGKILL".to_owned();
    died.verdict = Verdict::from_reasons(vec![Reason::new(Cause::Server, message.as_str())]);
    died.warnings = vec![Warning { kind: WarningKind::LittlesLaw, message, advice: String::new() }];
    assert_eq!(merge(vec![died, record(3)]).unwrap().verdict.status, Status::Invalid);
}

#[test]
fn a_reason_of_the_run_with_the_words_of_a_shard_is_kept() {
    let mut record = spoilt(1);
    record.verdict.reasons.push(Reason::new(Cause::Server, "15 deliveries lost"));
    let merged = merge(vec![record]).unwrap();
    let of_server = |reason: &&Reason| reason.cause == Cause::Server;
    assert_eq!(merged.verdict.reasons.iter().filter(of_server).count(), 2);
}

#[test]
fn uneven_shards_are_told() {
    let mut short = record(3);
    short.shards[0].elapsed_s = 2.0;
    let merged = merge(vec![record(1), short]).unwrap();
    assert_eq!(merged.warnings.len(), 1);
    assert_eq!(merged.warnings[0].kind, WarningKind::ShardsUneven);
    assert_eq!(merged.warnings[0].message, "all shards were active in 20 % of the time only");
}

#[test]
fn what_is_not_of_one_run_is_refused() {
    let error = |other: Record| merge(vec![record(1), other]).unwrap_err().to_string();
    let same_rooms =
        "the shard of rooms 1 to 2 and the shard of rooms 2 to 3 share rooms: is a record named twice?";
    assert_eq!(error(record(2)), same_rooms);
    let mut other = record(3);
    other.number = 2;
    assert!(error(other).ends_with("the run is \"trial\" 1 in one record and \"trial\" 2 in another"));
    let mut other = record(3);
    other.workload = workload(3, 6);
    assert!(error(other).contains("the workload of a party is {"));
    let mut other = record(3);
    other.shards.clear();
    assert!(error(other).contains("names no shard"));
    assert_eq!(merge(vec![]).unwrap_err().to_string(), "there is no record to merge");
}

#[test]
fn sums_that_do_not_fit_are_refused() {
    // Three records have them, so the largest count of a histogram, 2^63 - 1, is enough.
    const MOST: u64 = i64::MAX as u64;
    fn crowd(record: &mut Record) -> &mut Usage {
        record.usage.crowd.as_mut().unwrap()
    }
    fn latency() -> Option<Latency> {
        Latency::from_counts_ns(&[(1_000, MOST)]).unwrap()
    }
    fn over_time() -> Option<Timeline> {
        let counts = IntervalCounts { interval_ms: 25, latency_ns: vec![vec![(1_024, MOST)]] };
        Some(Timeline::from_counts(&counts).unwrap())
    }
    const PARTIES: PartyCounts = PartyCounts { parties: MOST, least: 1, most: 1 };
    fn kind() -> OperationKindScore {
        let latency = Latency::from_counts_ns(&[(1_000, 1)]).unwrap().unwrap();
        OperationKindScore { name: "buy".into(), count: MOST, share: 1.0, latency }
    }
    type Damage = fn(&mut Record);
    let damages: [(&str, Damage); 28] = [
        ("messages sent", |record| record.score.sent = MOST),
        ("deliveries", |record| record.score.received = MOST),
        ("messages sent and deliveries", |record| {
            (record.score.sent, record.score.received) = (MOST / 2, MOST / 2);
        }),
        ("lost deliveries", |record| record.checks.lost = MOST),
        ("unsent messages", |record| record.checks.unsent = MOST),
        ("duplicated deliveries", |record| record.checks.duplicated = MOST),
        ("reordered deliveries", |record| record.checks.reordered = MOST),
        ("corrupted deliveries", |record| record.checks.corrupted = MOST),
        ("unexpected replies", |record| record.checks.unexpected = MOST),
        ("wrong replies", |record| record.checks.wrong = MOST),
        ("counts of times", |record| record.latency = latency()),
        ("counts of times", |record| record.send_lag = latency()),
        ("counts of times", |record| record.over_time = over_time()),
        ("CPU times", |record| crowd(record).cpu_s = 1e300),
        ("CPU times", |record| crowd(record).system_s = 1e300),
        ("times of garbage collection", |record| crowd(record).gc_s = Some(1e300)),
        ("context switches", |record| crowd(record).switches_voluntary = Some(MOST)),
        ("context switches", |record| crowd(record).switches_involuntary = Some(MOST)),
        ("threads", |record| crowd(record).threads = MOST),
        ("resident sets", |record| crowd(record).memory_peak_bytes = Some(MOST)),
        ("parties", |record| {
            record.results = Results::Rr { parties: PARTIES, kinds: Vec::new(), reopened: 0 }
        }),
        ("operations in the window", |record| {
            let parties = PartyCounts::default();
            record.results = Results::Web { parties, in_window: MOST, conforming: None };
        }),
        ("operations", |record| {
            let (parties, kinds) = (PartyCounts::default(), vec![kind()]);
            record.results = Results::Trade { parties, in_window: 0, kinds };
        }),
        ("refused orders", |record| {
            let (parties, kinds) = (PartyCounts::default(), vec![]);
            let score = OrdersScore::new(1, OrdersCounts { steady_s: 1.0, refused: MOST, short: 0 }, &kinds);
            record.results = Results::Orders { parties, in_window: 0, kinds, score };
        }),
        ("transactions", |record| {
            record.shards[0].database = Some(DatabaseCounts { transactions: MOST, ..Default::default() });
        }),
        ("waits for the pool", |record| {
            record.shards[0].database = Some(DatabaseCounts { pool_wait_us: MOST, ..Default::default() });
        }),
        ("times of a shard", |record| {
            record.shards[0].opened = Some(Moment { clock: "a".into(), ns: u64::MAX });
        }),
        ("first room and rooms of a shard", |record| {
            if record.shards[0].start == 5 {
                record.shards[0].rooms = u32::MAX;
            }
        }),
    ];
    for (what, damage) in damages {
        let mut records = [1, 3, 5].map(record);
        records.iter_mut().for_each(damage);
        match merge(records.into()) {
            Err(error @ (MergeError::Sum(_) | MergeError::Latency(LatencyError::Sum(_)))) => {
                let told = error.to_string();
                assert!(told.starts_with(&format!("the {what} add up to more than ")), "{told}");
            }
            other => panic!("{what}: {other:?}"),
        }
    }
}

#[test]
fn the_messages_of_a_workload_that_nobody_could_send_do_not_wrap() {
    let chat = ChatWorkload { rooms: u32::MAX, users: u32::MAX, count: u32::MAX, ..ChatWorkload::default() };
    assert_eq!(Workload::Chat(chat).messages_expected(), Some(u64::MAX));
    assert_eq!(ChatWorkload { users: 0, ..ChatWorkload::default() }.received_expected(), 0);
    assert_eq!(shard(u32::MAX, 7).to_string(), "the shard of rooms 4294967295 to 4294967295");
}
