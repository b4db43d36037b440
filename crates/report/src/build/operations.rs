//! The operations of each kind, such as `buy` of workload `trade`: their latency.

use klatch_record::{Latency, OperationKindScore, Record, saturating_sum};

use super::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Place, Point};

/// Most cells whose operations are drawn; each has a chart.
const CELLS_MAX: usize = 4;

pub(super) fn charts(subject: &Subject) -> Vec<Chart> {
    let chart = |(place, _): (usize, _)| {
        let trials: Vec<&Record> = subject.trials_of(place).collect();
        let label = &subject.grid.labels[place];
        let points = cell_points(label, &trials);
        (!points.is_empty()).then(|| Chart {
            id: format!("operations-{place}"),
            title: format!("99th percentile of latency by operation: {label}"),
            caption:
                "From the moment an operation was meant to begin to its last reply; all trials together."
                    .to_owned(),
            kind: ChartKind::Bars,
            x: Axis::words("operation"),
            y: Axis::linear("99th percentile", "ms"),
            points,
            marks: Vec::new(),
        })
    };
    subject.cells().filter_map(chart).take(CELLS_MAX).collect()
}

/// One point for each kind of operation in these trials.
fn cell_points(label: &str, trials: &[&Record]) -> Vec<Point> {
    let kinds = || trials.iter().flat_map(|record| record.results.kinds());
    let mut names: Vec<&str> = kinds().map(|kind| kind.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let point = |name: &str| {
        let same: Vec<&OperationKindScore> = kinds().filter(|kind| kind.name == name).collect();
        let latency = Latency::merge(same.iter().map(|kind| &kind.latency)).ok()??;
        let place = Place::Named(name.to_owned());
        let n = Some(saturating_sum(same.iter().map(|kind| kind.count)));
        Some(Point { n, ..Point::plain(label, place, latency.p99_us / 1e3) })
    };
    names.into_iter().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use klatch_record::{PartyCounts, Results, samples::record};

    use super::*;

    #[test]
    fn trials_of_a_cell_are_merged_by_kind() {
        let kind = |name: &str, ms: u64| OperationKindScore {
            name: name.into(),
            count: 10,
            share: 0.5,
            latency: Latency::from_counts_ns(&[(ms * 1_000_000, 10)]).unwrap().unwrap(),
        };
        let trial = |ms| {
            let mut record = record(1, 0, 9.0);
            let kinds = vec![kind("buy", ms), kind("home", 1)];
            record.results = Results::Trade { parties: PartyCounts::default(), in_window: 20, kinds };
            record
        };
        let (one, other, chat) = (trial(3), trial(8), record(1, 0, 9.0));
        let points = cell_points("jetty", &[&one, &other, &chat]);
        let shown: Vec<(String, i64, Option<u64>)> = points
            .iter()
            .map(|point| (point.x.to_string(), point.y.unwrap().round() as i64, point.n))
            .collect();
        assert_eq!(shown, [("buy".into(), 8, Some(20)), ("home".into(), 1, Some(20))]);
    }
}
