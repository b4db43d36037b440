//! Instruments that observe processes, compared with counts of the tests themselves.

use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::shared::{data, exclusive, files, me, observe, pin, start, while_spinning};
use klatch_instruments::Kernel;
use klatch_record::observed::{LockCaller, Waiter};
use klatch_record::{InstrumentName, ObservationData};
use klatch_testing::{Need, needs};

#[test]
fn faults_migrations_and_thread_groups_are_counted() {
    // Large enough for a new mapping; the kernel chooses the page size.
    const PAGES: usize = 20_000;
    const MOVES: u64 = 50;
    let _exclusive = exclusive();
    let mut faults = 0;
    let [observation] = observe([InstrumentName::Usage], || {
        let before = own_faults();
        let buffer = vec![1_u8; PAGES * 4096];
        assert_eq!(std::hint::black_box(&buffer)[PAGES], 1);
        faults = own_faults() - before;
        (0..MOVES).for_each(|number| pin((number % 2) as usize));
    });
    let ObservationData::Usage(usage) = data(&observation) else { panic!("{observation:?}") };
    let server = usage.sides.server.as_ref().unwrap();
    assert!(faults > 0 && server.faults_minor >= faults, "{faults} faults, {server:?}");
    assert!(server.migrations >= Some(MOVES - 1), "{server:?}");
    let threads: u64 = server.thread_groups.iter().map(|group| group.threads).sum();
    assert!(threads >= 2 && server.memory_bytes > 1 << 20, "{server:?}");
    assert_eq!(usage.sides.crowd, None);
}

/// Minor faults of this thread so far.
fn own_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    // minflt of proc(5). Fields are counted after the name, which can contain spaces.
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(7).unwrap().parse().unwrap()
}

#[test]
fn every_call_and_yield_is_counted() {
    needs!(Need::Bpf);
    const CALLS: u64 = 3_000;
    let _exclusive = exclusive();
    let calls = |cpu| {
        pin(cpu);
        let mut zero = std::fs::File::open("/dev/zero").unwrap();
        let mut buffer = [0; 16];
        for _ in 0..CALLS {
            zero.read_exact(&mut buffer).unwrap();
            // One that no server makes for a message.
            std::fs::metadata("/").unwrap();
            std::thread::yield_now();
        }
    };
    let begin = Instant::now();
    // The outcome `only` needs a moment without another runnable task, so the test tries both CPUs in turn.
    let sole_task = 'sole: loop {
        for cpu in [0, 1] {
            let [observation] = observe([InstrumentName::Syscalls], || calls(cpu));
            let ObservationData::Syscalls(sides) = data(&observation) else { panic!("{observation:?}") };
            if sides.server.as_ref().unwrap().yields.only > 0 || begin.elapsed() > Duration::from_secs(60) {
                break 'sole observation;
            }
        }
    };
    let mut observed = None;
    while_spinning(1, 0, || observed = Some(observe([InstrumentName::Syscalls], || calls(0))));
    let [with_another] = observed.unwrap();
    for (observation, another) in [(sole_task, false), (with_another, true)] {
        let ObservationData::Syscalls(sides) = data(&observation) else { panic!("{observation:?}") };
        let server = sides.server.as_ref().unwrap();
        assert_eq!((server.calls["sched_yield"], server.yields.all), (CALLS, CALLS));
        for call in ["read", "statx"] {
            assert!((CALLS..CALLS + 100).contains(&server.calls[call]), "{server:?}");
        }
        let klatch_record::observed::Yields { all, only, same, higher, lower, continued } = server.yields;
        assert_eq!(only + same + higher + lower + continued, all);
        let with_competition = same + continued + lower + higher;
        match another {
            true => assert!(with_competition > CALLS * 9 / 10, "{:?}", server.yields),
            false if only == 0 => klatch_testing::not_run(
                "the outcome `only` of a yield",
                "undecided on this busy machine: no CPU was without another runnable task for a minute",
            ),
            false => {}
        }
    }
}

#[test]
fn a_contended_lock_is_reported_with_caller_and_wait_time() {
    needs!(Need::Bpf);
    // One wait in four is sampled for its caller.
    const WAITS: u64 = 400;
    const WRITERS: usize = 5;
    let _exclusive = exclusive();
    let (waits, waited_ns) = (AtomicU64::new(0), AtomicU64::new(0));
    let [observation] = observe([InstrumentName::Locks], || {
        let file = tempfile::tempfile_in("/dev/shm").unwrap();
        let begin = Instant::now();
        // All writers share one CPU, so a writer that is preempted with the lock held makes the others sleep, not spin.
        let write = || {
            pin(0);
            let block = vec![1; 4 << 20];
            while waits.load(Ordering::Relaxed) < WAITS && begin.elapsed() < Duration::from_secs(60) {
                let begin = Instant::now();
                file.write_all_at(&block, 0).unwrap();
                let took_ns = begin.elapsed().as_nanos() as u64;
                waited_ns.fetch_add(took_ns, Ordering::Relaxed);
                waits.fetch_add(u64::from(took_ns > 4_000_000), Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| (0..WRITERS).for_each(|_| drop(scope.spawn(write))));
    });
    let waited_s = waited_ns.into_inner() as f64 / 1e9;
    let ObservationData::Locks(locks) = data(&observation) else { panic!("{observation:?}") };
    let kind = locks.kinds.iter().find(|kind| kind.kind == "rwsem").expect("a file is locked by an rwsem");
    assert!(kind.server > WAITS / 2, "{waits:?} waits, {waited_s} s: {locks:?}");
    // The writers' time also includes writing and waiting for the CPU, and other threads of this process use locks, too.
    assert!((0.3..1.1).contains(&(kind.wait_s / waited_s)), "waited {waited_s} s: {locks:?}");
    assert!(kind.server_wait_s > kind.wait_s * 0.5 && kind.crowd_wait_s == 0.0, "{locks:?}");
    let of_server = |caller: &&LockCaller| caller.waiter == Waiter::Server;
    let mut callers = locks.callers.iter().filter(of_server);
    assert!(callers.any(|caller| caller.caller.contains("write_iter")), "{:?}", locks.callers);
}

/// Uses CPU time in its own code; it calls only the clock, and rarely.
#[inline(never)]
fn a_busy_routine(seconds: f64) -> u64 {
    let begin = Instant::now();
    let mut bits = 1_u64;
    while begin.elapsed().as_secs_f64() < seconds {
        let mut left = 1_000_000;
        while left != 0 {
            bits = (bits << 7) ^ (bits >> 9) ^ left;
            left -= 1;
        }
    }
    bits
}

#[test]
fn the_profile_names_the_busy_routine() {
    needs!(Need::Bpf);
    let _exclusive = exclusive();
    let folder = tempfile::tempdir().unwrap();
    let running = start(Kernel::detect(), &[InstrumentName::Profile], &me(), &files(&folder));
    let before = klatch_host::machine::Snapshot::take(std::process::id()).unwrap();
    std::hint::black_box(a_busy_routine(1.5));
    let used = klatch_host::machine::Snapshot::take(std::process::id()).unwrap().since(&before, 0);
    let [observation] = running.finish().try_into().unwrap();
    let ObservationData::Profile(profile) = data(&observation) else { panic!("{observation:?}") };
    let server = profile.sides.server.as_ref().unwrap();
    let sampled_s = server.samples as f64 / profile.frequency_hz.unwrap() as f64;
    assert!((0.7..1.4).contains(&(sampled_s / used.cpu_s)), "{sampled_s} s of {} s", used.cpu_s);
    assert!(server.kernel < 0.3, "{server:?}");
    let text = std::fs::read_to_string(folder.path().join(&observation.files[0])).unwrap();
    let samples_of = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    let named = text.lines().filter(|line| line.starts_with("server;") && line.contains("a_busy_routine"));
    let samples: u64 = named.map(samples_of).sum();
    assert!(samples * 10 > server.samples * 6, "{samples} of {} samples:\n{text}", server.samples);
    assert_eq!(text.lines().map(samples_of).sum::<u64>(), profile.samples);
}

/// Other programs on this machine may send meanwhile, so the counts are at least those of the test.
#[test]
fn segments_over_the_loopback_are_counted() {
    const SEGMENTS: u64 = 2_000;
    let _exclusive = exclusive();
    let [observation] = observe([InstrumentName::Tcp], || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.set_nodelay(true).unwrap();
        for _ in 0..SEGMENTS {
            client.write_all(b"segment").unwrap();
            server.read_exact(&mut [0; 7]).unwrap();
        }
    });
    let ObservationData::Tcp(tcp) = data(&observation) else { panic!("{observation:?}") };
    let counts = tcp.sides.server.unwrap();
    assert!(counts.segments_sent >= SEGMENTS && counts.segments_received >= SEGMENTS, "{counts:?}");
    assert!(counts.segments_with_data >= Some(SEGMENTS), "{counts:?}");
    // Each has headers of 40 bytes or more.
    assert!(counts.bytes_sent >= Some(SEGMENTS * 47), "{counts:?}");
    assert_eq!(tcp.sides.crowd, None, "it shares the namespace");
}
