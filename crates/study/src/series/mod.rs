//! The series of trials of one cell under run rules: values in, next state out. It has no clock and starts no process.

mod rules;
mod series_state;

pub use rules::{DuetTimes, Preset, Rules, StopRule};
pub(crate) use series_state::{SeriesState, Settled, Visit, series_state};
