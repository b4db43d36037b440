//! Ratios of B to A.

use klatch_record::{CPU_PER_MESSAGE, Comparison, MESSAGES_PER_S, MetricComparison, RatioEstimate};
use klatch_stats::median;

use super::subject::Subject;
use crate::comparison::{method, row_conclusion};
use crate::difference::{Sides, noun, sentence};
use crate::model::{Number, RatioRow, RatioTable};

/// The table of one comparison.
pub(super) fn table(of: &Comparison, subject: &Subject) -> RatioTable {
    let label = |cell: &String| {
        let place = subject.cells().find(|(_, one)| one.id == format!("{}: {cell}", of.a.name));
        place.map_or_else(
            || cell.clone(),
            |(place, _)| {
                let label = &subject.grid.labels[place];
                label.trim_end_matches(&format!(", {}", of.a.name)).to_owned()
            },
        )
    };
    let row = |metric: &MetricComparison| {
        let number =
            |ratio: &RatioEstimate| Number { value: ratio.estimate, low: ratio.low, high: ratio.high };
        RatioRow {
            metric: metric.metric.clone(),
            name: noun(&metric.metric, "message"),
            a: median(&metric.a).ok(),
            b: median(&metric.b).ok(),
            ratio: metric.ratio.as_ref().map(number),
            conclusion: row_conclusion(metric, of.confidence),
        }
    };
    RatioTable {
        cell: of.cell.as_ref().map(label).unwrap_or_default(),
        a: of.a.name.clone(),
        b: of.b.name.clone(),
        method: method(of),
        rows: of.metrics.iter().map(row).collect(),
        center: "median".to_owned(),
        caveats: of.caveats.clone(),
    }
}

/// All comparisons in one sentence: the number of cells with a significant difference, and the largest difference.
pub fn answer(all: &[Comparison]) -> Option<String> {
    let of = |comparison| {
        let shown = |name: &'static str| {
            let metric: &MetricComparison = metric_of(comparison, name)?;
            Some((name, metric.ratio.filter(RatioEstimate::shows_difference)?, comparison))
        };
        [MESSAGES_PER_S, CPU_PER_MESSAGE].into_iter().find_map(shown)
    };
    let shown: Vec<_> = all.iter().filter_map(of).collect();
    let most = shown.iter().max_by(|a, b| a.1.estimate.ln().abs().total_cmp(&b.1.estimate.ln().abs()));
    let Some((name, ratio, comparison)) = most else {
        let first = all.first()?;
        return Some(format!(
            "No difference between {} and {} can be shown in throughput or CPU per message.",
            first.b.name, first.a.name
        ));
    };
    let sides = Sides { a: &comparison.a.name, b: &comparison.b.name, unit: "message" };
    let sentence = sentence(name, ratio, comparison.confidence, sides);
    let at = comparison.cell.as_ref().map_or(String::new(), |cell| format!(", in {cell}"));
    Some(match all.len() {
        1 => format!("{sentence}."),
        many => {
            format!("In {} of {many} cells a difference is shown; the largest: {sentence}{at}.", shown.len())
        }
    })
}

fn metric_of<'a>(comparison: &'a Comparison, name: &str) -> Option<&'a MetricComparison> {
    comparison.metrics.iter().find(|metric| metric.metric == name)
}
