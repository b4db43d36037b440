//! Comparisons as text for a terminal.

use std::fmt::Write;

use klatch_record::{Comparison, Estimator, MetricComparison, RatioEstimate, Side, Unit};
use klatch_stats::median;

use crate::difference::{distinct, short};
use crate::metric;
use crate::strokes::strip;
use crate::table::{Column, TextTable};

/// A comparison as text: the two sides, a line for each metric, and the caveats.
pub fn comparison(comparison: &Comparison) -> String {
    let mut text = String::new();
    if let Some(cell) = &comparison.cell {
        let _ = writeln!(text, "cell {cell}");
    }
    let sides = [&comparison.a, &comparison.b];
    let width = sides.map(|side| side.name.chars().count()).into_iter().max().unwrap_or(0);
    for side in sides {
        let _ = writeln!(text, "{:<width$}  {}", side.name, describe_side(side));
    }
    let _ = writeln!(text, "\n{}\n", method(comparison));
    let mut table = TableOfSides::new("median", sides.map(|side| side.name.as_str()));
    for metric in &comparison.metrics {
        let name = metric::title(&metric.metric);
        let middle = |values: &[f64]| {
            median(values).map_or_else(|_| "–".to_owned(), |value| metric::cell(&metric.metric, value))
        };
        let (values, result) =
            ([middle(&metric.a), middle(&metric.b)], row_conclusion(metric, comparison.confidence));
        table.row(name, values, metric.ratio.as_ref(), reach(comparison), &result);
    }
    let _ = writeln!(text, "{table}");
    for caveat in &comparison.caveats {
        let _ = writeln!(text, "note: {caveat}");
    }
    text
}

/// The table of two sides: a metric, a value of each, a strip, and the conclusion.
pub(crate) struct TableOfSides(TextTable);

impl TableOfSides {
    /// A table for the sides of these names; `center` is what the values are.
    pub(crate) fn new(center: &str, names: [&str; 2]) -> TableOfSides {
        let [a, b] = distinct(names);
        let a = if a == "base" { a } else { format!("{a} (base)") };
        let [a, b] = [a, b].map(Column::number);
        let strip = Column::name("").less(1);
        TableOfSides(TextTable::new([Column::name(center), a, b, strip, Column::words("")]))
    }

    /// Adds a line.
    pub(crate) fn row(
        &mut self,
        name: &str,
        [a, b]: [String; 2],
        ratio: Option<&RatioEstimate>,
        reach: f64,
        conclusion: &str,
    ) {
        let strip =
            ratio.map_or_else(String::new, |ratio| strip(ratio.estimate, ratio.low, ratio.high, reach));
        self.0.row([name.to_owned(), a, b, strip, conclusion.to_owned()]);
    }
}

impl std::fmt::Display for TableOfSides {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// What a metric shows, for a row of a table.
pub(crate) fn row_conclusion(metric: &MetricComparison, confidence: f64) -> String {
    match (&metric.ratio, &metric.absent) {
        (Some(ratio), _) => short(&metric.metric, ratio, confidence),
        (None, cause) => format!("not compared: {}", cause.as_deref().unwrap_or("not observed")),
    }
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

/// The range of the strips: up to the farthest interval end, but at least 10 % and at most a factor of two.
fn reach(comparison: &Comparison) -> f64 {
    let ends =
        comparison.metrics.iter().filter_map(|metric| metric.ratio).flat_map(|ratio| [ratio.low, ratio.high]);
    ends.map(|end| end.ln().abs().exp()).fold(1.1, f64::max).min(2.0)
}
