//! The model of caches against closed forms, and against a second model that is written for clarity alone.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_uint};
use std::sync::Mutex;

use proptest::prelude::*;

use crate::counters::counts::{EVENTS, Event, Events};
use crate::counters::hardware::{Geometry, Hardware};

#[repr(C)]
struct CGeometry {
    bytes: u64,
    ways: u32,
}

#[repr(C)]
struct CSetup {
    cpus: u32,
    line_bytes: u32,
    l1d: CGeometry,
    l1i: CGeometry,
    l2: CGeometry,
    l2_is_shared: bool,
}

// SAFETY: these are the declarations of plugin/caches.h.
unsafe extern "C" {
    fn caches_create(setup: *const CSetup) -> *const c_char;
    fn caches_access(cpu: c_uint, address: u64, bytes: c_uint, is_write: bool, counts: *mut u64);
    fn caches_fetch(cpu: c_uint, address: u64, bytes: c_uint, counts: *mut u64);
}

/// The caches are one per process.
static ALONE: Mutex<()> = Mutex::new(());

/// An access of a CPU: to data, or a fetch of instructions.
#[derive(Clone, Copy, Debug)]
struct Access {
    cpu: u32,
    address: u64,
    bytes: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Fetch,
}

/// What the plugin's caches count.
fn counted(hardware: &Hardware, cpus: u32, accesses: impl IntoIterator<Item = Access>) -> Events {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let geometry = |one: Geometry| CGeometry { bytes: one.bytes, ways: one.ways };
    let setup = CSetup {
        cpus,
        line_bytes: hardware.line_bytes,
        l1d: geometry(hardware.l1d),
        l1i: geometry(hardware.l1i),
        l2: geometry(hardware.l2),
        l2_is_shared: hardware.l2_shared,
    };
    let mut counts = [0; EVENTS];
    // SAFETY: the setup is valid while it is read, the lock keeps other tests out, and `counts` has room for every event.
    unsafe {
        let wrong = caches_create(&raw const setup);
        assert!(wrong.is_null(), "{:?}", CStr::from_ptr(wrong));
        for Access { cpu, address, bytes, kind } in accesses {
            match kind {
                Kind::Fetch => caches_fetch(cpu, address, bytes, counts.as_mut_ptr()),
                kind => caches_access(cpu, address, bytes, kind == Kind::Write, counts.as_mut_ptr()),
            }
        }
    }
    Events(counts)
}

fn pentium() -> Hardware {
    Hardware::load("pentium-ii-xeon-450").unwrap()
}

/// Reads `elements` words at a distance of `stride` bytes, `rounds` times.
fn ring(elements: u64, stride: u64, rounds: u64) -> impl Iterator<Item = Access> {
    let read = move |element| Access { cpu: 0, address: element * stride, bytes: 8, kind: Kind::Read };
    (0..rounds).flat_map(move |_| (0..elements).map(read))
}

#[test]
fn a_ring_that_fits_misses_once_a_line_and_a_larger_one_at_every_line_of_a_full_set() {
    let misses = |elements, stride, rounds| {
        counted(&pentium(), 1, ring(elements, stride, rounds)).get(Event::L1dMisses)
    };
    // 512 lines of 32 bytes in 128 sets of 4.
    assert_eq!(misses(512, 32, 100), 512);
    // 88 sets have five lines, which always miss.
    assert_eq!(misses(600, 32, 100), 88 * 5 * 100 + 40 * 4);
    assert_eq!(misses(4, 4096, 100), 4);
    assert_eq!(misses(5, 4096, 100), 500);
    assert_eq!(misses(4_000, 8, 10), 1_000 * 10);
}

#[test]
fn an_access_across_a_line_reads_both_lines() {
    let across = Access { cpu: 0, address: 30, bytes: 4, kind: Kind::Read };
    let events = counted(&pentium(), 1, [across]);
    assert_eq!(
        (events.get(Event::Accesses), events.get(Event::L1dMisses), events.get(Event::L2Misses)),
        (2, 2, 2)
    );
}

#[test]
fn a_word_that_two_cpus_write_in_turn_is_transferred_each_time() {
    let access = |cpu, kind| Access { cpu, address: 64, bytes: 8, kind };
    let turn = |round: u32| [access(round % 2, Kind::Read), access(round % 2, Kind::Write)];
    for l2_shared in [false, true] {
        let events = counted(&Hardware { l2_shared, ..pentium() }, 2, (0..1_000).flat_map(turn));
        assert_eq!((events.get(Event::Transfers), events.get(Event::Upgrades)), (999, 999), "{l2_shared}");
        assert_eq!(events.get(Event::L2Misses), 1);
    }
}

/// A cache as a table of lines with the time of their last use.
struct Plain {
    sets: u64,
    ways: usize,
    lines: HashMap<u64, (State, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Shared,
    Exclusive,
    Modified,
}

impl Plain {
    fn new(geometry: Geometry, line_bytes: u32) -> Plain {
        let sets = geometry.bytes / u64::from(geometry.ways) / u64::from(line_bytes);
        Plain { sets, ways: geometry.ways as usize, lines: HashMap::new() }
    }

    fn touch(&mut self, line: u64, now: u64) -> Option<State> {
        let (state, used) = self.lines.get_mut(&line)?;
        *used = now;
        Some(*state)
    }

    fn set(&mut self, line: u64, state: State) {
        self.lines.entry(line).and_modify(|(old, _)| *old = state);
    }

    /// Returns the line that had to leave.
    fn insert(&mut self, line: u64, state: State, now: u64) -> Option<u64> {
        let set: Vec<(u64, u64)> = self
            .lines
            .iter()
            .filter(|(other, _)| *other % self.sets == line % self.sets)
            .map(|(other, (_, used))| (*used, *other))
            .collect();
        let leaves = (set.len() == self.ways).then(|| set.iter().min().unwrap().1);
        if let Some(line) = leaves {
            self.lines.remove(&line);
        }
        self.lines.insert(line, (state, now));
        leaves
    }
}

/// The same caches, private second levels only.
struct PlainMachine {
    l1d: Vec<Plain>,
    l1i: Vec<Plain>,
    l2: Vec<Plain>,
    now: u64,
    events: [u64; EVENTS],
}

impl PlainMachine {
    fn count(&mut self, event: Event) {
        self.events[event as usize] += 1;
    }

    /// Takes a line from all others, for a write or a read.
    fn take(&mut self, cpu: usize, line: u64, writes: bool) -> Option<State> {
        let mut strongest = None;
        for other in (0..self.l2.len()).filter(|other| *other != cpu) {
            strongest = strongest.max(self.l2[other].lines.get(&line).map(|(state, _)| *state));
            if writes {
                for cache in [&mut self.l2[other], &mut self.l1d[other], &mut self.l1i[other]] {
                    cache.lines.remove(&line);
                }
            } else {
                self.l2[other].set(line, State::Shared);
                self.l1d[other].set(line, State::Shared);
            }
        }
        strongest
    }

    fn fill(&mut self, cpu: usize, line: u64, writes: bool) -> State {
        if let Some(state) = self.l2[cpu].touch(line, self.now) {
            if writes && state == State::Shared {
                self.count(Event::Upgrades);
                self.take(cpu, line, true);
            }
            let state = if writes { State::Modified } else { state };
            self.l2[cpu].set(line, state);
            return state;
        }
        let others = self.take(cpu, line, writes);
        self.count(if others == Some(State::Modified) { Event::Transfers } else { Event::L2Misses });
        let state = match (writes, others) {
            (true, _) => State::Modified,
            (false, None) => State::Exclusive,
            (false, Some(_)) => State::Shared,
        };
        if let Some(left) = self.l2[cpu].insert(line, state, self.now) {
            self.l1d[cpu].lines.remove(&left);
            self.l1i[cpu].lines.remove(&left);
        }
        state
    }

    fn access(&mut self, cpu: usize, line: u64, kind: Kind) {
        self.now += 1;
        if kind == Kind::Fetch {
            if self.l1i[cpu].touch(line, self.now).is_none() {
                self.count(Event::L1iMisses);
                self.fill(cpu, line, false);
                self.l1i[cpu].insert(line, State::Shared, self.now);
            }
            return;
        }
        self.count(Event::Accesses);
        let writes = kind == Kind::Write;
        match self.l1d[cpu].touch(line, self.now) {
            None => {
                self.count(Event::L1dMisses);
                let state = self.fill(cpu, line, writes);
                self.l1d[cpu].insert(line, state, self.now);
            }
            Some(state) if writes => {
                if state == State::Shared {
                    self.count(Event::Upgrades);
                    self.take(cpu, line, true);
                }
                self.l1d[cpu].set(line, State::Modified);
                self.l2[cpu].set(line, State::Modified);
            }
            Some(_) => {}
        }
    }
}

fn plainly(hardware: &Hardware, cpus: u32, accesses: &[Access]) -> Events {
    let all = |geometry: Geometry| (0..cpus).map(|_| Plain::new(geometry, hardware.line_bytes)).collect();
    let mut machine = PlainMachine {
        l1d: all(hardware.l1d),
        l1i: all(hardware.l1i),
        l2: all(hardware.l2),
        now: 0,
        events: [0; EVENTS],
    };
    let line_bytes = u64::from(hardware.line_bytes);
    for one in accesses {
        for line in one.address / line_bytes..=(one.address + u64::from(one.bytes) - 1) / line_bytes {
            machine.access(one.cpu as usize, line, one.kind);
        }
    }
    Events(machine.events)
}

fn access() -> impl Strategy<Value = Access> {
    let kind = prop_oneof![4 => Just(Kind::Read), 3 => Just(Kind::Write), 1 => Just(Kind::Fetch)];
    (0..3_u32, 0..4_096_u64, prop_oneof![Just(1_u32), Just(8), Just(32)], kind)
        .prop_map(|(cpu, address, bytes, kind)| Access { cpu, address, bytes, kind })
}

proptest! {
    #[test]
    fn both_models_count_the_same(accesses in prop::collection::vec(access(), 0..2_000)) {
        // Small, so that lines leave at all levels.
        let hardware = Hardware {
            l1d: Geometry { bytes: 256, ways: 2 },
            l1i: Geometry { bytes: 256, ways: 4 },
            l2: Geometry { bytes: 1_024, ways: 2 },
            ..pentium()
        };
        prop_assert_eq!(counted(&hardware, 3, accesses.iter().copied()), plainly(&hardware, 3, &accesses));
    }
}
