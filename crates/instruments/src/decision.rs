//! Duration of scheduling decisions by run queue length.
//!
//! Instruments later in the list use the same tracepoints. Their programs run within the time that is recorded here as
//! `whole`, so an exact measurement uses this instrument alone.

use klatch_record::observed::{CostByLength, CostFit, CostRow, Decision};
use klatch_record::{InstrumentName, ObservationData};
use klatch_stats::linear_fit;

use crate::bpf::{Bpf, Histogram, object};
use crate::bpf_instrument::{BpfInstrument, Measurement};
use crate::error::InstrumentError;
use crate::usable_cpus::{of_usable, usable_cpus};

pub(crate) static DECISION_COST: BpfInstrument = BpfInstrument {
    name: InstrumentName::Decision,
    description: "time of a scheduling decision by length of the run queue",
    object: object!("decision"),
    tracepoints: &["sched_entry_tp", "sched_switch", "sched_exit_tp"],
    by_process: false,
    whole_run: &[],
    preferred: None,
    read,
};

/// `GROUPS` of decision.bpf.c: groups of queue lengths.
const GROUPS: u32 = 96;

/// Decisions that a group needs for its median to enter the fit.
const DECISIONS_MIN: u64 = 30;

/// Index of `total_ns` in `struct schedule_call` of decision.bpf.c.
const TOTAL_NS: usize = 3;

fn read(measurement: &Measurement<'_>) -> Result<ObservationData, InstrumentError> {
    let Measurement { bpf, coverage, .. } = measurement;
    let cpus = bpf.numbers_by_cpu("schedule_calls", 0)?;
    let total_ns: u64 = of_usable(&cpus).map(|call| call[TOTAL_NS]).sum();
    Ok(ObservationData::Decision(Decision {
        decision: read_costs(bpf, "decisions")?,
        whole: read_costs(bpf, "whole")?,
        share_of_cpus: total_ns as f64 / 1e9 / (coverage.open_s() * usable_cpus()),
    }))
}

fn read_costs(bpf: &Bpf, map: &str) -> Result<CostByLength, InstrumentError> {
    let mut groups = Vec::new();
    for number in 0..GROUPS {
        let numbers = bpf.numbers(map, number)?;
        let (ns, length_sum) = numbers.split_at(Histogram::NUMBERS);
        groups.push(Group { number: number.into(), ns: Histogram::new(ns), length_sum: length_sum[0] });
    }
    Ok(by_length(&groups))
}

/// The decisions with a queue length in one group.
struct Group {
    number: u64,
    ns: Histogram,
    /// Sum of the queue lengths, for their mean.
    length_sum: u64,
}

fn by_length(groups: &[Group]) -> CostByLength {
    let mut all = Histogram::new(&[]);
    groups.iter().for_each(|group| all.add(&group.ns));
    let nonempty = groups.iter().filter(|group| group.ns.count() > 0);
    let frequent = groups.iter().filter(|group| group.ns.count() >= DECISIONS_MIN);
    let points: Vec<(f64, f64)> = frequent
        .map(|group| (group.length_sum as f64 / group.ns.count() as f64, group.ns.quantile(0.5)))
        .collect();
    CostByLength {
        all_ns: all.distribution(1.0),
        by_length: nonempty.map(row).collect(),
        fit: linear_fit(&points, 0.95).ok().map(|fit| CostFit {
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

/// The shortest length in a group.
fn length_min(group: u64) -> u64 {
    if group < 64 { group } else { (8 + group % 8) << ((group - 64) / 8 + 3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_contiguous() {
        let ends = [0, 63, 64, 65, 72, 95, 96].map(length_min);
        assert_eq!(ends, [0, 63, 64, 72, 128, 960, 1024]);
    }

    #[test]
    fn a_linear_cost_fits_a_line() {
        let group = |number: u64| {
            // 40 decisions of 1,000 ns plus 20 ns per task, all in one bucket.
            let mut numbers = vec![0; Histogram::NUMBERS];
            let ns = 1_000 + 20 * number;
            let log = ns.ilog2() as u64;
            numbers[((log - 1) * 4 + ((ns >> (log - 2)) & 3)) as usize] = 40;
            numbers[128] = 40;
            numbers[129] = 40 * ns;
            Group { number, ns: Histogram::new(&numbers), length_sum: 40 * number }
        };
        let costs = by_length(&(1..60).map(group).collect::<Vec<_>>());
        let fit = costs.fit.unwrap();
        assert!((fit.ns_per_task - 20.0).abs() < 2.0 && fit.r2.unwrap() > 0.9 && fit.points == 59, "{fit:?}");
        assert_eq!((costs.by_length.len(), costs.by_length[4].mean_ns), (59, 1_100.0));
        assert_eq!(by_length(&[group(1), group(2)]).fit, None);
    }
}
