//! Comparisons as text for a terminal, and conclusions in words.

use std::fmt::Write;

use klatch_record::{Comparison, Estimator, MetricComparison, RatioEstimate, Side, Unit};
use klatch_stats::median;

use crate::number::{grouped, three_digits, time};
use crate::strokes::strip;

/// The name of a metric in results, its title, and the formatter of its values.
type Row = (&'static str, &'static str, fn(f64) -> String);

const ROWS: [Row; 7] = [
    ("messages_per_s", "throughput", |value| format!("{}/s", grouped(value.round() as u64))),
    ("cpu_us_per_message", "CPU per message", time),
    ("server_cpu_us_per_message", "  of the server", time),
    ("server_cpu_per_crowd_cpu", "  per crowd's CPU", three_digits),
    ("latency_p50_us", "latency p50", time),
    ("latency_p99_us", "latency p99", time),
    ("latency_p999_us", "latency p99.9", time),
];

/// A comparison as text: the two sides, a line for each metric, and the caveats.
pub fn comparison(comparison: &Comparison) -> String {
    let mut text = String::new();
    if let Some(cell) = &comparison.cell {
        let _ = writeln!(text, "cell {cell}");
    }
    for (name, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        let _ = writeln!(text, "{name}  {}", describe_side(side));
    }
    let _ = writeln!(text, "   {}\n", method(comparison));
    let _ = writeln!(text, "{:<18}{:>14}{:>14}", "median", "A", "B");
    for metric in &comparison.metrics {
        let _ = writeln!(text, "{}", row(metric, comparison.confidence, reach(comparison)));
    }
    for caveat in &comparison.caveats {
        let _ = writeln!(text, "note: {caveat}");
    }
    text
}

/// The method of a comparison in words: estimator, unit and pairing.
pub(crate) fn method(comparison: &Comparison) -> String {
    let estimate = match comparison.estimate {
        Estimator::GeometricMean => "ratio of geometric means",
        Estimator::Mean => "ratio of means",
        Estimator::Median => "median ratio",
    };
    let unit = match comparison.unit {
        Unit::Start => "starts of the server",
        Unit::Trial => "trials",
    };
    let design = match comparison.pairs {
        Some(pairs) => format!("{pairs} pairs of {unit}, paired by block"),
        None => format!("{unit}, not paired: the two were not measured in turn"),
    };
    format!("{estimate}; {design}")
}

fn describe_side(side: &Side) -> String {
    let count = |number: u32, what: &str| {
        if number == 1 { format!("one {what}") } else { format!("{number} {what}s") }
    };
    format!(
        "{}: {}, {} in {} of the server",
        side.path,
        side.platform,
        count(side.trials, "trial"),
        count(side.starts, "start")
    )
}

/// The title of a metric and the formatter of its values.
pub(crate) fn named(metric: &MetricComparison) -> (&str, fn(f64) -> String) {
    format_of(&metric.metric)
}

/// The title of the metric with this name, and the formatter of its values.
pub(crate) fn format_of(metric: &str) -> (&str, fn(f64) -> String) {
    let row = ROWS.iter().find(|(name, ..)| *name == metric);
    row.map_or((metric, three_digits as fn(f64) -> String), |row| (row.1, row.2))
}

/// The range of the strips: up to the farthest interval end, but at least 10 % and at most a factor of two.
fn reach(comparison: &Comparison) -> f64 {
    let ends =
        comparison.metrics.iter().filter_map(|metric| metric.ratio).flat_map(|ratio| [ratio.low, ratio.high]);
    ends.map(|end| end.ln().abs().exp()).fold(1.1, f64::max).min(2.0)
}

fn row(metric: &MetricComparison, confidence: f64, reach: f64) -> String {
    let (name, show) = named(metric);
    let middle = |values: &[f64]| median(values).map_or_else(|_| "–".to_owned(), show);
    let sentence = match (&metric.ratio, &metric.absent) {
        (Some(ratio), _) => sentence(ratio, confidence),
        (None, Some(why)) => format!("not compared: {why}"),
        (None, None) => "not compared".to_owned(),
    };
    let strip =
        metric.ratio.map_or_else(String::new, |ratio| strip(ratio.estimate, ratio.low, ratio.high, reach));
    format!("{name:<18}{:>14}{:>14}  {strip:<17}  {sentence}", middle(&metric.a), middle(&metric.b))
}

/// The conclusion that a ratio allows, in words.
pub(crate) fn sentence(ratio: &RatioEstimate, confidence: f64) -> String {
    if ratio.shows_difference() {
        // Enough digits to distinguish the ends of the interval.
        let digits = (2 - (ratio.high - ratio.low).log10().ceil() as i32).clamp(2, 6) as usize;
        let percent = (confidence * 1e4).round() / 1e2;
        return format!(
            "B is {:.digits$} × A, {percent} % interval {:.digits$}–{:.digits$}",
            ratio.estimate, ratio.low, ratio.high
        );
    }
    format!(
        "no difference can be shown; this data would show one of {} or more",
        percent(ratio.smallest_difference)
    )
}

/// Formats a share as a percentage with two digits.
pub(crate) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATIO: RatioEstimate =
        RatioEstimate { estimate: 1.324, low: 1.271, high: 1.379, smallest_difference: 0.06 };

    #[test]
    fn a_difference_is_a_ratio_with_its_interval() {
        assert_eq!(sentence(&RATIO, 0.95), "B is 1.32 × A, 95 % interval 1.27–1.38");
        let narrow = RatioEstimate { estimate: 1.0041, low: 1.0032, high: 1.0050, ..RATIO };
        assert_eq!(sentence(&narrow, 0.999), "B is 1.0041 × A, 99.9 % interval 1.0032–1.0050");
    }

    #[test]
    fn an_insignificant_ratio_names_the_resolvable_difference() {
        let none = RatioEstimate { estimate: 1.01, low: 0.98, high: 1.04, smallest_difference: 0.041 };
        let expected = "no difference can be shown; this data would show one of 4.1 % or more";
        assert_eq!(sentence(&none, 0.95), expected);
        assert_eq!((percent(0.004), percent(0.256)), ("0.4 %".to_owned(), "26 %".to_owned()));
    }
}
