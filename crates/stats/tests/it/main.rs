//! Estimates and intervals, against SciPy and in simulations.

mod batches;
mod comparisons;
mod coverage;
mod scipy;
mod shared;
