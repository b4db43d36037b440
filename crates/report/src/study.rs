//! The result of a study as text, for a terminal.

use std::fmt::Write;

use klatch_record::{CellResult, CellStatus, Estimate, LATENCY_P99, MESSAGES_PER_S, Metric, StudyResult};

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
    let mut table = TextTable::new(columns(result));
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
        table.row(at.chain(numbers(result, cell)).chain(strokes).chain([verdict(cell)]));
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

/// The columns: the axes, and what [`numbers`] has for a cell. A narrow terminal keeps those of the metrics that the answer is about:
/// that of the study, and CPU time beside the throughput, because it decides where others disturbed that.
fn columns(result: &StudyResult) -> Vec<Column> {
    let unit = unit(&result.cells);
    let [throughput, cpu] = score_of(&result.cells);
    let is_throughput = [throughput.name, MESSAGES_PER_S].contains(&result.metric.as_str());
    let rank = |metric: &str| u8::from(metric != result.metric && !is_throughput);
    let axes = result.axes.iter().map(|axis| Column::name(axis.name.as_str()));
    let other = other_metric(result).map(|metric| Column::number(metric.title));
    let numbers = [
        Column::number("trials").less(2),
        Column::number(format!("{unit}s/s")).less(rank(throughput.name)),
        Column::number("").less(5),
        Column::number(format!("CPU µs/{unit}")).less(rank(cpu.name)),
        Column::number("").less(5),
        Column::number("p99").less(u8::from(result.metric != LATENCY_P99)),
    ];
    let ends = [Column::name("").less(4), Column::name("in turn").less(3), Column::words("verdict")];
    axes.chain(numbers).chain(other).chain(ends).collect()
}

/// The metric of the study if it is none of those that every study shows.
fn other_metric(result: &StudyResult) -> Option<&'static Metric> {
    let shown = [true, false].map(Metric::of_score).concat();
    let is_shown = |name: &str| name == LATENCY_P99 || shown.iter().any(|metric| metric.name == name);
    Metric::named(&result.metric).filter(|metric| !is_shown(metric.name))
}

fn numbers(result: &StudyResult, cell: &CellResult) -> Vec<String> {
    let mut row = vec![cell.trials.to_string()];
    let of = |metric: &Metric| cell.estimates.get(metric.name);
    for metric in score_of(std::slice::from_ref(cell)) {
        row.extend(of(metric).map_or([String::new(), String::new()], |estimate| {
            [metric.cell_below_unit(estimate.mean), half_width(estimate)]
        }));
    }
    let value = |metric: &'static Metric| of(metric).map_or(String::new(), |value| metric.cell(value.mean));
    row.push(Metric::named(LATENCY_P99).map_or(String::new(), value));
    row.extend(other_metric(result).map(value));
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
