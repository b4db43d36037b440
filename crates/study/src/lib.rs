//! Studies: reads a study file, visits its cells under run rules until each has enough trials, and stores every record.

mod engine;
mod error;
mod file;
mod load;
mod plan;
#[cfg(test)]
mod scripted;
mod search;
mod series;

pub use engine::{Store, StudyEvent, run_pairs, run_study};
pub use error::{StoreError, StudyRunError};
pub use file::{Shipped, StudyFileError, shipped, study_schema};
pub use load::{LoadError, load};
pub use plan::{Cell, StudyPlan};
pub use series::{Preset, Rules, StopMetric, StopRule};
