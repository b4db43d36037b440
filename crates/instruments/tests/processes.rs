//! Instruments that watch processes, against what the tests know by themselves.

mod shared;

use std::io::Read;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use klatch_instruments::Kernel;
use klatch_record::{Found, InstrumentName};
use klatch_testing::{Need, needs};
use shared::{alone, files, found, me, pin, start, watch, while_spinning};

#[test]
fn faults_migrations_and_thread_groups_are_counted() {
    // Large enough to be mapped anew, in pages of whatever size the kernel chooses.
    const PAGES: usize = 20_000;
    const MOVES: u64 = 50;
    let _alone = alone();
    let mut faults = 0;
    let [observation] = watch([InstrumentName::Usage], || {
        let before = own_faults();
        let buffer = vec![1_u8; PAGES * 4096];
        assert_eq!(std::hint::black_box(&buffer)[PAGES], 1);
        faults = own_faults() - before;
        (0..MOVES).for_each(|number| pin((number % 2) as usize));
    });
    let Found::Usage(usage) = found(&observation) else { panic!("{observation:?}") };
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
    // minflt of proc(5), counted from behind the name, which may hold blanks.
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(7).unwrap().parse().unwrap()
}

#[test]
fn calls_and_yields_are_counted_to_the_last() {
    needs!(Need::Bpf);
    const CALLS: u64 = 3_000;
    let _alone = alone();
    let calls = |cpu| {
        pin(cpu);
        let mut zero = std::fs::File::open("/dev/zero").unwrap();
        let mut buffer = [0; 16];
        for _ in 0..CALLS {
            zero.read_exact(&mut buffer).unwrap();
            std::thread::yield_now();
        }
    };
    let begin = Instant::now();
    // Other programs use the CPU too, and one that never leaves it leaves no yield alone.
    let alone_on_it = 'alone: loop {
        for cpu in [0, 1] {
            let [observation] = watch([InstrumentName::Syscalls], || calls(cpu));
            let Found::Syscalls(sides) = found(&observation) else { panic!("{observation:?}") };
            if sides.server.as_ref().unwrap().yields.only > 0 || begin.elapsed() > Duration::from_secs(60) {
                break 'alone observation;
            }
        }
    };
    let mut seen = None;
    while_spinning(1, 0, || seen = Some(watch([InstrumentName::Syscalls], || calls(0))));
    let [with_another] = seen.unwrap();
    for (observation, another) in [(alone_on_it, false), (with_another, true)] {
        let Found::Syscalls(sides) = found(&observation) else { panic!("{observation:?}") };
        let server = sides.server.as_ref().unwrap();
        assert_eq!((server.calls["sched_yield"], server.yields.all), (CALLS, CALLS));
        assert!((CALLS..CALLS + 100).contains(&server.calls["read"]), "{server:?}");
        let klatch_record::observed::Yields { all, only, same, higher, lower, itself } = server.yields;
        assert_eq!(only + same + higher + lower + itself, all);
        let left_it = same + itself + lower + higher;
        assert!(if another { left_it > CALLS * 9 / 10 } else { only > 0 }, "{:?}", server.yields);
    }
}

#[test]
fn a_planted_contention_is_found_with_its_caller_and_its_length() {
    needs!(Need::Bpf);
    // One wait in 32 is asked for its caller: that none of so many is, is one case in 300,000.
    const WAITS: u64 = 400;
    const WRITERS: usize = 5;
    let _alone = alone();
    let (waits, waited_ns) = (AtomicU64::new(0), AtomicU64::new(0));
    let [observation] = watch([InstrumentName::Locks], || {
        let file = tempfile::tempfile_in("/dev/shm").unwrap();
        let begin = Instant::now();
        // Who is preempted as it holds the file's lock lets the others come, and on one CPU nobody can wait by spinning.
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
    let Found::Locks(locks) = found(&observation) else { panic!("{observation:?}") };
    let kind = locks.kinds.iter().find(|kind| kind.kind == "rwsem").expect("the lock of a file is an rwsem");
    assert!(kind.server > WAITS / 2, "{waits:?} waits, {waited_s} s: {locks:?}");
    // A writer also writes, and waits for the CPU; and other threads of this process have locks.
    assert!((0.3..1.1).contains(&(kind.wait_s / waited_s)), "waited {waited_s} s: {locks:?}");
    assert!(locks.callers.iter().any(|caller| caller.caller.contains("write_iter")), "{:?}", locks.callers);
}

/// Burns by itself, without calling anything but the clock now and then.
#[inline(never)]
fn a_routine_that_burns(seconds: f64) -> u64 {
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
fn the_profile_names_the_routine_that_burns() {
    needs!(Need::Bpf);
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let watch = start(Kernel::here(), &[InstrumentName::Profile], &me(), &files(&folder));
    let before = klatch_machine::Snapshot::take(std::process::id()).unwrap();
    std::hint::black_box(a_routine_that_burns(1.5));
    let used = klatch_machine::Snapshot::take(std::process::id()).unwrap().since(&before, 0);
    let [observation] = watch.finish().try_into().unwrap();
    let Found::Profile(profile) = found(&observation) else { panic!("{observation:?}") };
    let server = profile.sides.server.as_ref().unwrap();
    let sampled_s = server.samples as f64 / profile.frequency_hz.unwrap() as f64;
    assert!((0.7..1.4).contains(&(sampled_s / used.cpu_s)), "{sampled_s} s of {} s", used.cpu_s);
    assert!(server.kernel < 0.3, "{server:?}");
    let text = std::fs::read_to_string(folder.path().join(&observation.files[0])).unwrap();
    let samples_of = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    let named =
        text.lines().filter(|line| line.starts_with("server;") && line.contains("a_routine_that_burns"));
    let samples: u64 = named.map(samples_of).sum();
    assert!(samples * 10 > server.samples * 6, "{samples} of {} samples", server.samples);
    assert_eq!(text.lines().map(samples_of).sum::<u64>(), profile.samples);
}
