//! Studies: reads a study file, visits its cells under run rules until each has enough trials, and stores every record.

pub mod compare;
mod computed;
mod engine;
mod error;
mod file;
mod load;
mod plan;
#[cfg(test)]
mod scripted;
mod search;
mod series;
mod simulated;

pub use computed::{
    ComputedCell, ComputedError, ComputedEvent, ComputedPlan, ComputedStudy, Computer, run_computed,
};
pub use engine::{Store, StudyEvent, run_pairs, run_study};
pub use error::{StoreError, StudyRunError};
#[cfg(feature = "schema")]
pub use file::study_schema;
pub use file::{Shipped, StudyFileError, shipped};
pub use load::{LoadError, load};
pub use plan::{Cell, StudyBase, StudyPlan};
pub use series::{DuetTimes, Preset, Rules, StopMetric, StopRule};
#[cfg(feature = "schema")]
pub use simulated::simulated_study_schema;
pub use simulated::{
    SimulatedJob, SimulatedTrial, Simulator, load_simulated, sensitivity, shipped_simulated,
    simulated_metrics,
};
