//! Studies of the lab and the outcomes of their boots: what `klatch study` writes and `klatch report` reads.

mod counts;
mod outcome;
mod scheduler;
mod study;

pub use counts::{
    CountedBy, CountedOperations, DataCounts, EventCounts, LabCounts, OperationCosts, RoutineCost,
    RoutineCounts, is_count, is_counted,
};
pub use outcome::Outcome;
pub use scheduler::{CostAtLength, SchedulerCounts, SchedulerReport, StatValue};
pub use study::{Configuration, DEFAULT_KERNEL, KERNEL_SCHEDULER, Study, VariedValue};
