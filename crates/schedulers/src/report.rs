//! What is told of a scheduler after a workload has run under it.

use serde::{Deserialize, Serialize};

use crate::error::SchedulerError;
use crate::load::Loaded;
use crate::observed::Observed;

/// What is told of a scheduler after a workload has run under it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Its name.
    pub scheduler: String,
    /// All its knobs.
    pub knobs: Vec<(String, u64)>,
    /// Why it was not in force to the end, if so: then what ran, ran under the kernel's own scheduler.
    pub lost: Option<String>,
    /// What it counted.
    pub observed: Observed,
}

impl Loaded {
    /// What is to be told so far.
    ///
    /// # Errors
    /// The kernel does not give its tables out.
    pub fn report(&self) -> Result<Report, SchedulerError> {
        Ok(Report {
            scheduler: self.scheduler.name.to_owned(),
            knobs: self.knobs.clone(),
            lost: self.lost(),
            observed: self.observed()?,
        })
    }
}
