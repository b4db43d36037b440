//! Ratios of B to A.

use klatch_record::{Comparison, MetricComparison, RatioEstimate};
use klatch_stats::median;

use super::subject::Subject;
use crate::comparison::{method, named, sentence};
use crate::model::{Number, RatioRow, RatioTable};

/// The table of one comparison.
pub(super) fn table(of: &Comparison, subject: &Subject) -> RatioTable {
    let label = |cell: &String| {
        let place = subject.cells().find(|(_, one)| one.id == format!("A: {cell}"));
        place.map_or_else(
            || cell.clone(),
            |(place, _)| {
                let label = &subject.grid.labels[place];
                label.trim_end_matches(", A").to_owned()
            },
        )
    };
    let row = |metric: &MetricComparison| {
        let number =
            |ratio: &RatioEstimate| Number { value: ratio.estimate, low: ratio.low, high: ratio.high };
        RatioRow {
            metric: metric.metric.clone(),
            name: named(metric).0.trim().to_owned(),
            a: median(&metric.a).ok(),
            b: median(&metric.b).ok(),
            ratio: metric.ratio.as_ref().map(number),
            conclusion: match (&metric.ratio, &metric.absent) {
                (Some(ratio), _) => sentence(ratio, of.confidence),
                (None, Some(why)) => format!("not compared: {why}"),
                (None, None) => "not compared".to_owned(),
            },
        }
    };
    RatioTable {
        cell: of.cell.as_ref().map(label).unwrap_or_default(),
        method: method(of),
        rows: of.metrics.iter().map(row).collect(),
        center: "median".to_owned(),
        caveats: of.caveats.clone(),
    }
}

/// All comparisons in one sentence: the number of cells with a significant difference, and the largest difference.
pub(super) fn answer(all: &[Comparison]) -> Option<String> {
    let of = |comparison: &Comparison| {
        let metric = comparison.metrics.iter().find(|metric| metric.metric == "cpu_us_per_message");
        let score = comparison.metrics.iter().find(|metric| metric.metric == "messages_per_s");
        let shown = |metric: Option<&MetricComparison>| metric?.ratio.filter(RatioEstimate::shows_difference);
        let both = [("throughput", shown(score)), ("CPU time per message", shown(metric))];
        both.into_iter().find_map(|(name, ratio)| Some((name, ratio?, comparison.cell.clone())))
    };
    let shown: Vec<_> = all.iter().filter_map(of).collect();
    let most = shown.iter().max_by(|a, b| a.1.estimate.ln().abs().total_cmp(&b.1.estimate.ln().abs()));
    let cells =
        if all.len() == 1 { String::new() } else { format!("In {} of {} cells ", shown.len(), all.len()) };
    match (all, most) {
        ([], _) => None,
        (_, None) => Some(
            "No difference between A and B can be shown in throughput or CPU time per message.".to_owned(),
        ),
        (_, Some((name, ratio, cell))) => {
            let sentence_end = format!(
                "the {name} of B is {:.2} × that of A (95 % interval {:.2}–{:.2})",
                ratio.estimate, ratio.low, ratio.high
            );
            let at =
                cell.as_ref().filter(|_| all.len() > 1).map_or(String::new(), |cell| format!(", in {cell}"));
            Some(match cells.is_empty() {
                true => format!("{}{}.", "T", &sentence_end[1..]),
                false => format!("{cells}a difference is shown; the largest: {sentence_end}{at}."),
            })
        }
    }
}
