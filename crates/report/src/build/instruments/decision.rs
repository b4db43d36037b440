//! Cost of a scheduling decision by queue length, with the fitted line (Bryant and Hartner 2000, Figures 6
//! and 7).

use klatch_record::ObservationData;
use klatch_record::observed::Decision;

use super::{data, drawn_cells};
use crate::build::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Mark, Place, Point};
use crate::number::three_digits;

/// Smallest number of decisions for a useful median; the line is fitted through such medians only.
const DECISIONS_MIN: u64 = 30;

fn decision(data: &ObservationData) -> Option<&Decision> {
    match data {
        ObservationData::Decision(decision) => Some(decision),
        _ => None,
    }
}

pub(super) fn cost(subject: &Subject) -> Option<Chart> {
    let (mut points, mut marks) = (Vec::new(), Vec::new());
    for place in drawn_cells(subject, |place| !data(subject, place, decision).is_empty()) {
        // Medians cannot be merged, so the trial with the most decisions represents its cell.
        let all = data(subject, place, decision);
        let most = all.iter().max_by_key(|one| one.decision.all_ns.count)?;
        let label = &subject.grid.labels[place];
        for row in most.decision.by_length.iter().filter(|row| row.decisions >= DECISIONS_MIN) {
            let middle = f64::midpoint(row.length_min as f64, row.length_max as f64);
            let detail = Some(match row.length_min == row.length_max {
                true => format!("{} queued", row.length_min),
                false => format!("{} to {} queued", row.length_min, row.length_max),
            });
            let point = Point::plain(label, Place::At(middle), row.median_ns);
            points.push(Point { n: Some(row.decisions), detail, ..point });
        }
        if let Some(fit) = &most.decision.fit {
            let at = |length: f64| (Some(length), Some(fit.ns_at_zero + fit.ns_per_task * length));
            let longest = most
                .decision
                .by_length
                .iter()
                .filter(|row| row.decisions >= DECISIONS_MIN)
                .map(|row| row.length_max)
                .max()
                .unwrap_or(0);
            let label = format!(
                "{label}: {} ns a queued task ({}–{})",
                three_digits(fit.ns_per_task),
                three_digits(fit.ns_per_task_low),
                three_digits(fit.ns_per_task_high)
            );
            marks.push(Mark { label, line: [at(0.0), at(longest as f64)] });
        }
    }
    (!points.is_empty()).then(|| Chart {
        id: "decision-cost".to_owned(),
        title: "Cost of a scheduling decision by the length of the queue".to_owned(),
        caption: "Median time from the entry of __schedule to the choice of the next task; decisions that led to a switch. \
                  The line is fitted through the medians; its slope has its 95 % interval."
            .to_owned(),
        kind: ChartKind::Dots,
        x: Axis::linear("tasks in the queue", ""),
        y: Axis::linear("Median of a decision", "ns"),
        points,
        marks,
    })
}
