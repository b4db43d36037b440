//! The result of a search in numbers and words.

use klatch_record::{WorkloadKind, grouped};
use klatch_stats::mean_interval;

use crate::search::Search;

/// The geometric mean of the passes, with the interval of Student's t on the logarithms.
pub(super) fn estimate(passes: &[f64], confidence: f64) -> (Option<f64>, Option<(f64, f64)>) {
    let logs: Vec<f64> = passes.iter().map(|value| value.ln()).collect();
    match (passes, mean_interval(&logs, confidence)) {
        ([], _) => (None, None),
        ([only], _) => (Some(*only), None),
        (_, Ok(interval)) => (Some(interval.estimate.exp()), Some((interval.low.exp(), interval.high.exp()))),
        ([first, ..], Err(_)) => (Some(*first), None),
    }
}

pub(super) fn verdict(
    middle: Option<f64>,
    ends: Option<(f64, f64)>,
    passes: usize,
    axis: &str,
    cause: Option<&str>,
) -> String {
    let interval = ends.map_or(String::new(), |(low, high)| {
        format!(" ({}–{} in {passes} passes)", number(low), number(high))
    });
    match (middle, cause) {
        (Some(middle), Some(cause)) => format!("{} {axis}{interval}; {cause}", number(middle)),
        (Some(middle), None) => format!("at least {} {axis}, where the search ended", number(middle)),
        (None, _) => format!("none: {}", cause.unwrap_or("nothing was tried")),
    }
}

/// The name of the axis that is searched, with its unit.
pub(super) fn axis(search: &Search, workload: WorkloadKind) -> String {
    let axis = match (search, workload) {
        // Of `orders`, the injection rate is the number of districts.
        (Search::Limit { .. }, WorkloadKind::Orders) => "injection rate",
        (Search::Limit { .. }, kind) => return format!("{}s", kind.party_name()),
        (Search::Knee { .. }, WorkloadKind::Chat) => "messages/s of each user",
        (Search::Knee { .. }, WorkloadKind::Trade) => "operations/s of each trader",
        (Search::Knee { .. }, _) => "requests/s of each connection",
    };
    axis.to_owned()
}

/// A value of the axis: whole, or with three digits.
pub(super) fn number(value: f64) -> String {
    match value {
        value if value.fract() == 0.0 || value >= 1_000.0 => grouped(value.round() as u64),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}
