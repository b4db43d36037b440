//! Which claims of a simulated study hold with every cost at both ends of its range.

use std::collections::BTreeMap;
use std::sync::Mutex;

use klatch_record::{Claim, ResultKind, Sensitivity, StudyResult};
use klatch_simulator::Costs;

use super::computer::Simulator;
use super::job::SimulatedJob;
use crate::computed::{ComputedPlan, Computer, in_parallel};

/// Seed of the simulations at the ends of ranges.
const SEED: u32 = 1;

/// Simulates every cell with each cost at both ends of its range, and compares neighbouring cells along each axis.
pub fn sensitivity(plan: &ComputedPlan<SimulatedJob>, result: &StudyResult, threads: usize) -> Sensitivity {
    let both_ends = |costs: &Costs| -> Vec<(String, f64)> {
        costs.iter().flat_map(|(name, cost)| cost.range.map(|end| (name.to_owned(), end))).collect()
    };
    let ends = plan.cells.first().map_or_else(Vec::new, |cell| both_ends(&cell.job.costs));
    let work: Vec<(usize, usize)> =
        (0..ends.len()).flat_map(|end| (0..plan.cells.len()).map(move |cell| (end, cell))).collect();
    let values = Mutex::new(BTreeMap::new());
    let simulate = |&(end, cell): &(usize, usize)| -> Result<(), std::convert::Infallible> {
        let (name, value) = &ends[end];
        let job = &plan.cells[cell].job;
        let job = SimulatedJob { costs: job.costs.clone().with(name, *value), ..job.clone() };
        let trial = Simulator.compute(&job, SEED, std::path::Path::new(""))?;
        let value = trial.metrics.into_iter().find(|(name, _)| *name == plan.metric);
        if let (Some((_, value)), Ok(mut values)) = (value, values.lock()) {
            values.insert((end, cell), value);
        }
        Ok(())
    };
    let Ok(_) = in_parallel(&work, threads, simulate);
    let values = values.into_inner().unwrap_or_default();
    let claim = |(axis, cell, base): (usize, usize, usize)| -> Option<Claim> {
        let mean = |cell: usize| Some(result.cells[cell].estimates.get(&plan.metric)?.mean);
        let ratio = mean(cell)? / mean(base)?;
        let (mut low, mut high) = ((ratio, String::new()), (ratio, String::new()));
        for (end, (name, value)) in ends.iter().enumerate() {
            let ratio = values.get(&(end, cell))? / values.get(&(end, base))?;
            if ratio < low.0 {
                low = (ratio, format!("{name} = {value}"));
            }
            if ratio > high.0 {
                high = (ratio, format!("{name} = {value}"));
            }
        }
        let name = &plan.head.axes[axis].name;
        let others = plan.head.axes.iter().filter(|other| other.name != *name);
        let at = others.map(|other| named(&other.name, &plan.cells[cell].at[&other.name]));
        let value_of = |cell: usize| named(name, &plan.cells[cell].at[name]);
        Some(Claim {
            at: at.collect::<Vec<_>>().join(", "),
            value: value_of(cell),
            base: value_of(base),
            ratio,
            low: low.0,
            low_with: low.1,
            high: high.0,
            high_with: high.1,
        })
    };
    Sensitivity {
        kind: ResultKind::Simulated,
        metric: plan.metric.clone(),
        costs: (ends.len() / 2) as u32,
        claims: neighbours(plan).into_iter().filter_map(claim).collect(),
    }
}

/// A value with the name of its axis, which a scheduler and a machine need not have.
fn named(axis: &str, value: &str) -> String {
    match axis {
        "scheduler" | "machine" => value.to_owned(),
        "cpus" => format!("{value} CPU{}", if value == "1" { "" } else { "s" }),
        axis => format!("{axis} {value}"),
    }
}

/// Pairs of cells that differ in one axis: neighbours along it, or for the scheduler each with the first. The place of the axis, of the
/// later cell and of the earlier one.
fn neighbours(plan: &ComputedPlan<SimulatedJob>) -> Vec<(usize, usize, usize)> {
    let mut pairs = Vec::new();
    for (place, axis) in plan.head.axes.iter().enumerate() {
        for (number, cell) in plan.cells.iter().enumerate() {
            let position = axis.values.iter().position(|value| *value == cell.at[&axis.name]);
            let Some(position) = position.filter(|position| *position > 0) else { continue };
            let base = if axis.name == "scheduler" { 0 } else { position - 1 };
            let mut at = cell.at.clone();
            at.insert(axis.name.clone(), axis.values[base].clone());
            if let Some(base) = plan.cells.iter().position(|other| other.at == at) {
                pairs.push((place, number, base));
            }
        }
    }
    pairs
}
