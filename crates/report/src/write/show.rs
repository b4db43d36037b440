//! Formats of numbers and names in the templates.

use klatch_record::{CellStatus, Estimate, JudgementStatus, Metric, SERVER_CPU};

use crate::metric::{ShownMetric, cell as cell_of};
use crate::model::{CellRow, Judged, Place, RatioRow, RatioTable, Report, Standing};
use crate::number::{grouped, megabytes, three_digits, time};

/// Formats a number in a table, with up to five significant digits.
pub(super) fn number(value: &f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 10_000.0 => grouped(value.round() as u64),
        _ if size >= 1_000.0 || value.fract() == 0.0 => format!("{value:.0}"),
        _ if size >= 100.0 => format!("{value:.1}"),
        _ if size >= 1.0 => format!("{value:.2}"),
        _ if size >= 0.1 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// Formats an optional number.
pub(super) fn some(value: &Option<f64>) -> String {
    value.as_ref().map_or_else(|| "–".to_owned(), number)
}

/// Formats a position along x.
pub(super) fn place(place: &Place) -> String {
    match place {
        Place::At(value) => crate::number::plain(*value),
        Place::Named(name) => name.clone(),
    }
}

/// Formats the mean of an estimate in the style of its metric.
pub(super) fn mean(name: &str, estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "–".to_owned(), |estimate| metric(name, estimate.mean))
}

/// Formats a value of a metric, with its unit unless the column head has it.
pub(super) fn metric(name: &str, value: f64) -> String {
    Metric::named(name).map_or_else(|| three_digits(value), |metric| metric.cell_below_unit(value))
}

/// Whether any cell has a class: readers, and simulated servers, have none.
pub(super) fn has_classes(cells: &[CellRow]) -> bool {
    cells.iter().any(|cell| !cell.class.is_empty())
}

/// Whether the cells are of both classes.
pub(super) fn is_mixed(cells: &[CellRow]) -> bool {
    let mut classes: Vec<&str> =
        cells.iter().map(|cell| cell.class.as_str()).filter(|class| !class.is_empty()).collect();
    classes.sort_unstable();
    classes.dedup();
    classes.len() > 1
}

/// The row of a comparison in the table of all.
pub(super) struct Compared<'a> {
    pub(super) name: &'a str,
    pub(super) base: &'a str,
    pub(super) class: &'a str,
    pub(super) row: &'a RatioRow,
}

/// The server's CPU time of all comparisons of a study of duets, by class, the least first; empty if there are only two.
pub(super) fn compared(report: &Report) -> Vec<Compared<'_>> {
    let of = |table: &'_ RatioTable| table.rows.iter().position(|row| row.metric == SERVER_CPU);
    let row = |table| {
        let RatioTable { a, b, rows, .. }: &RatioTable = table;
        let class = report.cells.iter().find(|cell| cell.id == *b).map_or("", |cell| cell.class.as_str());
        Some(Compared { name: b, base: a, class, row: &rows[of(table)?] })
    };
    let mut all: Vec<Compared<'_>> = report.ratios.iter().filter_map(row).collect();
    let ratio = |one: &Compared<'_>| one.row.ratio.as_ref().map_or(f64::INFINITY, |ratio| ratio.value);
    all.sort_by(|a, b| a.class.cmp(b.class).then(ratio(a).total_cmp(&ratio(b))));
    if all.len() > 2 && report.cells.len() > 2 { all } else { Vec::new() }
}

/// Formats a value of a comparison with its unit.
pub(super) fn valued(name: &str, value: &f64) -> String {
    cell_of(name, *value)
}

/// Whether any cell has an estimate of this name.
pub(super) fn has(cells: &[CellRow], name: &str) -> bool {
    cells.iter().any(|cell| cell.estimates.contains_key(name))
}

/// Formats half the width of the interval, in percent of the mean.
pub(super) fn half_width(estimate: Option<&Estimate>) -> String {
    let ends = estimate.and_then(|estimate| Some((estimate.low?, estimate.high?, estimate.mean)));
    ends.map_or_else(String::new, |(low, high, mean)| format!("±{:.1} %", (high - low) / 2.0 / mean * 100.0))
}

/// Name of one unit of work: `operation` for all workloads but chat.
pub(super) fn score_unit(cells: &[CellRow]) -> &'static str {
    if has_operations(cells) { "operation" } else { "message" }
}

/// The metrics of throughput and CPU time per unit of work.
pub(super) fn score_metrics(cells: &[CellRow]) -> [&'static str; 2] {
    Metric::of_score(has_operations(cells)).map(|metric| metric.name)
}

/// A column of scores.
pub(super) struct ScoreColumn {
    pub(super) metric: &'static str,
    pub(super) is_cpu: bool,
}

/// The estimate of a cell in a column of scores.
pub(super) fn of<'a>(cell: &'a CellRow, column: &ScoreColumn) -> Option<&'a Estimate> {
    cell.estimates.get(column.metric)
}

/// The columns of scores that any cell has. That of the answer is the first, as the others are out of sight on a narrow page.
pub(super) fn score_columns(report: &Report) -> Vec<ScoreColumn> {
    let [throughput, cpu] = score_metrics(&report.cells);
    let cpu = has(&report.cells, cpu).then_some(ScoreColumn { metric: cpu, is_cpu: true });
    let throughput = Some(ScoreColumn { metric: throughput, is_cpu: false });
    let columns = if report.is_decided_by_cpu() { [cpu, throughput] } else { [throughput, cpu] };
    columns.into_iter().flatten().collect()
}

fn has_operations(cells: &[CellRow]) -> bool {
    let [operations, _] = Metric::of_score(true);
    cells.iter().any(|cell| cell.estimates.contains_key(operations.name))
}

/// The status of a cell in words.
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

/// The verdict of a report in words.
pub(super) fn standing(standing: &Standing) -> &'static str {
    match standing {
        Standing::Valid => "valid",
        Standing::Wide => "valid, not converged",
        Standing::Partly => "partly failed",
        Standing::Simulated => "simulated",
        Standing::Nothing => "no result",
    }
}

/// The CSS class of a verdict.
pub(super) fn standing_class(standing: &Standing) -> &'static str {
    match standing {
        Standing::Valid => "good",
        Standing::Wide | Standing::Simulated => "fair",
        Standing::Partly | Standing::Nothing => "bad",
    }
}

/// The status of a requirement in words.
pub(super) fn judgement(one: &Judged) -> &'static str {
    one.judgement.status.words()
}

/// The CSS class of the status of a requirement.
pub(super) fn judgement_class(one: &Judged) -> &'static str {
    match one.judgement.status {
        JudgementStatus::Met => "good",
        JudgementStatus::Undecided => "fair",
        JudgementStatus::NotMet => "bad",
    }
}

/// A requirement with its numbers.
pub(super) fn judgement_numbers(one: &Judged) -> String {
    crate::requirement::numbers(&one.judgement)
}

/// Formats an optional share as a percentage.
pub(super) fn share(share: &Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), crate::difference::percent)
}

/// Formats an optional number of bytes.
pub(super) fn bytes(bytes: &Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_owned(), megabytes)
}

/// Formats an optional time, µs, with a suitable unit.
pub(super) fn us(us: &Option<f64>) -> String {
    us.map_or_else(|| "–".to_owned(), time)
}

/// Formats an RFC 3339 time as `2026-11-22 02:31:00`.
pub(crate) fn moment(moment: &str) -> String {
    moment.replace('T', " ").trim_end_matches('Z').to_owned()
}
