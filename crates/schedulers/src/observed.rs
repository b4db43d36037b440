//! What a scheduler counted.

use klatch_stats::linear_fit;
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::{Deserialize, Serialize};

use crate::catalog::{Scheduler, all};
use crate::error::SchedulerError;
use crate::state::state;

/// What a scheduler counted since it was loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Its own statistics.
    pub stats: Vec<StatValue>,
    /// What decisions cost, by the number of tasks that waited.
    pub costs: Vec<CostAtLength>,
}

/// A number that describes itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatValue {
    /// Its name.
    pub name: String,
    /// What it counts.
    pub what: String,
    /// The number.
    pub value: u64,
}

/// What decisions cost when so many tasks waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostAtLength {
    /// Tasks that waited.
    pub length: u32,
    /// Decisions.
    pub decisions: u64,
    /// Time of all of them, ns; under the lab's clock also instructions.
    pub ns: u64,
    /// The cheapest, ns.
    pub ns_min: u64,
    /// The dearest, ns.
    pub ns_max: u64,
}

/// A line through costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// ns for each task that waits more.
    pub ns_per_task: f64,
    /// The interval of 95 % of that.
    pub ns_per_task_low: f64,
    /// The same.
    pub ns_per_task_high: f64,
    /// ns with nobody waiting.
    pub ns_at_zero: f64,
    /// How much of the differences the line explains; `None` where there are none.
    pub r2: Option<f64>,
}

impl Fit {
    /// The line through (length, cost) points; `None` for fewer than three.
    pub fn through(points: &[(f64, f64)]) -> Option<Fit> {
        let fit = linear_fit(points, 0.95).ok()?;
        Some(Fit {
            ns_per_task: fit.slope.estimate,
            ns_per_task_low: fit.slope.low,
            ns_per_task_high: fit.slope.high,
            ns_at_zero: fit.intercept,
            r2: fit.r2,
        })
    }
}

impl Observed {
    /// A statistic by its name.
    pub fn stat(&self, name: &str) -> Option<u64> {
        self.stats.iter().find(|stat| stat.name == name).map(|stat| stat.value)
    }
}

/// What the scheduler that is in force counts, whoever has loaded it, if it is one of these.
///
/// # Errors
/// The kernel has no sched_ext, or does not give its tables out.
pub fn running() -> Result<Option<(&'static Scheduler, Observed)>, SchedulerError> {
    let there = state().ok_or(SchedulerError::NoSchedExt)?;
    let name = there.scheduler.unwrap_or_default();
    let Some(scheduler) = all().iter().find(|one| name.starts_with(&one.kernel_name())) else {
        return Ok(None);
    };
    let mut found = [None, None];
    for info in MapInfoIter::default() {
        for (place, wanted) in found.iter_mut().zip(["klatch_stats", "klatch_costs"]) {
            if info.name == wanted {
                *place = Some(MapHandle::from_map_id(info.id).map_err(SchedulerError::Unreadable)?);
            }
        }
    }
    match found {
        [Some(stats), Some(costs)] => Ok(Some((scheduler, observed(scheduler, &stats, &costs)?))),
        _ => Ok(None),
    }
}

pub(crate) fn observed(
    scheduler: &Scheduler,
    stats: &dyn MapCore,
    costs: &dyn MapCore,
) -> Result<Observed, SchedulerError> {
    let texts = scheduler.stats().into_iter().enumerate();
    let value = |(place, text): (usize, crate::Stat)| {
        let of_cpus = by_cpu(stats, place as u32)?;
        let value = of_cpus.iter().map(|of_cpu| of_cpu[0]).sum();
        Ok(StatValue { name: text.name, what: text.what, value })
    };
    let stats = texts.map(value).collect::<Result<_, SchedulerError>>()?;
    let mut rows = Vec::new();
    for length in 0..LENGTHS {
        let mut row = CostAtLength { length, decisions: 0, ns: 0, ns_min: u64::MAX, ns_max: 0 };
        for of_cpu in by_cpu(costs, length)?.iter().filter(|of_cpu| of_cpu[0] > 0) {
            row.decisions += of_cpu[0];
            row.ns += of_cpu[1];
            row.ns_min = row.ns_min.min(of_cpu[2]);
            row.ns_max = row.ns_max.max(of_cpu[3]);
        }
        if row.decisions > 0 {
            rows.push(row);
        }
    }
    Ok(Observed { stats, costs: rows })
}

/// `LENGTHS` of klatch.bpf.h.
const LENGTHS: u32 = 1024;

fn by_cpu(map: &dyn MapCore, key: u32) -> Result<Vec<Vec<u64>>, SchedulerError> {
    let found = map.lookup_percpu(&key.to_ne_bytes(), MapFlags::ANY).map_err(SchedulerError::Unreadable)?;
    let numbers = |bytes: &Vec<u8>| -> Vec<u64> {
        bytes.as_chunks().0.iter().map(|eight| u64::from_ne_bytes(*eight)).collect()
    };
    Ok(found.unwrap_or_default().iter().map(numbers).collect())
}
