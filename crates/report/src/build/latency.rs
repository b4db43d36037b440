//! Latency by percentile, from the merged histograms of all trials of a cell.

use klatch_record::{Latency, Record, saturating_sum};

use super::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Place, Point, Scale};

/// Largest number of lines that can be distinguished in one chart.
const SERIES_MAX: usize = 12;

/// The percentiles that are drawn.
const PERCENTILES: [f64; 16] =
    [0.0, 25.0, 50.0, 75.0, 80.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.8, 99.9, 99.95, 99.98, 99.99, 100.0];

pub(super) fn charts(subject: &Subject) -> Vec<Chart> {
    let cells: Vec<usize> = drawn_cells(subject);
    let with_latency = subject.cells().filter(|(place, _)| has(subject, *place)).count();
    let mut points = Vec::new();
    for place in &cells {
        let trials: Vec<&Record> = subject.trials_of(*place).collect();
        let all = trials.iter().filter_map(|record| record.latency.as_ref());
        points.extend(cell_points(&subject.grid.labels[*place], all, trials.len()));
    }
    let left_out = with_latency.saturating_sub(cells.len());
    let left_out = match left_out {
        0 => String::new(),
        _ => format!(" {} of {with_latency} cells are drawn: those at the far end of the axis.", cells.len()),
    };
    if points.is_empty() {
        return Vec::new();
    }
    vec![Chart {
        id: "latency-percentiles".to_owned(),
        title: "Delivery latency by percentile".to_owned(),
        caption: format!(
            "From the moment a message was meant to be sent to when the listener had read it; all trials of a cell \
             together. 90, 99 and 99.9 % are equally far apart.{left_out}"
        ),
        kind: ChartKind::Lines,
        x: Axis::linear("percentile", "%").on(Scale::Percentile),
        y: Axis::linear("Latency", "ms").on(Scale::Log),
        points,
        marks: Vec::new(),
    }]
}

fn has(subject: &Subject, place: usize) -> bool {
    subject.trials_of(place).any(|record| record.latency.is_some())
}

/// All cells, if they are few; else, for each series, the cell at the far end of the axis.
fn drawn_cells(subject: &Subject) -> Vec<usize> {
    let all: Vec<usize> =
        subject.cells().map(|(place, _)| place).filter(|place| has(subject, *place)).collect();
    if all.len() <= SERIES_MAX {
        return all;
    }
    let Some(across) = &subject.grid.across else { return all[..SERIES_MAX].to_vec() };
    let far = |series: &&str| {
        let cells = all.iter().copied().filter(|place| subject.grid.series[*place] == *series);
        cells.max_by(|a, b| across.values[*a].unwrap_or(0.0).total_cmp(&across.values[*b].unwrap_or(0.0)))
    };
    subject.grid.all_series().iter().filter_map(far).take(SERIES_MAX).collect()
}

fn cell_points<'a>(label: &str, all: impl Iterator<Item = &'a Latency>, trials: usize) -> Vec<Point> {
    let mut counts: Vec<(u64, u64)> = all.filter_map(|latency| latency.counts_ns().ok()).flatten().collect();
    counts.sort_unstable();
    let total = saturating_sum(counts.iter().map(|(_, count)| *count));
    let mut points = Vec::new();
    let (mut seen, mut at) = (0_u64, 0);
    for percentile in PERCENTILES {
        // The smallest value with enough deliveries at or below it. The count bounds the resolution.
        let wanted = ((percentile / 100.0 * total as f64).ceil() as u64).clamp(1, total.max(1));
        while at < counts.len() && seen.saturating_add(counts[at].1) < wanted {
            seen += counts[at].1;
            at += 1;
        }
        let Some((ns, _)) = counts.get(at) else { break };
        let point = Point::plain(label, Place::At(percentile), *ns as f64 / 1e6);
        points.push(Point { n: Some(trials as u64), ..point });
    }
    points
}
