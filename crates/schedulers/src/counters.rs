//! Reads a scheduler's counters from its BPF maps.

use klatch_record::lab::{CostAtLength, SchedulerCounts, StatValue};
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapHandle};

use crate::catalog::{Scheduler, Stat, all};
use crate::error::SchedulerError;
use crate::per_cpu::per_cpu_numbers;
use crate::state::sched_ext_state;

/// Rows of the cost table, as `LENGTHS` of klatch.bpf.h.
const LENGTHS: u32 = 1024;

/// The loaded scheduler with its counters so far, also if another process loaded it. `None` if it is not one of Klatch's.
///
/// # Errors
/// The kernel has no sched_ext, or does not let this user read the maps.
pub fn running() -> Result<Option<(&'static Scheduler, SchedulerCounts)>, SchedulerError> {
    let state = sched_ext_state().ok_or(SchedulerError::NoSchedExt)?;
    let name = state.scheduler.unwrap_or_default();
    let Some(scheduler) = all().iter().find(|one| name.starts_with(&one.kernel_name())) else {
        return Ok(None);
    };
    let mut maps = [None, None];
    for info in MapInfoIter::default() {
        for (map, name) in maps.iter_mut().zip(["klatch_stats", "klatch_costs"]) {
            if info.name == name {
                *map = Some(MapHandle::from_map_id(info.id).map_err(SchedulerError::Unreadable)?);
            }
        }
    }
    match maps {
        [Some(stats), Some(costs)] => Ok(Some((scheduler, read_counters(scheduler, &stats, &costs)?))),
        _ => Ok(None),
    }
}

pub(crate) fn read_counters(
    scheduler: &Scheduler,
    stats: &dyn MapCore,
    costs: &dyn MapCore,
) -> Result<SchedulerCounts, SchedulerError> {
    let value = |(index, stat): (usize, Stat)| {
        let by_cpu = per_cpu_numbers(stats, index as u32).map_err(SchedulerError::Unreadable)?;
        let value = by_cpu.iter().map(|of_cpu| of_cpu[0]).sum();
        Ok(StatValue { name: stat.name, what: stat.what, value })
    };
    let stats =
        scheduler.stats().into_iter().enumerate().map(value).collect::<Result<_, SchedulerError>>()?;
    let mut rows = Vec::new();
    for length in 0..LENGTHS {
        let mut row = CostAtLength { length, decisions: 0, ns: 0, ns_min: u64::MAX, ns_max: 0 };
        let by_cpu = per_cpu_numbers(costs, length).map_err(SchedulerError::Unreadable)?;
        for of_cpu in by_cpu.iter().filter(|of_cpu| of_cpu[0] > 0) {
            row.decisions += of_cpu[0];
            row.ns += of_cpu[1];
            row.ns_min = row.ns_min.min(of_cpu[2]);
            row.ns_max = row.ns_max.max(of_cpu[3]);
        }
        if row.decisions > 0 {
            rows.push(row);
        }
    }
    Ok(SchedulerCounts { stats, costs: rows })
}
