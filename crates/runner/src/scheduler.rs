//! The kernel scheduler under which a plan runs.

use klatch_record::SchedulerInForce;
use klatch_schedulers::{Loaded, SchedulerError, SchedulerSpec};

/// A scheduler of Klatch that is loaded until this is dropped, or the kernel's own.
pub(crate) struct Scheduler {
    loaded: Option<(String, Loaded)>,
}

impl Scheduler {
    /// Loads `spec`; `None` leaves the kernel's own scheduler in force.
    pub(crate) fn load(spec: Option<&SchedulerSpec>) -> Result<Scheduler, SchedulerError> {
        let load = |spec: &SchedulerSpec| Ok((spec.to_string(), spec.load()?));
        Ok(Scheduler { loaded: spec.map(load).transpose()? })
    }

    /// The loaded scheduler, its counters, and whether the kernel has unloaded it; `None` for the kernel's own. The
    /// kernel falls back to its own scheduler without an error, and a score would then be that scheduler's.
    pub(crate) fn in_force(&self) -> Option<SchedulerInForce> {
        let (name, loaded) = self.loaded.as_ref()?;
        let stats = loaded.counters().map(|counters| counters.stats).unwrap_or_default();
        Some(SchedulerInForce {
            name: name.clone(),
            lost: loaded.lost(),
            counts: stats.into_iter().map(|stat| (stat.name, stat.value)).collect(),
        })
    }
}
