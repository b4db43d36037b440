//! Steps of a search: rate against latency with the knee, or rooms against throughput with the limit.

use klatch_record::{Record, Role, SearchResult, Status};

use super::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Mark, Place, Point, Scale, SectionTable};
use crate::number::{grouped, three_digits};

pub(super) fn charts(subject: &Subject) -> Vec<Chart> {
    let limit = subject.cells().filter_map(|(_, cell)| cell.search.as_ref()).collect::<Vec<_>>();
    let rated = |record: &Record| record.workload.rate_per_s().is_some();
    let any_rate = subject.runs.iter().any(|run| rated(&run.record));
    if limit.is_empty() && !any_rate {
        return Vec::new();
    }
    // One for the cells of a study.
    let mut limits: Vec<f64> = limit.iter().filter_map(|search| search.latency_p99_max_ms).collect();
    limits.dedup();
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
                      meant to be sent. An upright line is the highest rate that held, the level one the limit of the latency."
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
            marks: marks().into_iter().chain(limits.into_iter().map(level)).collect(),
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

/// The limit of a latency, as a level line.
fn level(limit_ms: f64) -> Mark {
    Mark {
        label: format!("limit {} ms", in_axis(limit_ms)),
        line: [(None, Some(limit_ms)), (None, Some(limit_ms))],
    }
}

/// What each cell carried, and what failed above.
pub(super) fn tables(subject: &Subject) -> Vec<SectionTable> {
    let searched = || subject.cells().filter_map(|(place, cell)| Some((place, cell.search.as_ref()?)));
    let Some((_, first)) = searched().next() else { return Vec::new() };
    let row = |(place, search): (usize, &SearchResult)| {
        let value = match search.value {
            Some(value) if search.ended_at_maximum() => format!("at least {}", in_axis(value)),
            Some(value) => in_axis(value),
            None => "–".to_owned(),
        };
        let passes: Vec<_> = search.passes.iter().copied().map(in_axis).collect();
        let cause = search.cause.clone().unwrap_or_else(|| "the search ended here".to_owned());
        vec![subject.grid.labels[place].clone(), value, passes.join(", "), cause]
    };
    let head = ["cell", first.axis.as_str(), "each pass", "what failed above"];
    vec![SectionTable {
        title: "Highest that held".to_owned(),
        head: head.map(str::to_owned).into(),
        rows: searched().map(row).collect(),
        last_is_prose: true,
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
