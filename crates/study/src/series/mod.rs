//! A cell's runs under run rules, without any clock or process: values in, what to do next out.

mod rules;
mod state;

pub use rules::{Enough, Metric, Preset, Rules};
pub(crate) use state::{State, Visit, state};
