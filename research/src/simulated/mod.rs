//! The results of the simulated machine that stand beside published ones. The published results and their bands are in `papers/`; a
//! number joins both.

pub(crate) mod cells;
mod changes;
mod counters;
mod java_locks;
mod many_cpus;
pub(crate) mod one_cpu;
mod server;
mod throughput;

use klatch_simulator::Costs;
use serde::Serialize;

use crate::costs::{NotFrozen, require_frozen};
use cells::Cells;

/// A simulated result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Computed {
    /// The number of the published result.
    pub number: u32,
    /// The simulated result, in the form of the published one.
    pub simulated: String,
    /// Whether all its numbers are within the band.
    pub holds: bool,
}

impl Computed {
    fn new(number: u32, simulated: String, holds: bool) -> Self {
        Self { number, simulated, holds }
    }
}

/// Simulates all results, in the order of their numbers. Takes more than a minute of CPU time.
///
/// # Errors
/// The costs are not frozen: they could have been adjusted to the results.
pub fn simulate_all(costs: &Costs) -> Result<Vec<Computed>, NotFrozen> {
    require_frozen(costs)?;
    let mut cells = Cells::new(costs.clone());
    let mut rows = throughput::rows(&mut cells);
    rows.extend(counters::rows(&mut cells));
    rows.extend(one_cpu::rows(&cells));
    rows.extend(changes::rows(&mut cells));
    rows.extend(many_cpus::rows(&mut cells));
    rows.extend(java_locks::rows(costs));
    rows.extend(server::rows(&mut cells));
    rows.sort_by_key(|row| row.number);
    Ok(rows)
}

/// Whether `value` is within a factor of a published range.
fn within(value: f64, (low, high): (f64, f64), factor: f64) -> bool {
    value >= low / factor && value <= high * factor
}

/// Whether `value` is within a factor of a published value.
fn near(value: f64, published: f64, factor: f64) -> bool {
    within(value, (published, published), factor)
}

/// The change from `before` to `after`, in percent.
fn gain_percent(before: f64, after: f64) -> f64 {
    100.0 * (after / before - 1.0)
}

/// Whether a change has the sign of the published one. One of less than 1 % may be due to the seeds, and has no sign.
fn same_sign(percent: f64, published: f64) -> bool {
    percent.abs() >= 1.0 && percent.signum() == published.signum()
}

/// Numbers without decimals, for a row.
fn list(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.0}")).collect::<Vec<_>>().join(", ")
}

/// Percentages with their sign, for a row.
fn signed(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:+.1}")).collect::<Vec<_>>().join(", ") + " %"
}
