//! Steps of a search: rate against latency with the knee, or rooms against throughput with the limit.

use klatch_record::{Record, Role, Status};

use super::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Mark, Place, Point, Scale};
use crate::number::{grouped, three_digits};

pub(super) fn charts(subject: &Subject) -> Vec<Chart> {
    let limit = subject.cells().filter_map(|(_, cell)| cell.search.as_ref()).collect::<Vec<_>>();
    let rated = |record: &Record| record.workload.rate_per_s().is_some();
    let any_rate = subject.runs.iter().any(|run| rated(&run.record));
    if limit.is_empty() && !any_rate {
        return Vec::new();
    }
    let marks = || {
        let mark = |(place, limit): (usize, Option<f64>)| {
            let at = limit?;
            let label = format!("{} {}", subject.grid.labels[place], in_axis(at));
            Some(Mark { label, line: [(Some(at), None), (Some(at), None)] })
        };
        let searches = subject.cells().filter_map(|(place, cell)| Some((place, cell.search.as_ref()?.value)));
        searches.filter_map(mark).collect::<Vec<_>>()
    };
    if any_rate {
        let rate = |record: &Record| record.workload.rate_per_s();
        let p99 = |record: &Record| record.latency.as_ref().map(|latency| latency.p99_us / 1e3);
        let chart = Chart {
            id: "rate-latency".to_owned(),
            title: "Rate against latency".to_owned(),
            caption:
                "Each point is a run on a schedule fixed in advance; latency counts from when a message was \
                      meant to be sent. The upright line is the highest rate that held."
                    .to_owned(),
            // The rates of several passes lie close together, and a line through all of them would be noise.
            kind: if limit.iter().any(|search| search.passes.len() > 1) {
                ChartKind::Dots
            } else {
                ChartKind::Lines
            },
            x: Axis::linear("rate of each user", "messages/s").on(Scale::Log),
            y: Axis::linear("p99 latency", "ms").on(Scale::Log),
            points: points(subject, rate, p99),
            marks: marks(),
        };
        return vec![chart];
    }
    let rooms = |record: &Record| Some(f64::from(record.workload.parties()));
    let score = |record: &Record| Some(record.score.messages_per_s);
    vec![Chart {
        id: "rooms-throughput".to_owned(),
        title: "Throughput on the way to the limit".to_owned(),
        caption: "Each point is a run. The upright line is the largest number of rooms that held.".to_owned(),
        kind: ChartKind::Lines,
        x: Axis::linear("rooms", ""),
        y: Axis::linear("Throughput", "messages/s"),
        points: points(subject, rooms, score),
        marks: marks(),
    }]
}

fn points(
    subject: &Subject,
    x: impl Fn(&Record) -> Option<f64>,
    y: impl Fn(&Record) -> Option<f64>,
) -> Vec<Point> {
    let mut points = Vec::new();
    for (place, _) in subject.cells() {
        let trials =
            subject.runs_of(place).map(|run| &run.record).filter(|record| record.role == Role::Trial);
        let mut of_cell: Vec<Point> = trials
            .filter_map(|record| {
                let good = record.verdict.status == Status::Valid;
                let detail = (!good).then(|| record.verdict.messages());
                let series = subject.grid.labels[place].clone();
                Some(Point {
                    y: y(record).filter(|_| good),
                    detail,
                    n: Some(1),
                    ..Point::plain(&series, Place::At(x(record)?), 0.0)
                })
            })
            .collect();
        of_cell.sort_by(|a, b| match (&a.x, &b.x) {
            (Place::At(a), Place::At(b)) => a.total_cmp(b),
            _ => std::cmp::Ordering::Equal,
        });
        points.extend(of_cell);
    }
    points
}

/// A value of the axis of a search: whole, or with three digits.
pub(super) fn in_axis(value: f64) -> String {
    if value.fract() == 0.0 { grouped(value as u64) } else { three_digits(value) }
}
