//! What a scheduler counted.

use klatch_record::lab::{CostAtLength, SchedulerCounts, StatValue};
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapFlags, MapHandle};

use crate::catalog::{Scheduler, all};
use crate::error::SchedulerError;
use crate::state::state;

/// What the scheduler that is in force counts, whoever has loaded it, if it is one of these.
///
/// # Errors
/// The kernel has no sched_ext, or does not give its tables out.
pub fn running() -> Result<Option<(&'static Scheduler, SchedulerCounts)>, SchedulerError> {
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
) -> Result<SchedulerCounts, SchedulerError> {
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
    Ok(SchedulerCounts { stats, costs: rows })
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
