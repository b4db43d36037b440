//! The scheduler of history under which a plan runs, if it names one.

use klatch_record::SchedulerInForce;
use klatch_schedulers::{Loaded, SchedulerError, Wish};

/// A scheduler that is in force while this lives, or the kernel's own.
pub(crate) struct Scheduler {
    loaded: Option<(String, Loaded)>,
}

impl Scheduler {
    /// Loads what the plan names.
    pub(crate) fn load(wish: Option<&Wish>) -> Result<Scheduler, SchedulerError> {
        let load = |wish: &Wish| Ok((wish.to_string(), wish.load()?));
        Ok(Scheduler { loaded: wish.map(load).transpose()? })
    }

    /// What is in force, what it has counted, and whether it was lost: the kernel falls back to its own silently, and the
    /// score is then that one's. `None` for a plan that names none.
    pub(crate) fn in_force(&self) -> Option<SchedulerInForce> {
        let (name, loaded) = self.loaded.as_ref()?;
        let stats = loaded.observed().map(|observed| observed.stats).unwrap_or_default();
        Some(SchedulerInForce {
            name: name.clone(),
            lost: loaded.lost(),
            counts: stats.into_iter().map(|stat| (stat.name, stat.value)).collect(),
        })
    }
}
