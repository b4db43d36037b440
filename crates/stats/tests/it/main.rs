//! Estimates and intervals, against SciPy and in simulations.

mod batches;
mod changes;
mod comparisons;
mod coverage;
mod scipy;
mod shared;
