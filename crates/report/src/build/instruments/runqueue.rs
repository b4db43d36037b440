//! Length of the run queue at scheduling decisions (Bryant and Hartner 2000, Figure 5), and over the run.

use std::collections::BTreeMap;

use klatch_record::observed::Runqueue;
use klatch_record::{ObservationData, saturating_sum};

use super::{data, drawn_cells};
use crate::build::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Place, Point};

/// Largest number of columns; longer queues share wider columns.
const COLUMNS_MAX: u64 = 60;

fn runqueue(data: &ObservationData) -> Option<&Runqueue> {
    match data {
        ObservationData::Runqueue(runqueue) => Some(runqueue),
        _ => None,
    }
}

/// The distribution of queue lengths over scheduling decisions.
pub(super) fn lengths(subject: &Subject) -> Option<Chart> {
    let cells = drawn_cells(subject, |place| !data(subject, place, runqueue).is_empty());
    let longest = |place: &usize| data(subject, *place, runqueue).iter().map(|one| one.all.max).max();
    let width = cells.iter().filter_map(longest).max().unwrap_or(0) / COLUMNS_MAX + 1;
    let mut points = Vec::new();
    for place in cells {
        let all = data(subject, place, runqueue);
        let decisions = saturating_sum(all.iter().map(|one| one.all.decisions));
        let mut columns: BTreeMap<u64, u64> = BTreeMap::new();
        for length in all.iter().flat_map(|one| &one.lengths) {
            let column = columns.entry(length.length / width * width).or_default();
            *column = column.saturating_add(length.decisions);
        }
        for (from, count) in columns {
            let share = count as f64 * 100.0 / decisions.max(1) as f64;
            let detail = (width > 1).then(|| format!("{from} to {} tasks", from + width - 1));
            let point = Point::plain(&subject.grid.labels[place], Place::At(from as f64), share);
            points.push(Point { n: Some(count), detail, ..point });
        }
    }
    (!points.is_empty()).then(|| Chart {
        id: "runqueue-lengths".to_owned(),
        title: "Length of the run queue at scheduling decisions".to_owned(),
        caption: "Tasks that can run on that CPU, with the one that runs, of all programs.".to_owned(),
        kind: ChartKind::Columns,
        x: Axis::linear("tasks in the queue", ""),
        y: Axis::linear("of decisions", "%"),
        points,
        marks: Vec::new(),
    })
}

/// The mean length over the time of the run, for the last trial of each cell.
pub(super) fn over_time(subject: &Subject) -> Option<Chart> {
    let mut points = Vec::new();
    for place in drawn_cells(subject, |place| !data(subject, place, runqueue).is_empty()) {
        let all = data(subject, place, runqueue);
        for moment in all.last().iter().flat_map(|one| &one.over_time) {
            let point = Point::plain(&subject.grid.labels[place], Place::At(moment.at_s), moment.mean);
            let detail = Some(format!("longest {}", moment.max));
            points.push(Point { n: Some(moment.decisions), detail, ..point });
        }
    }
    (!points.is_empty()).then(|| Chart {
        id: "runqueue-over-time".to_owned(),
        title: "Mean length of the run queue while the last trial ran".to_owned(),
        caption: "In parts of the run; n is the number of decisions in each.".to_owned(),
        kind: ChartKind::Lines,
        x: Axis::linear("time", "s"),
        y: Axis::linear("Tasks in the queue", ""),
        points,
        marks: Vec::new(),
    })
}
