//! Studies of every kind, measured, emulated and simulated: reads a study file, gets trials of its cells until the run rules have
//! enough, and stores each at once.

pub mod compare;
mod computed;
mod emulated;
mod engine;
mod error;
mod exact;
mod file;
pub mod history;
mod measured;
mod plan;
#[cfg(feature = "schema")]
mod schema;
#[cfg(test)]
mod scripted;
mod search;
#[cfg(feature = "schema")]
mod search_schema;
mod series;
mod simulated;

pub use computed::{
    ComputedCell, ComputedError, ComputedEvent, ComputedPlan, ComputedStudy, Computer, run_computed,
};
pub use emulated::{Emulated, EmulatedStudy, NothingToBoot, leave_out, prepare};
pub use engine::{Store, StudyEvent, run_pairs, run_study};
pub use error::{StoreError, StudyRunError};
pub use exact::{ExactCounter, ExactError};
pub use file::{LoadError, Shipped, StudyFile, StudyFileError, load, shipped};
pub use measured::SmallStudy;
pub use plan::{Cell, StudyBase, StudyHead, StudyPlan};
#[cfg(feature = "schema")]
pub use schema::study_schema;
pub use series::{DuetTimes, Preset, Rules, StopRule};
pub use simulated::{SimulatedJob, SimulatedTrial, Simulator, sensitivity};
