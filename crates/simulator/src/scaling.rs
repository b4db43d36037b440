//! The chat of ten rooms on more and more CPUs, under the schedulers that the papers compared.

use crate::costs::Costs;
use crate::papers::cells::{Cells, GOODNESS_2_4_14, GOODNESS_2_4_17, MQ, O1};
use crate::run::{ChatSpec, Outcome};
use crate::schedulers::SchedulerSpec;

/// One scheduler on one number of CPUs.
#[derive(Clone, Debug)]
pub struct ScalingRow {
    /// The scheduler as the papers name it.
    pub scheduler: &'static str,
    /// CPUs of the machine, which share nothing but memory.
    pub cpus: usize,
    /// The counts of three seeds together.
    pub outcome: Outcome,
    /// The lowest and the highest messages per second of the seeds.
    pub seeds: (f64, f64),
}

const SCHEDULERS: [(&str, SchedulerSpec); 4] = [
    ("one queue (Linux 2.4.14)", GOODNESS_2_4_14),
    ("one queue (Linux 2.4.17)", GOODNESS_2_4_17),
    ("a queue per CPU (MQ)", MQ),
    ("a queue per CPU (O(1))", O1),
];

/// Simulates the chat with each scheduler on each number of CPUs.
pub fn scaling(costs: &Costs, cpus: &[usize], chat: ChatSpec) -> Vec<ScalingRow> {
    let cells = Cells::new(costs.clone());
    let mut rows = Vec::with_capacity(cpus.len() * SCHEDULERS.len());
    for (name, scheduler) in SCHEDULERS {
        for &cpus in cpus {
            let runs = cells.seeds(&Cells::other_chat(scheduler, cpus, |own| *own = chat));
            let rates = runs.iter().map(Outcome::messages_per_s);
            let seeds =
                rates.fold((f64::INFINITY, 0.0_f64), |(low, high), rate| (low.min(rate), high.max(rate)));
            rows.push(ScalingRow { scheduler: name, cpus, outcome: Outcome::sum(&runs), seeds });
        }
    }
    rows
}
