//! The published results beside those of the simulated machine. Sources, bands and numbers of the rows: docs/reference/simulator.md.

pub(crate) mod cells;
mod changes;
mod counters;
mod java_locks;
mod many_cpus;
pub(crate) mod one_cpu;
mod server;
mod throughput;

use serde::Serialize;

use std::fmt;

use crate::costs::{CostError, Costs};
use cells::Cells;

/// How a simulated result compares with a published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All numbers are within the band.
    Within,
    /// A number is outside the band.
    Outside,
    /// The simulator cannot run it.
    NotRun,
}

/// What a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A cost was fitted to this result, so meeting it proves nothing.
    Calibration,
    /// Nothing was fitted to it.
    Prediction,
}

/// A published result beside the simulated one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its number in docs/reference/simulator.md.
    pub number: u32,
    /// What was measured, and on what.
    pub what: &'static str,
    /// The published result, with its unit.
    pub published: &'static str,
    /// The deviation that is accepted.
    pub band: &'static str,
    /// Whether a cost was fitted to it.
    pub role: Role,
    /// The simulated result, or why there is none.
    pub simulated: String,
    /// How the two compare.
    pub verdict: Verdict,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Within => "within",
            Self::Outside => "outside",
            Self::NotRun => "not run",
        })
    }
}

impl Row {
    /// Adds the simulated result to a published one.
    fn new(published: Published, simulated: String, holds: bool) -> Self {
        let (number, what, published, band) = published;
        let verdict = if holds { Verdict::Within } else { Verdict::Outside };
        Self { number, what, published, band, role: Role::Prediction, simulated, verdict }
    }

    fn calibration(self) -> Self {
        Self { role: Role::Calibration, ..self }
    }

    fn not_run(published: Published, why: &str) -> Self {
        Self { verdict: Verdict::NotRun, ..Self::new(published, why.to_owned(), false) }
    }
}

/// Number, subject, result and band.
type Published = (u32, &'static str, &'static str, &'static str);

/// Simulates all rows. Takes more than a minute of CPU time.
///
/// # Errors
/// The costs are not frozen: they could have been adjusted to the results.
pub fn papers(costs: &Costs) -> Result<Vec<Row>, CostError> {
    costs.require_frozen()?;
    let mut cells = Cells::new(costs.clone());
    let mut rows = throughput::rows(&mut cells);
    rows.extend(counters::rows(&mut cells));
    rows.extend(one_cpu::rows(&cells));
    rows.extend(changes::rows(&mut cells));
    rows.extend(many_cpus::rows(&mut cells));
    rows.extend(java_locks::rows(costs));
    rows.extend(server::rows(&mut cells));
    rows.push(row_29());
    rows.sort_by_key(|row| row.number);
    Ok(rows)
}

/// The study of nice values and preemption.
fn row_29() -> Row {
    let published = (29, "nice values and preemption in 2.5.25, one CPU", "18 cells", "sign");
    Row::not_run(published, "2.5.25's rule for yields is not known")
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
