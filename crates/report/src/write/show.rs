//! Numbers and names as the templates write them.

use klatch_record::{CellStatus, Estimate};

use crate::model::{Place, Standing};
use crate::number::{grouped, megabytes, three_digits, time};

/// A number in a table: five digits that count.
pub(super) fn number(value: &f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 10_000.0 => grouped(value.round() as u64),
        _ if size >= 1_000.0 || value.fract() == 0.0 => format!("{value:.0}"),
        _ if size >= 100.0 => format!("{value:.1}"),
        _ if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// A number that there may be.
pub(super) fn some(value: &Option<f64>) -> String {
    value.as_ref().map_or_else(|| "–".to_owned(), number)
}

/// A place along x.
pub(super) fn place(place: &Place) -> String {
    match place {
        Place::At(value) => crate::number::plain(*value),
        Place::Named(name) => name.clone(),
    }
}

/// The mean of an estimate, as its metric is shown.
pub(super) fn mean(name: &str, estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "–".to_owned(), |estimate| metric(name, estimate.mean))
}

/// A value of a metric with its unit, if that is not in the head of the column.
pub(super) fn metric(name: &str, value: f64) -> String {
    match name {
        "messages_per_s" => grouped(value.round() as u64),
        name if name.starts_with("latency_") => time(value),
        name if name.ends_with("_bytes") => megabytes(value as u64),
        _ => three_digits(value),
    }
}

/// Half the width of the interval.
pub(super) fn half_width(estimate: Option<&Estimate>) -> String {
    let ends = estimate.and_then(|estimate| Some((estimate.low?, estimate.high?, estimate.mean)));
    ends.map_or_else(String::new, |(low, high, mean)| format!("±{:.1} %", (high - low) / 2.0 / mean * 100.0))
}

/// What a cell's status is called.
pub(super) fn status(status: &CellStatus) -> &'static str {
    match status {
        CellStatus::Converged => "converged",
        CellStatus::NotConverged => "not converged",
        CellStatus::Complete => "complete",
        CellStatus::Failed => "failed",
        CellStatus::Absent => "not here",
        CellStatus::Open => "not finished",
    }
}

/// What a verdict is called.
pub(super) fn standing(standing: &Standing) -> &'static str {
    match standing {
        Standing::Valid => "valid",
        Standing::Wide => "valid, not converged",
        Standing::Partly => "partly failed",
        Standing::Nothing => "no result",
    }
}

/// The class of a verdict in the style sheet.
pub(super) fn standing_class(standing: &Standing) -> &'static str {
    match standing {
        Standing::Valid => "good",
        Standing::Wide => "fair",
        Standing::Partly | Standing::Nothing => "bad",
    }
}

/// A share as a percentage.
pub(super) fn share(share: &Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), crate::comparison::percent)
}

/// Bytes that there may be.
pub(super) fn bytes(bytes: &Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_owned(), megabytes)
}

/// Microseconds that there may be.
pub(super) fn us(us: &Option<f64>) -> String {
    us.map_or_else(|| "–".to_owned(), time)
}

/// A date and time as people read it: `22 November 2026` is not needed, `2026-11-22 02:31` is.
pub(super) fn moment(moment: &str) -> String {
    moment.replace('T', " ").trim_end_matches('Z').to_owned()
}
