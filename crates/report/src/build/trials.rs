//! All trials as dots in the order of their start, which makes drift and outliers visible.

use klatch_record::{Role, Status};

use super::subject::Subject;
use crate::metric::{ShownMetric, study_metric};
use crate::model::{Axis, Chart, ChartKind, Mark, Place, Point};

/// Up to this number of cells each cell is a series; with more, cells share the series of the grid.
const CELLS_MAX: usize = 8;

pub(super) fn charts(subject: &Subject) -> Vec<Chart> {
    // The runs of a search differ by design, and a single value per cell has no scatter.
    let searched = subject.cells().any(|(_, cell)| cell.search.is_some());
    let metric = study_metric(&subject.result.metric);
    let few = subject.result.cells.len() <= CELLS_MAX;
    let mut points = Vec::new();
    for (order, (run, cell)) in subject.runs.iter().zip(&subject.cell_of).enumerate() {
        let Some(cell) = *cell else { continue };
        let record = &run.record;
        let estimate = subject.result.cells[cell].estimates.get(metric.name);
        let value = metric.of_record(record);
        if record.role != Role::Trial {
            continue;
        }
        let valid = record.verdict.status == Status::Valid;
        let share = estimate.zip(value).map(|(estimate, value)| value / estimate.mean * 100.0);
        let detail = match (valid, value) {
            (true, Some(value)) => format!("{}: {}", subject.grid.labels[cell], metric.show(value)),
            _ => format!("{}: {}", subject.grid.labels[cell], record.verdict.messages()),
        };
        let series = if few { &subject.grid.labels[cell] } else { &subject.grid.series[cell] };
        let place = Place::At((order + 1) as f64);
        let point = Point::plain(series, place, 0.0);
        points.push(Point { y: share.filter(|_| valid), detail: Some(detail), n: Some(1), ..point });
    }
    if searched || points.iter().filter(|point| point.y.is_some()).count() < 2 {
        return Vec::new();
    }
    // Series in the order of all other charts, so that a series has the same colour everywhere.
    let order = |point: &Point| {
        subject.grid.labels.iter().chain(&subject.grid.series).position(|name| *name == point.series)
    };
    points.sort_by_key(order);
    vec![Chart {
        id: "trials".to_owned(),
        title: format!("{} of each trial, to the mean of its cell", metric.heading()),
        caption: "In the order in which all runs ran, warm-ups counted but not shown. Dots that wander together are the \
                  machine; a lone one is an outlier."
            .to_owned(),
        kind: ChartKind::Dots,
        x: Axis::linear("run", ""),
        y: Axis::linear("of the cell's mean", "%"),
        points,
        marks: vec![Mark { label: "mean".to_owned(), line: [(None, Some(100.0)), (None, Some(100.0))] }],
    }]
}
