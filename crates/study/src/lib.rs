//! Studies: reads a study file, visits its cells under run rules until each has enough trials, and stores every record.

mod cell;
mod engine;
mod error;
mod file;
#[cfg(test)]
mod scripted;
mod series;
mod study;

pub use cell::{Cell, StudyPlan};
pub use engine::{Store, StudyEvent, run_study};
pub use error::{StoreError, StudyRunError};
pub use file::{Shipped, StudyFileError, shipped, study_schema};
pub use series::{Enough, Metric, Preset, Rules};
pub use study::{StudyError, load};
