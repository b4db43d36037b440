//! Whole simulated runs: they repeat to the digit, and differ by scheduler as history says.

use std::sync::Arc;

use klatch_record::{Replay, ReplayStep, ReplayTask};
use klatch_simulator::{
    Account, Cell, ChatSpec, Costs, GoodnessKnobs, Hardware, LocksSpec, MultiqueueKnobs, O1Knobs, Outcome,
    Scheduled, SchedulerSpec, ShardSize, Topology, Workload, simulate, simulate_recorded,
};

const OLD: SchedulerSpec = SchedulerSpec::Goodness(GoodnessKnobs::LINUX_2_4_14);
const MQ: SchedulerSpec = SchedulerSpec::Multiqueue(MultiqueueKnobs::PUBLISHED);
const O1: SchedulerSpec = SchedulerSpec::O1(O1Knobs::LINUX_2_5);

/// All schedulers, with several shards on machines of few CPUs.
fn all() -> impl Iterator<Item = SchedulerSpec> {
    let schedulers = SchedulerSpec::NAMES.map(|name| SchedulerSpec::named(name).unwrap());
    schedulers.into_iter().map(|scheduler| match scheduler {
        SchedulerSpec::Shards(_) => SchedulerSpec::Shards(ShardSize::Cpus(2)),
        other => other,
    })
}

fn cell(scheduler: SchedulerSpec, cpus: usize) -> Cell {
    let hardware =
        Hardware { topology: Topology::flat(cpus), mhz: 700, cache_bytes: 2 << 20, line_bytes: 32 };
    Cell { scheduler, hardware, work: chat(4, 64), placement: Vec::new(), seed: 1 }
}

fn chat(rooms: usize, heap_mb: u64) -> Workload {
    Workload::Chat(ChatSpec { rooms, count: 20, heap_mb, ..ChatSpec::VOLANOMARK })
}

fn run(cell: &Cell) -> Outcome {
    simulate(cell, &Costs::pentium_iii())
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    for scheduler in all() {
        let four = cell(scheduler, 4);
        let first = run(&four);
        assert_eq!(first, run(&four), "{scheduler:?}");
        assert_ne!(first, run(&Cell { seed: 2, ..four }), "{scheduler:?}");
    }
}

#[test]
fn every_message_is_counted_under_every_scheduler() {
    // 4 rooms of 20 users, 20 messages each to 20 users, less the first tenth.
    let expected = 4 * 20 * 20 * 20 * 9 / 10;
    for scheduler in all() {
        for cpus in [1, 3, 8] {
            let counts = run(&cell(scheduler, cpus)).counts;
            assert!(
                (expected - 10..=expected + 10).contains(&counts.messages),
                "{scheduler:?}, {cpus} CPUs: {}",
                counts.messages
            );
            let busy = counts.accounts.total() as f64 / counts.cycles as f64;
            assert!((busy / cpus as f64 - 1.0).abs() < 0.001, "{scheduler:?}, {cpus} CPUs: {busy}");
        }
    }
}

#[test]
fn one_queue_for_eight_cpus_spins_and_queues_for_each_do_not() {
    let spinning = |scheduler| run(&Cell { work: chat(10, 64), ..cell(scheduler, 8) }).share(Account::Spin);
    assert!(spinning(OLD) > 0.3, "{}", spinning(OLD));
    assert!(spinning(MQ) < 0.05 && spinning(O1) < 0.05);
}

#[test]
fn a_process_that_is_bound_to_one_cpu_leaves_the_others_idle() {
    // The client on three CPUs, the server on one.
    let bound = Cell { placement: vec![1..4, 0..1], ..cell(OLD, 4) };
    let idle = [cell(OLD, 4), bound].map(|cell| run(&cell).share(Account::Idle));
    assert!(idle[1] > 2.0 * idle[0], "{idle:?}");
}

#[test]
fn more_heap_means_fewer_collections() {
    let collecting =
        |heap_mb| run(&Cell { work: chat(10, heap_mb), ..cell(MQ, 4) }).share(Account::Collector);
    let shares = [16, 64, 1024].map(collecting);
    assert!(shares.is_sorted_by(|more, fewer| more > fewer), "{shares:?}");
}

#[test]
fn a_chat_without_yields_decides_half_as_often() {
    let counts = |yields: &str| {
        let work = chat(4, 64).with("yields", yields).unwrap();
        run(&Cell { work, ..cell(OLD, 1) }).counts
    };
    let (with, without) = (counts("1"), counts("0"));
    assert!(with.yields > with.messages && without.yields < without.messages / 10, "{without:?}");
    assert!(without.decisions < 2 * with.decisions / 3, "{} and {}", without.decisions, with.decisions);
}

#[test]
fn a_collection_that_also_signals_waiting_threads_wakes_more_of_them() {
    let wakeups = |signals: &str| {
        let work = chat(10, 64).with("signals_waiting", signals).unwrap();
        run(&Cell { work, ..cell(MQ, 4) }).counts.wakeups
    };
    assert!(wakeups("1") > wakeups("0"), "{} and {}", wakeups("1"), wakeups("0"));
}

fn locks(yields: f64, knobs: O1Knobs, futex: bool) -> Outcome {
    let spec = LocksSpec {
        threads: 32,
        locks: 2,
        think_us: 100,
        hold_us: 20,
        sleep_us: 0,
        sections: 200,
        spin_us: None,
        yields: None,
        futex,
    };
    let cell = Cell { work: Workload::Locks(spec), ..cell(SchedulerSpec::O1(knobs), 4) };
    simulate(&cell, &Costs::pentium_iii().with("monitor_yields", yields))
}

#[test]
fn contended_monitors_yield_as_often_as_they_may_and_each_yield_is_classified() {
    let (two_tiers, three_tiers) =
        (locks(0.0, O1Knobs::LINUX_2_5, false), locks(5.0, O1Knobs::LINUX_2_5, false));
    assert_eq!(two_tiers.counts.yields, 0);
    assert!(three_tiers.counts.yields > 0);
    assert_eq!(three_tiers.counts.yields_found.iter().sum::<u64>(), three_tiers.counts.yields);
    assert!(two_tiers.counts.wakeups > three_tiers.counts.wakeups, "without yields more threads block");
}

#[test]
fn an_interrupt_is_handled_while_tasks_only_yield() {
    let spec = LocksSpec {
        threads: 3,
        locks: 1,
        think_us: 1,
        hold_us: 1,
        sleep_us: 100,
        sections: 100,
        spin_us: Some(0),
        yields: Some(1_000_000),
        futex: true,
    };
    let outcome = run(&Cell { work: Workload::Locks(spec), ..cell(SchedulerSpec::Fifo, 1) });
    // Two threads yield until the timer of the third wakes it, and never block.
    assert_eq!(outcome.counts.wakeups, outcome.counts.messages);
    assert!(outcome.us_per_message(Account::Idle) < 1.0 && outcome.counts.yields > outcome.counts.messages);
}

#[test]
fn a_futex_costs_less_kernel_time_than_a_signal() {
    let kernel = |futex| locks(0.0, O1Knobs::LINUX_2_5, futex).us_per_message(Account::Kernel);
    assert!(kernel(true) < kernel(false));
}

#[test]
fn requests_leave_cpus_idle_until_there_are_enough_clients() {
    let idle = |clients: &str| {
        let work = Workload::named("requests").unwrap().with("count", "3000").unwrap();
        let work = work.with("clients", clients).unwrap();
        run(&Cell { work, ..cell(O1, 8) }).share(Account::Idle)
    };
    let (few, many) = (idle("10"), idle("400"));
    assert!(few > 0.8 && many < 0.2, "{few} and {many}");
}

#[test]
fn every_workload_completes_under_every_scheduler_and_repeats() {
    for name in ["requests", "hackbench"] {
        let work = Workload::named(name).unwrap();
        let work =
            if name == "requests" { work.with("count", "1000") } else { work.with("groups", "2") }.unwrap();
        for scheduler in all() {
            for cpus in [1, 8] {
                let cell = Cell { work: work.clone(), ..cell(scheduler, cpus) };
                let outcome = run(&cell);
                assert_eq!(outcome, run(&cell), "{name}, {scheduler:?}, {cpus} CPUs");
                assert!(outcome.counts.waits.count() > 0, "{name}, {scheduler:?}, {cpus} CPUs");
            }
        }
    }
}

#[test]
fn a_task_that_alone_is_woken_waits_for_an_interrupt_and_no_longer() {
    let work =
        Workload::named("requests").unwrap().with("clients", "1").unwrap().with("count", "100").unwrap();
    let outcome = run(&Cell { work, ..cell(SchedulerSpec::Fifo, 8) });
    assert!(outcome.latency_us(0.99) < 10.0, "{} µs", outcome.latency_us(0.99));
}

/// One task wakes the other, which answers, a hundred times.
fn ping_pong() -> Workload {
    let rounds = 100;
    let task = |steps: [ReplayStep; 3]| ReplayTask {
        name: "player".to_owned(),
        process: 0,
        steps: std::iter::repeat_n(steps, rounds).flatten().collect(),
    };
    let [ping, pong] = [[1, 0], [0, 1]].map(|[other, first]| match first {
        0 => task([ReplayStep::Run(50_000), ReplayStep::Wake(other), ReplayStep::Sleep]),
        _ => task([ReplayStep::Sleep, ReplayStep::Run(30_000), ReplayStep::Wake(other)]),
    });
    Workload::Trace(Arc::new(Replay { tasks: vec![ping, pong], cpus: 1, ..Replay::default() }))
}

#[test]
fn a_replayed_trace_takes_its_recorded_cpu_time_and_wakes_each_sleeper_once() {
    for scheduler in all() {
        let outcome = run(&Cell { work: ping_pong(), ..cell(scheduler, 1) });
        // The first tenth does not count; two wake-ups a round.
        assert!((175..=181).contains(&outcome.counts.messages), "{scheduler:?}: {outcome:?}");
        let us = outcome.us_per_message(Account::Kernel);
        assert!((39.0..41.0).contains(&us), "{scheduler:?}: {us} µs");
    }
}

#[test]
fn a_recorded_run_has_the_same_result_and_a_complete_trace() {
    let cell = cell(O1, 4);
    let recorded = simulate_recorded(&cell, &Costs::pentium_iii(), 100);
    assert_eq!(recorded.outcome, run(&cell));
    assert_eq!(recorded.names[0], "room 1 user 1 client receiver");
    let mut running = [None; 4];
    for event in &recorded.events {
        assert!(event.ns <= 100_000_000);
        if let Scheduled::Switch { from, to, .. } = event.what {
            assert_eq!(std::mem::replace(&mut running[event.cpu], to), from, "{event:?}");
        }
    }
    assert!(recorded.events.len() > 10_000, "{} events", recorded.events.len());
}

/// Cycles, decisions and elements read of one small chat. A change of any mechanism changes them, so it is seen.
#[test]
fn the_small_cell_of_each_scheduler_is_as_it_was() {
    let small = |scheduler| {
        let counts = run(&Cell { work: chat(1, 64), ..cell(scheduler, 2) }).counts;
        (counts.cycles, counts.decisions, counts.elements)
    };
    let found: Vec<_> = all().map(|scheduler| (scheduler.name(), small(scheduler))).collect();
    assert_eq!(found, GOLDEN);
}

const GOLDEN: [(&str, (u64, u64, u64)); SchedulerSpec::NAMES.len()] = [
    ("eevdf", (295_926_519, 31_525, 120_568)),
    ("fifo", (393_935_393, 29_207, 28_798)),
    ("goodness", (286_371_487, 27_958, 411_580)),
    ("multiqueue", (278_181_808, 30_909, 207_633)),
    ("o1", (299_098_547, 31_545, 38_009)),
    ("shards", (393_935_393, 29_207, 28_798)),
    ("sleepers", (373_129_098, 29_005, 28_934)),
];
