//! Duets: two servers, or two crowds, compared in slices of time. While one runs, the other is paused at a message
//! boundary, so both see nearly the same machine.
//!
//! The idea is duet benchmarking (Bulej, Horký, Tůma, Farquet, Prokopec: Duet Benchmarking: Improving Measurement Accuracy in
//! the Cloud, ICPE 2020), which runs both at the same time; so does [`DuetPlan::together`].

mod error;
mod estimate;
mod explain;
mod forecast;
mod halves;
mod instruments;
mod observe;
mod pair;
mod placement;
mod plan;
mod progress;
mod run;
mod servers;
mod sides;
mod slices;
mod starts;

pub use error::DuetError;
pub use forecast::Forecast;
pub use pair::{PairExecutor, PairMachine, PairOutcome, compare_starts};
pub use plan::{DuetPlan, DuetSchedule, PAIRS_MIN};
pub use progress::{DuetOutcome, DuetProgress};
pub use run::{duet, instrument_duet};
