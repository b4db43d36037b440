//! Time of a scheduling decision by the length of the run queue.
//!
//! Other instruments look at the same tracepoints, and those that come after this one in the list take their time within
//! what is measured here as `whole`; whoever wants that exactly watches with this instrument alone.

use klatch_record::observed::{CostByLength, CostRow, Decision, LineFit};
use klatch_record::{Found, InstrumentName, Support};
use klatch_stats::linear_fit;

use crate::bpf::{Bpf, Histogram, Looked, Windows, object};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::kernel::Kernel;

const CODE: &[u8] = object!("decision");
const TRACEPOINTS: [&str; 3] = ["sched_entry_tp", "sched_switch", "sched_exit_tp"];

/// As in decision.bpf.c.
const GROUPS: u32 = 96;

/// A length takes part in the fit when its median rests on so many decisions.
const DECISIONS_MIN: u64 = 30;

/// The instrument.
pub(crate) struct DecisionCost;

impl Instrument for DecisionCost {
    fn name(&self) -> InstrumentName {
        InstrumentName::Decision
    }

    fn shows(&self) -> &'static str {
        "time of a scheduling decision by length of the run queue"
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        let lack = kernel.lacks(&TRACEPOINTS);
        lack.unwrap_or_else(|| {
            Bpf::probe(CODE, kernel, &[], "BPF at sched_entry_tp, sched_switch, sched_exit_tp")
        })
    }

    fn start(
        &self,
        kernel: &Kernel,
        _: &Targets,
        _: &Files,
        windows: &mut Windows,
    ) -> Result<Box<dyn Watching>, InstrumentError> {
        let mut bpf = Bpf::load(CODE, kernel, &[])?;
        bpf.attach_by(windows, &[])?;
        Ok(Box::new(Watch { bpf }))
    }
}

struct Watch {
    bpf: Bpf,
}

impl Watching for Watch {
    fn stop(&mut self) {
        self.bpf.stop();
    }

    fn read(&mut self, _: &Files, looked: &Looked) -> Result<Seen, InstrumentError> {
        let of_cpus = self.bpf.numbers_by_cpu("under_way", 0)?;
        let total_ns: u64 = of_cpus.iter().map(|way| way[3]).sum();
        let found = Decision {
            decision: self.costs("decisions")?,
            whole: self.costs("whole")?,
            share_of_machine: total_ns as f64 / 1e9 / (looked.open_s() * of_cpus.len() as f64),
        };
        Ok(Seen {
            found: Found::Decision(found),
            cost: Some(self.bpf.cost(looked)),
            share_of_time: Some(looked.share),
            files: Vec::new(),
        })
    }
}

impl Watch {
    fn costs(&self, table: &str) -> Result<CostByLength, InstrumentError> {
        let mut groups = Vec::new();
        for group in 0..GROUPS {
            let numbers = self.bpf.numbers(table, group)?;
            let (ns, lengths) = numbers.split_at(Histogram::NUMBERS);
            groups.push(Group { number: group.into(), ns: Histogram::new(ns), lengths: lengths[0] });
        }
        Ok(by_length(&groups))
    }
}

/// The costs at one group of lengths.
struct Group {
    number: u64,
    ns: Histogram,
    /// Sum of the lengths.
    lengths: u64,
}

fn by_length(groups: &[Group]) -> CostByLength {
    let mut all = Histogram::new(&[]);
    groups.iter().for_each(|group| all.add(&group.ns));
    let met = groups.iter().filter(|group| group.ns.count() > 0);
    let often = groups.iter().filter(|group| group.ns.count() >= DECISIONS_MIN);
    let points: Vec<(f64, f64)> =
        often.map(|group| (group.lengths as f64 / group.ns.count() as f64, group.ns.quantile(0.5))).collect();
    CostByLength {
        all_ns: all.distribution(1.0),
        by_length: met.map(row).collect(),
        fit: linear_fit(&points, 0.95).ok().map(|fit| LineFit {
            ns_per_task: fit.slope.estimate,
            ns_per_task_low: fit.slope.low,
            ns_per_task_high: fit.slope.high,
            ns_at_zero: fit.intercept,
            r2: fit.r2,
            points: points.len() as u64,
        }),
    }
}

fn row(group: &Group) -> CostRow {
    CostRow {
        length_min: length_min(group.number),
        length_max: length_min(group.number + 1) - 1,
        decisions: group.ns.count(),
        median_ns: group.ns.quantile(0.5),
        mean_ns: group.ns.sum() as f64 / group.ns.count() as f64,
    }
}

/// The least length of a group.
fn length_min(group: u64) -> u64 {
    if group < 64 { group } else { (8 + group % 8) << ((group - 64) / 8 + 3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_each_other() {
        let ends = [0, 63, 64, 65, 72, 95, 96].map(length_min);
        assert_eq!(ends, [0, 63, 64, 72, 128, 960, 1024]);
    }

    #[test]
    fn a_cost_that_grows_evenly_is_a_line() {
        let group = |number: u64| {
            // 40 decisions of about 1,000 ns and 20 ns a task, all in one bucket.
            let mut numbers = vec![0; Histogram::NUMBERS];
            let ns = 1_000 + 20 * number;
            let log = ns.ilog2() as u64;
            numbers[((log - 1) * 4 + ((ns >> (log - 2)) & 3)) as usize] = 40;
            numbers[128] = 40;
            numbers[129] = 40 * ns;
            Group { number, ns: Histogram::new(&numbers), lengths: 40 * number }
        };
        let costs = by_length(&(1..60).map(group).collect::<Vec<_>>());
        let fit = costs.fit.unwrap();
        assert!((fit.ns_per_task - 20.0).abs() < 2.0 && fit.r2.unwrap() > 0.9 && fit.points == 59, "{fit:?}");
        assert_eq!((costs.by_length.len(), costs.by_length[4].mean_ns), (59, 1_100.0));
        assert_eq!(by_length(&[group(1), group(2)]).fit, None);
    }
}
