//! The parts of the report of a simulated study that no measured study has. Each says that nothing was measured.

use klatch_record::{CellStatus, MetricCharts, Sensitivity};
use klatch_simulator::{Account, Distance};

use super::grid::counted;
use super::scores::charts_of;
use super::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Mark, Place, Point, Standing, Verdict};

/// What the section of claims shows.
pub(super) const SENSITIVITY: &str = "Simulated, not measured. Each claim is the ratio of two cells. Its range is over all costs, \
    each at both ends of the range that its source allows. A claim whose range includes 1 is not shown.";

/// The verdict of a simulated study; `None` for any other.
pub(super) fn verdict(subject: &Subject) -> Option<Verdict> {
    let open = subject.cells().filter(|(_, cell)| cell.status == CellStatus::Open).count();
    let text = match open {
        0 => "not measured; klatch help simulator says how far it can be believed".to_owned(),
        open => format!("not measured, and {open} cells are not finished"),
    };
    subject.is_simulated().then_some(Verdict { standing: Standing::Simulated, text })
}

/// Charts of the time from a wake-up until a CPU has chosen the task.
pub(super) fn latency(subject: &Subject) -> Vec<Chart> {
    charts_of(subject, MetricCharts::RunQueueLatency)
}

/// Charts of queues, locks and migrations; those without any are left out.
pub(super) fn run_queue(subject: &Subject) -> Vec<Chart> {
    let mut charts = charts_of(subject, MetricCharts::RunQueue);
    charts.retain(|chart| chart.points.iter().any(|point| point.y.is_some_and(|y| y > 0.0)));
    charts
}

/// CPU time per message by account: a stack for each cell, a chart for each series.
pub(super) fn cpu_time(subject: &Subject) -> Vec<Chart> {
    let series = subject.grid.all_series();
    let accounts = Account::ALL.map(|account| (account.name(), account.to_string()));
    let stack = Stack {
        id: "cpu-time",
        metric: "time_us_per_message",
        caption: "Simulated CPU time of all CPUs per message, idle time included.",
        y: Axis::linear("CPU per message", "µs"),
        parts: &accounts,
    };
    series.iter().enumerate().map(|(number, series)| stack.chart(subject, number, series)).collect()
}

/// Migrations per message by distance, where CPUs differ in their distance.
pub(super) fn migrations(subject: &Subject) -> Vec<Chart> {
    let distances = [
        (Distance::SameCore, "to a thread of the same core"),
        (Distance::SameLlc, "to a CPU with the same last-level cache"),
        (Distance::SameNode, "to another cache of the node"),
        (Distance::Far, "to another node"),
    ];
    let parts = distances.map(|(distance, text)| (distance.name(), text.to_owned()));
    let stack = Stack {
        id: "migrations",
        metric: "migrations_per_message",
        caption: "Simulated migrations per message, by distance.",
        y: Axis::linear("migrations per message", ""),
        parts: &parts,
    };
    let series = subject.grid.all_series();
    let charts = series.iter().enumerate().map(|(number, series)| stack.chart(subject, number, series));
    let kinds = |chart: &Chart| {
        let mut kinds: Vec<&str> = chart
            .points
            .iter()
            .filter(|point| point.y > Some(0.0))
            .map(|point| point.series.as_str())
            .collect();
        kinds.dedup();
        kinds.len()
    };
    charts.filter(|chart| kinds(chart) > 1).collect()
}

/// A metric in parts: `METRIC.PART`.
struct Stack<'a> {
    id: &'static str,
    metric: &'static str,
    caption: &'static str,
    y: Axis,
    /// Names of the parts, and their names in the legend.
    parts: &'a [(&'static str, String)],
}

impl Stack<'_> {
    fn chart(&self, subject: &Subject, number: usize, series: &str) -> Chart {
        let cells = || subject.cells().filter(|(place, _)| subject.grid.series[*place] == series);
        let mut points = Vec::new();
        for (part, name) in self.parts {
            for (place, cell) in cells() {
                let Some(estimate) = cell.estimates.get(&format!("{}.{part}", self.metric)) else { continue };
                let label = match &subject.grid.across {
                    Some(across) => {
                        across.values[place].map_or(String::new(), |value| counted(value, &across.axis.label))
                    }
                    None => subject.grid.labels[place].clone(),
                };
                points.push(Point::plain(name, Place::Named(label), estimate.mean));
            }
        }
        Chart {
            id: format!("{}-{number}", self.id),
            title: if series.is_empty() { self.y.label.clone() } else { series.to_owned() },
            caption: self.caption.to_owned(),
            kind: ChartKind::Stacked,
            x: Axis::words(""),
            y: self.y.clone(),
            points,
            marks: Vec::new(),
        }
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
