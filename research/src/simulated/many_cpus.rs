//! Studies of 2001 and 2002 with a chat in C that has VolanoMark's threads: 30 rooms on eight CPUs (Yamamura et al., FREENIX
//! 2002), and 16 CPUs in four nodes (Franke et al., ALS 2001).
//!
//! It has no Java monitors and no collector. That it does not yield is assumed, and its user time is that of Java, as none is known.

use klatch_simulator::{Cell, ChatSpec, Hardware, Outcome, SchedulerSpec, Topology};

use super::cells::{Cells, GOODNESS_2_4_14, MQ, netfinity_8500r};
use super::{Computed, gain_percent, near};

/// Cycles per element when all task structures are in the same cache sets, and when they are spread ("coloured").
const SAME_SETS: f64 = 330.0;
const COLOURED: f64 = 115.0;
/// Memory that no run fills.
const NO_COLLECTION_MB: u64 = 1_000_000;

/// The machine of 2002: eight 550 MHz Pentium III Xeons. Its caches are not named.
const fn xeon_550(cpus: usize) -> Hardware {
    Hardware { mhz: 550, ..netfinity_8500r(cpus) }
}

/// The machine of 2001: four quads of 450 MHz Pentium III with 512 kB of cache each. That all data of its kernel are on one node is not
/// simulated.
const QUADS: Hardware =
    Hardware { topology: Topology::nodes(4, 4), mhz: 450, cache_bytes: 512 << 10, line_bytes: 32 };

pub(super) fn rows(cells: &mut Cells) -> Vec<Computed> {
    vec![coloured(cells), nodes(cells)]
}

/// A chat with other rooms and messages, in C.
fn chat(scheduler: SchedulerSpec, hardware: Hardware, rooms: usize, count: u64) -> Cell {
    let cell = Cells::other_chat(scheduler, hardware.topology.cpus(), |chat| {
        *chat = ChatSpec { rooms, count, yields: false, monitors: false, heap_mb: NO_COLLECTION_MB, ..*chat };
    });
    Cell { hardware, ..cell }
}

/// The number of CPUs, up to eight, that carry most, and the outcome with eight.
fn peak(of: impl Fn(usize) -> Outcome) -> (usize, Outcome) {
    let outcomes = [1, 2, 3, 4, 5, 6, 7, 8].map(|cpus| (cpus, of(cpus)));
    let best = outcomes.iter().max_by(|a, b| a.1.messages_per_s().total_cmp(&b.1.messages_per_s()));
    let peak = best.map_or(0, |(cpus, _)| *cpus);
    let [.., (_, eight)] = outcomes;
    (peak, eight)
}

fn coloured(cells: &Cells) -> Computed {
    let run = |element: f64| {
        peak(|cpus| cells.with("element", element).run(chat(GOODNESS_2_4_14, xeon_550(cpus), 30, 10)))
    };
    let hold_us = |outcome: &Outcome| {
        outcome.counts.locks.held as f64 / outcome.counts.locks.acquired as f64 / outcome.mhz as f64
    };
    let ((plain_peak, plain), (coloured_peak, coloured)) = (run(SAME_SETS), run(COLOURED));
    let holds_us = [hold_us(&plain), hold_us(&coloured)];
    let gain = gain_percent(plain.messages_per_s(), coloured.messages_per_s());
    Computed::new(
        27,
        format!(
            "{:.0} to {:.0} us; {gain:+.0} %; {plain_peak} to {coloured_peak} CPUs",
            holds_us[0], holds_us[1]
        ),
        near(holds_us[0], 40.0, 1.5)
            && near(holds_us[1], 14.0, 1.5)
            && near(1.0 + gain / 100.0, 1.896, 1.5)
            && (plain_peak, coloured_peak) == (4, 6),
    )
}

fn nodes(cells: &mut Cells) -> Computed {
    let [one, mq] =
        [GOODNESS_2_4_14, MQ].map(|scheduler| cells.run(chat(scheduler, QUADS, 10, 60)).messages_per_s());
    let change = gain_percent(mq, one);
    Computed::new(28, format!("{change:+.1} %"), near(one / mq, 0.361, 1.5))
}
