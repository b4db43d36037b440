//! Simulated cells of the table, each run once, with three seeds.

use std::ops::Range;

use klatch_simulator::{
    Cell, ChatSpec, Costs, GoodnessKnobs, Hardware, MultiqueueKnobs, O1Knobs, Outcome, SchedulerSpec,
    Topology, Version, Workload, simulate,
};

pub(crate) const GOODNESS_2_3: SchedulerSpec = SchedulerSpec::Goodness(GoodnessKnobs::LINUX_2_3);
pub(crate) const GOODNESS_2_4_14: SchedulerSpec = SchedulerSpec::Goodness(GoodnessKnobs::LINUX_2_4_14);
pub(crate) const GOODNESS_2_4_17: SchedulerSpec = SchedulerSpec::Goodness(GoodnessKnobs::LINUX_2_4_17);
pub(crate) const MQ: SchedulerSpec = SchedulerSpec::Multiqueue(MultiqueueKnobs::PUBLISHED);
pub(crate) const O1: SchedulerSpec = SchedulerSpec::O1(O1Knobs::LINUX_2_5);
/// Linux 2.3.28 that takes the first waiting task without a walk.
pub(super) const HEAD: SchedulerSpec =
    SchedulerSpec::Goodness(GoodnessKnobs { head: true, ..GoodnessKnobs::LINUX_2_3 });
/// Linux 2.4.18-pre4 with Hartner's patch of 18 January 2002: yields take no lock, and the task still competes.
pub(super) const LOCKLESS_YIELD: SchedulerSpec = SchedulerSpec::Goodness(GoodnessKnobs {
    yield_locks: false,
    yielded_competes: true,
    ..GoodnessKnobs::LINUX_2_4_17
});
/// Linux 2.4.14 with the lower threshold of preemption.
pub(super) const EAGER: SchedulerSpec =
    SchedulerSpec::Goodness(GoodnessKnobs { preemption_threshold: 0, ..GoodnessKnobs::LINUX_2_4_14 });
/// Linux 2.4.14 with the yield bug of 2.4.0-test8: goodness 0 for a task that has yielded, which then preempts its successor.
pub(super) const YIELD_BUG: SchedulerSpec = SchedulerSpec::Goodness(GoodnessKnobs {
    version: Version::Linux2_3,
    offers_yielded: true,
    ..GoodnessKnobs::LINUX_2_4_14
});
/// MQ whose previous task loses ties.
pub(super) const MQ_TIES: SchedulerSpec =
    SchedulerSpec::Multiqueue(MultiqueueKnobs { previous_wins_ties: false });

/// The machine of the kernel list's results: a Netfinity 8500R with 700 MHz Pentium III Xeons.
pub(super) const fn netfinity_8500r(cpus: usize) -> Hardware {
    Hardware { topology: Topology::flat(cpus), mhz: 700, cache_bytes: 2 << 20, line_bytes: 32 }
}

/// The machine of the study of 2000: a Netfinity 7000 M10, used with one 450 MHz Pentium II Xeon.
pub(super) const NETFINITY_7000: Hardware =
    Hardware { topology: Topology::flat(1), mhz: 450, cache_bytes: 1 << 20, line_bytes: 32 };

const SEEDS: [u64; 3] = [1, 2, 3];

/// Cells with the same costs.
pub(crate) struct Cells {
    costs: Costs,
    done: Vec<(Cell, Outcome)>,
}

impl Cells {
    pub(crate) fn new(costs: Costs) -> Self {
        Self { costs, done: Vec::new() }
    }

    /// New cells with another value for one cost.
    pub(super) fn with(&self, cost: &str, value: f64) -> Self {
        Self::new(self.costs.clone().with(cost, value))
    }

    /// New cells with the program of the study of 2000, whose JVM was older.
    pub(super) fn of_2000(&self) -> Self {
        self.with("user_message", self.costs.get("user_message_2000").value)
    }

    /// Ten rooms on CPUs of the Netfinity 8500R, 64 MB of heap: the chat of the kernel list.
    pub(super) fn chat(scheduler: SchedulerSpec, cpus: usize) -> Cell {
        let hardware = netfinity_8500r(cpus);
        let work = Workload::Chat(ChatSpec::VOLANOMARK);
        Cell { scheduler, hardware, work, placement: Vec::new(), seed: 0 }
    }

    /// The same chat with other rooms, messages or memory.
    pub(crate) fn other_chat(scheduler: SchedulerSpec, cpus: usize, change: impl Fn(&mut ChatSpec)) -> Cell {
        let mut cell = Self::chat(scheduler, cpus);
        if let Workload::Chat(chat) = &mut cell.work {
            change(chat);
        }
        cell
    }

    pub(crate) fn get(&mut self, scheduler: SchedulerSpec, cpus: usize) -> Outcome {
        self.run(Self::chat(scheduler, cpus))
    }

    /// Messages per second of the same.
    pub(crate) fn rate(&mut self, scheduler: SchedulerSpec, cpus: usize) -> f64 {
        self.get(scheduler, cpus).messages_per_s()
    }

    /// The same with client and server on CPUs of their own.
    pub(super) fn bound_rate(&mut self, scheduler: SchedulerSpec, cpus: usize) -> f64 {
        let half: [Range<usize>; 2] = [cpus / 2..cpus, 0..cpus / 2];
        self.run(Cell { placement: half.to_vec(), ..Self::chat(scheduler, cpus) }).messages_per_s()
    }

    /// Runs a cell with each seed, and adds up their counts. The seed in `cell` is not used.
    pub(super) fn run(&mut self, cell: Cell) -> Outcome {
        if let Some((_, outcome)) = self.done.iter().find(|(done, _)| *done == cell) {
            return outcome.clone();
        }
        let outcome = Outcome::sum(&self.seeds(&cell));
        self.done.push((cell, outcome.clone()));
        outcome
    }

    /// The runs of a cell with each seed.
    pub(crate) fn seeds(&self, cell: &Cell) -> [Outcome; SEEDS.len()] {
        std::thread::scope(|scope| {
            let costs = &self.costs;
            let runs = SEEDS.map(|seed| {
                let cell = Cell { seed, ..cell.clone() };
                scope.spawn(move || simulate(&cell, costs))
            });
            runs.map(|run| run.join().expect("a simulation without a broken invariant"))
        })
    }
}
