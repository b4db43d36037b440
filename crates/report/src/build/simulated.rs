//! The parts of the report of a simulated study that no measured study has. Each says that nothing was measured.

use klatch_record::{CellStatus, Sensitivity};
use klatch_simulator::Account;

use super::metrics::{Metric, metric};
use super::scores::metric_charts;
use super::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Mark, Place, Point, Standing, Verdict};

/// What the section of claims shows.
pub(super) const SENSITIVITY: &str = "Simulated, not measured. Each claim is the ratio of two cells. Its range is over all costs, \
    each at both ends of the range that its source allows. A claim whose range includes 1 is not shown.";

const LATENCY: [Metric; 3] = [
    metric("run_queue_latency_p50_us", "Simulated run-queue latency, median", "µs", 1.0),
    metric("run_queue_latency_p99_us", "Simulated run-queue latency, 99th percentile", "µs", 1.0),
    metric("run_queue_latency_p999_us", "Simulated run-queue latency, 99.9th percentile", "µs", 1.0),
];

const RUN_QUEUE: [Metric; 5] = [
    metric("run_queue_length", "Simulated length of the run queue at a decision", "tasks", 1.0),
    metric("elements_per_decision", "Simulated elements of a queue read by a decision", "", 1.0),
    metric("lock_contended_share", "Simulated share of lock acquisitions that waited", "%", 100.0),
    metric("migrations_per_message", "Simulated migrations per message", "", 1.0),
    metric("far_migrations_per_message", "Simulated migrations to another node per message", "", 1.0),
];

/// The verdict of a simulated study; `None` for any other.
pub(super) fn verdict(subject: &Subject) -> Option<Verdict> {
    let open = subject.cells().filter(|(_, cell)| cell.status == CellStatus::Open).count();
    let text = match open {
        0 => "not measured; docs/reference/simulator.md says how far it can be believed".to_owned(),
        open => format!("not measured, and {open} cells are not finished"),
    };
    subject.is_simulated().then_some(Verdict { standing: Standing::Simulated, text })
}

/// Charts of the time from a wake-up until a CPU has chosen the task.
pub(super) fn latency(subject: &Subject) -> Vec<Chart> {
    LATENCY.iter().flat_map(|metric| metric_charts(subject, metric)).collect()
}

/// Charts of queues, locks and migrations; those without any are left out.
pub(super) fn run_queue(subject: &Subject) -> Vec<Chart> {
    let charts = RUN_QUEUE.iter().flat_map(|metric| metric_charts(subject, metric));
    charts.filter(|chart| chart.points.iter().any(|point| point.y.is_some_and(|y| y > 0.0))).collect()
}

/// CPU time per message by account: a stack for each cell, a chart for each series.
pub(super) fn cpu_time(subject: &Subject) -> Vec<Chart> {
    let series = subject.grid.all_series();
    series.iter().enumerate().map(|(number, series)| stacks(subject, number, series)).collect()
}

fn stacks(subject: &Subject, number: usize, series: &str) -> Chart {
    let cells = || subject.cells().filter(|(place, _)| subject.grid.series[*place] == series);
    let mut points = Vec::new();
    for account in Account::ALL {
        for (place, cell) in cells() {
            let name = format!("time_us_per_message.{}", account.name());
            let Some(estimate) = cell.estimates.get(&name) else { continue };
            let label = match &subject.grid.across {
                Some(across) => across.values[place]
                    .map_or(String::new(), |value| format!("{value} {}", across.axis.label)),
                None => subject.grid.labels[place].clone(),
            };
            points.push(Point::plain(&account.to_string(), Place::Named(label), estimate.mean));
        }
    }
    Chart {
        id: format!("cpu-time-{number}"),
        title: if series.is_empty() { "CPU time".to_owned() } else { series.to_owned() },
        caption: "Simulated CPU time of all CPUs per message, idle time included.".to_owned(),
        kind: ChartKind::Stacked,
        x: Axis::words(""),
        y: Axis::linear("CPU time per message", "µs"),
        points,
        marks: Vec::new(),
    }
}

/// The ratio of each claim with its range over all costs.
pub(super) fn claims(found: &Sensitivity) -> Chart {
    let point = |claim: &klatch_record::Claim| Point {
        low: Some(claim.low),
        high: Some(claim.high),
        detail: Some(format!("lowest with {}, highest with {}", claim.low_with, claim.high_with)),
        ..Point::plain(
            if claim.is_shown() { "shown" } else { "not shown" },
            Place::Named(claim.name()),
            claim.ratio,
        )
    };
    Chart {
        id: "claims".to_owned(),
        title: "Ratio of two cells, with its range over all costs".to_owned(),
        caption: format!("{}, each of {} costs at both ends of its range.", found.metric, found.costs),
        kind: ChartKind::Bars,
        x: Axis::words(""),
        y: Axis::linear("ratio", "×"),
        points: found.claims.iter().map(point).collect(),
        marks: Vec::<Mark>::new(),
    }
}
