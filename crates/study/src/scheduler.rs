//! The scheduler of history under which a plan runs, if it names one.

use klatch_record::{Record, SchedulerInForce, Status};
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

    /// Writes into the record under which scheduler it was, and whether that was in force to the end: the kernel falls back
    /// to its own silently, and the score is that one's then.
    pub(crate) fn witness(&self, record: &mut Record) {
        let Some((name, loaded)) = &self.loaded else { return };
        let lost = loaded.lost();
        if let Some(why) = &lost {
            record.verdict.status = Status::Invalid;
            record.verdict.reasons.push(format!("the scheduler {name} did not stay in force: {why}"));
        }
        let stats = loaded.observed().map(|observed| observed.stats).unwrap_or_default();
        record.environment.scheduler = Some(SchedulerInForce {
            name: name.clone(),
            lost,
            counts: stats.into_iter().map(|stat| (stat.name, stat.value)).collect(),
        });
    }
}
