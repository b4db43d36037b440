//! Instruments that observe the scheduler, compared with counts of the tests themselves.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::shared::{
    data, exclusive, files, instruments, me, observe, pin, ping_pong, start, while_spinning,
};
use klatch_instruments::{Kernel, TraceFile, TraceKind};
use klatch_record::{InstrumentName, ObservationData, Support};
use klatch_testing::{Need, needs};

#[test]
fn queue_length_is_the_number_of_spinning_threads() {
    needs!(Need::Bpf);
    const THREADS: usize = 12;
    let _exclusive = exclusive();
    let mut observed = None;
    while_spinning(THREADS, 0, || {
        // The test observes the spinning threads for a fixed time; there is no event to wait for.
        let pause = || std::thread::sleep(Duration::from_millis(1500));
        observed = Some(observe([InstrumentName::Runqueue], pause));
    });
    let [observation] = observed.unwrap();
    let ObservationData::Runqueue(runqueue) = data(&observation) else { panic!("{observation:?}") };
    let of_cpu = &runqueue.cpus[0];
    // Other programs of the machine add to the queue.
    let expected = THREADS as f64;
    assert!(of_cpu.decisions > 100 && (expected..expected + 4.0).contains(&of_cpu.mean), "{of_cpu:?}");
    assert!(of_cpu.sd < 4.0 && of_cpu.max >= THREADS as u64, "{of_cpu:?}");
    let counted: u64 = runqueue.lengths.iter().map(|row| row.decisions).sum();
    let over_time: u64 = runqueue.over_time.iter().map(|moment| moment.decisions).sum();
    assert_eq!((counted, over_time), (runqueue.all.decisions, runqueue.all.decisions));
    let cost = observation.cost.unwrap();
    assert!(cost.cpu_s > 0.0 && cost.runs > 0 && (1..20_000_000).contains(&cost.memory_bytes), "{cost:?}");
}

#[test]
fn profile_and_decision_agree_on_the_scheduler_share() {
    needs!(Need::Bpf);
    let _exclusive = exclusive();
    let [profile, decision] = observe([InstrumentName::Profile, InstrumentName::Decision], || {
        // Pairs of threads that wake each other and work in between, as servers do.
        let end = Instant::now() + Duration::from_secs(3);
        let pair = || {
            while Instant::now() < end {
                ping_pong(20);
                std::hint::black_box((0..20_000_u64).fold(0, |sum, number| sum ^ number));
            }
        };
        std::thread::scope(|scope| (0..10).for_each(|_| drop(scope.spawn(pair))));
    });
    let (ObservationData::Profile(profile), ObservationData::Decision(decision)) =
        (data(&profile), data(&decision))
    else {
        panic!("{profile:?} {decision:?}")
    };
    let cpus = std::thread::available_parallelism().unwrap().get() as f64;
    let sampled_s = profile.machine.inclusive.scheduler * profile.machine.samples as f64
        / profile.frequency_hz.unwrap() as f64;
    let timed_s = decision.share_of_cpus * 3.0 * cpus;
    assert!(timed_s > 0.05, "the scheduler was not busy: {timed_s} s");
    assert!((0.6..1.7).contains(&(sampled_s / timed_s)), "sampled {sampled_s} s, timed {timed_s} s");
    let (of_decision, of_whole) = (decision.decision.all_ns, decision.whole.all_ns);
    assert!(of_decision.count > 1_000 && of_whole.p50 > of_decision.p50, "{of_decision:?} {of_whole:?}");
}

#[test]
fn wakeups_agree_with_voluntary_switches() {
    needs!(Need::Bpf);
    const ROUNDS: usize = 5_000;
    let _exclusive = exclusive();
    let mut waits = 0;
    let [observation] = observe([InstrumentName::Wakeups], || waits = ping_pong(ROUNDS));
    let ObservationData::Wakeups(wakeups) = data(&observation) else { panic!("{observation:?}") };
    let server = wakeups.server.as_ref().unwrap();
    let (observed, waits) = (server.latency_us.count as f64, waits as f64);
    assert!(waits > ROUNDS as f64 && (0.98..1.02).contains(&(observed / waits)), "{waits} waits, {server:?}");
    assert!(server.untimed * 10 < server.wakeups && wakeups.crowd.is_none(), "{server:?}");
}

/// Other programs delay wake-ups that the thread itself does not see, so one of three measurements has to agree.
#[test]
fn wakeup_latency_agrees_with_the_woken_thread() {
    needs!(Need::Bpf);
    let _exclusive = exclusive();
    let mut ratios = Vec::new();
    for _ in 0..3 {
        let ratio = observed_to_own_latency();
        if (0.7..1.4).contains(&ratio) {
            return;
        }
        ratios.push(ratio);
    }
    panic!("the instrument's sum of latencies is so many times that of the thread: {ratios:?}");
}

/// The sum of wake-up latencies that the instrument shows, in that which the woken thread measures itself.
fn observed_to_own_latency() -> f64 {
    const ROUNDS: u32 = 150;
    let mut own_us = 0.0;
    let mut observed = None;
    // The woken thread shares its CPU with spinning threads, so it waits for milliseconds.
    while_spinning(4, 0, || {
        observed = Some(observe([InstrumentName::Wakeups], || {
            let (mut reader, mut writer) = std::io::pipe().unwrap();
            let epoch = Instant::now();
            let read = Arc::new(AtomicU32::new(0));
            let reads = read.clone();
            let sleeper = std::thread::spawn(move || {
                pin(0);
                let (mut stamp, mut sum_us) = ([0; 8], 0.0);
                for _ in 0..ROUNDS {
                    reader.read_exact(&mut stamp).unwrap();
                    sum_us += epoch.elapsed().as_secs_f64() * 1e6 - f64::from_ne_bytes(stamp);
                    reads.fetch_add(1, Ordering::Release);
                }
                sum_us
            });
            pin(1);
            for round in 0..ROUNDS {
                // A thread that has not run since its last wake-up would not be woken again.
                while read.load(Ordering::Acquire) < round {
                    std::hint::spin_loop();
                }
                // Spins until the other thread sleeps again. Sleeping here would add wake-ups of this thread.
                let asleep = Instant::now() + Duration::from_millis(8);
                while Instant::now() < asleep {
                    std::hint::spin_loop();
                }
                writer.write_all(&(epoch.elapsed().as_secs_f64() * 1e6).to_ne_bytes()).unwrap();
            }
            own_us = sleeper.join().unwrap() / f64::from(ROUNDS);
        }));
    });
    let [observation] = observed.unwrap();
    let ObservationData::Wakeups(wakeups) = data(&observation) else { panic!("{observation:?}") };
    let latency = wakeups.server.as_ref().unwrap().latency_us;
    let sum_us = latency.mean * latency.count as f64;
    sum_us / (own_us * f64::from(ROUNDS))
}

#[test]
fn counts_in_windows_are_scaled_to_the_whole_run() {
    needs!(Need::Bpf);
    const NAMES: [InstrumentName; 4] = [
        InstrumentName::Runqueue,
        InstrumentName::Decision,
        InstrumentName::Wakeups,
        InstrumentName::Syscalls,
    ];
    let _exclusive = exclusive();
    let folder = tempfile::tempdir().unwrap();
    let running = instruments(Kernel::detect(), &NAMES).start(&me(), &files(&folder));
    let (began, mut rounds, mut waits) = (Instant::now(), 0, 0);
    while began.elapsed() < Duration::from_secs(4) {
        waits += ping_pong(500);
        rounds += 500;
    }
    let observed = running.finish();
    for one in &observed {
        let share = one.share_of_time.expect("the instrument uses windows");
        assert!((0.02..0.3).contains(&share), "{one:?}");
    }
    let [runqueue, decision, wakeups, calls] = observed.as_slice() else { panic!("{observed:?}") };
    let (ObservationData::Runqueue(runqueue), ObservationData::Decision(decision)) =
        (data(runqueue), data(decision))
    else {
        panic!("{observed:?}")
    };
    let (ObservationData::Wakeups(wakeups), ObservationData::Syscalls(calls)) = (data(wakeups), data(calls))
    else {
        panic!("{observed:?}")
    };
    // There are only a dozen windows, and the speed of the machine varies between them.
    let about = |estimate: u64, exact: u64| (0.5..2.0).contains(&(estimate as f64 / exact as f64));
    let (wakeups, calls) = (wakeups.server.as_ref().unwrap(), calls.server.as_ref().unwrap());
    assert!(about(wakeups.wakeups, waits), "{waits} waits, {wakeups:?}");
    assert!(about(calls.calls["read"], 2 * rounds), "{rounds} rounds, {calls:?}");
    // Decisions are not scaled.
    assert!((1_000..waits).contains(&runqueue.all.decisions), "{waits} waits, {:?}", runqueue.all);
    // No decision may span two windows.
    assert!(decision.whole.all_ns.max < 1e8, "{:?}", decision.whole.all_ns);
}

#[test]
fn a_trace_contains_every_wakeup() {
    needs!(Need::Bpf);
    const ROUNDS: usize = 1_000;
    let _exclusive = exclusive();
    let folder = tempfile::tempdir().unwrap();
    let running = start(Kernel::detect(), &[InstrumentName::Trace], &me(), &files(&folder));
    let waits = ping_pong(ROUNDS);
    let [observation] = running.finish().try_into().unwrap();
    let ObservationData::Trace(trace) = data(&observation) else { panic!("{observation:?}") };
    let file = std::fs::File::open(folder.path().join(&observation.files[0])).unwrap();
    let read = TraceFile::read(file).unwrap();
    assert_eq!((read.events.len() as u64, read.lost), (trace.events, Some(trace.lost)));
    assert_eq!(trace.lost, 0);
    let mine = |event: &&klatch_instruments::TraceEvent| {
        event.kind == TraceKind::Waking && event.tgid == std::process::id()
    };
    let wakings = read.events.iter().filter(mine).count() as u64;
    // A waker can find the other thread not yet asleep. Then no thread waited, but the event is still recorded.
    assert!(waits > 0 && wakings >= waits, "{waits} waits, {wakings} wakings: {trace:?}");
    assert!(read.events.is_sorted_by_key(|event| event.ns));
}

#[test]
fn missing_kernel_features_are_reported_and_the_rest_works() {
    needs!(Need::Bpf);
    let _exclusive = exclusive();
    let folder = tempfile::tempdir().unwrap();
    let names = InstrumentName::ALL;
    let running = start(Kernel::without_tracepoints(&["sched_entry_tp"]), &names, &me(), &files(&folder));
    ping_pong(5_000);
    for one in running.finish() {
        match one.instrument {
            InstrumentName::Runqueue => {
                assert!(matches!(one.support, Support::Fallback { .. }), "{one:?}");
                let ObservationData::Runqueue(queue) = data(&one) else { panic!("{one:?}") };
                assert!(queue.all.decisions > 100 && queue.all.mean >= 1.0, "{:?}", queue.all);
            }
            InstrumentName::Decision => {
                let Support::NotAvailable { why, .. } = &one.support else { panic!("{one:?}") };
                assert_eq!(why, "the kernel has no tracepoint sched_entry_tp");
                assert!(one.data.is_none() && one.failure.is_none());
            }
            // Virtual CPUs often have no counters, and only the lab models cycles.
            InstrumentName::Instructions | InstrumentName::CacheMisses | InstrumentName::ModelledCycles => {
                assert!(one.failure.is_none() && one.data.is_some() == one.support.works(), "{one:?}");
            }
            _ => assert!(one.failure.is_none() && one.data.is_some(), "{one:?}"),
        }
    }
    for one in start(Kernel::without_btf(), &names, &me(), &files(&folder)).finish() {
        let without_bpf =
            [InstrumentName::Usage, InstrumentName::Tcp, InstrumentName::Jvm, InstrumentName::Jfr];
        assert!(one.support.works() || !without_bpf.contains(&one.instrument), "{one:?}");
        // What says that it works has data.
        assert!(one.failure.is_none() && one.data.is_some() == one.support.works(), "{one:?}");
    }
}
