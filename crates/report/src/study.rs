//! The result of a study as text, for a terminal.

use std::fmt::Write;

use klatch_record::{CellResult, CellStatus, Estimate, LATENCY_P99, Metric, StudyResult};

use crate::duet;
use crate::metric::{ShownMetric, score_of};
use crate::strokes::{bar, spark};
use crate::table::{Column, TextTable};

/// Longest verdict in the table, characters; the JSON result has all of it.
const VERDICT_MAX: usize = 100;

/// Width of a bar, characters.
const BAR: usize = 12;

/// One line for each cell: its values on the axes, estimates, a bar and a sparkline of the study's
/// metric, and its verdict.
pub fn study(result: &StudyResult) -> String {
    let axes = result.axes.iter().map(|axis| Column::name(axis.name.as_str()));
    let unit = unit(&result.cells);
    let (throughput, cpu) = (format!("{unit}s/s"), format!("CPU µs/{unit}"));
    let columns = [
        Column::number("trials").less(2),
        Column::number(throughput),
        Column::number("").less(5),
        Column::number(cpu).less(1),
        Column::number("").less(5),
        Column::number("p99").less(1),
        Column::name("").less(4),
        Column::name("in turn").less(3),
        Column::words("verdict"),
    ];
    let mut table = TextTable::new(axes.chain(columns));
    let largest = result
        .cells
        .iter()
        .filter_map(|cell| main_estimate(result, cell))
        .map(|of| of.mean)
        .fold(0.0, f64::max);
    for cell in &result.cells {
        let strokes = main_estimate(result, cell).map_or([String::new(), String::new()], |estimate| {
            [bar(estimate.mean, largest, BAR), spark(&estimate.values)]
        });
        let at =
            result.axes.iter().map(|axis| cell.at.get(&axis.name).map_or("–", String::as_str).to_owned());
        table.row(at.chain(numbers(cell)).chain(strokes).chain([verdict(cell)]));
    }
    let mut text = format!("{}\n\n{}\n", result.question, table);
    let mut absent: Vec<&str> = Vec::new();
    for cell in result.cells.iter().filter(|cell| cell.status == CellStatus::Absent) {
        if !absent.contains(&cell.verdict.as_str()) {
            absent.push(&cell.verdict);
            let _ = write!(text, "\n{}", cell.verdict);
        }
    }
    if !absent.is_empty() {
        text.push('\n');
    }
    for cell in &result.cells {
        for failure in &cell.failures {
            let _ = write!(text, "\n{}: {failure}", cell.id);
        }
    }
    if !result.pairs.is_empty() {
        text += &duet::pairs(&result.pairs);
        text += "(×: times that of the reference; –: no difference shown; the report has all metrics)\n";
    }
    let _ = write!(text, "\nrules: {}\n", result.rules);
    text
}

fn numbers(cell: &CellResult) -> Vec<String> {
    let mut row = vec![cell.trials.to_string()];
    let of = |metric: &Metric| cell.estimates.get(metric.name);
    for metric in score_of(std::slice::from_ref(cell)) {
        row.extend(of(metric).map_or([String::new(), String::new()], |estimate| {
            [metric.cell_below_unit(estimate.mean), half_width(estimate)]
        }));
    }
    let p99 = Metric::named(LATENCY_P99).and_then(|p99| Some(p99.cell(of(p99)?.mean)));
    row.push(p99.unwrap_or_default());
    row
}

fn verdict(cell: &CellResult) -> String {
    match cell.status {
        CellStatus::Failed => "failed, see below".to_owned(),
        CellStatus::Absent => "not here, see below".to_owned(),
        _ => shortened(&cell.verdict),
    }
}

/// The unit of the score of these cells: that of the workload.
pub(crate) fn unit(cells: &[CellResult]) -> &'static str {
    if score_of(cells) == Metric::of_score(true) { "operation" } else { "message" }
}

/// The estimate of a cell in the study's metric.
fn main_estimate<'a>(result: &StudyResult, cell: &'a CellResult) -> Option<&'a Estimate> {
    cell.estimates.get(&result.metric)
}

/// Half the width of the interval in percent of the mean.
pub(crate) fn half_width(estimate: &Estimate) -> String {
    let Some((low, high)) = estimate.low.zip(estimate.high) else { return String::new() };
    format!("±{:.1} %", (high - low) / 2.0 / estimate.mean * 100.0)
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(VERDICT_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
