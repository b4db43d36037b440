//! Scalability: throughput with n CPUs over throughput with one (Bryant and Hartner 2000; application server study of 2005,
//! Table 4), against the line of those who lose nothing.

use klatch_stats::{Design, ratio_of_geometric_means};

use super::metrics::THROUGHPUT;
use super::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Mark, Place, Point};
use crate::study_of_runs::CONFIDENCE;

pub(super) fn charts(subject: &Subject) -> Vec<Chart> {
    chart(subject).into_iter().collect()
}

fn chart(subject: &Subject) -> Option<Chart> {
    let across = subject.grid.across.as_ref().filter(|across| across.name == "cpus")?;
    let mut points = Vec::new();
    for series in subject.grid.all_series() {
        let mut cells: Vec<(f64, &[f64])> = subject
            .cells()
            .filter(|(place, _)| subject.grid.series[*place] == series)
            .filter_map(|(place, cell)| {
                Some((across.values[place]?, cell.estimates.get(THROUGHPUT.name)?.values.as_slice()))
            })
            .collect();
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(&(first, one)) = cells.first().filter(|(cpus, _)| *cpus == 1.0) else { continue };
        points.extend(cells.iter().map(|&(cpus, many)| ratio(series, (first, one), (cpus, many))));
    }
    let most = across.values.iter().flatten().copied().fold(1.0, f64::max);
    (!points.is_empty()).then(|| Chart {
        id: "scalability".to_owned(),
        title: "Throughput with n CPUs over throughput with one".to_owned(),
        caption: "Ratio of the means with its 95 % interval. On the ideal line nothing is lost to sharing."
            .to_owned(),
        kind: ChartKind::Lines,
        x: across.axis.clone(),
        y: Axis::linear("Throughput, to that with one CPU", "×"),
        points,
        marks: vec![Mark {
            label: "ideal".to_owned(),
            line: [(Some(1.0), Some(1.0)), (Some(most), Some(most))],
        }],
    })
}

/// The ratio of geometric means; without an interval where trials are too few, or are the same.
fn ratio(series: &str, (one_at, one): (f64, &[f64]), (cpus, many): (f64, &[f64])) -> Point {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let interval = (cpus > one_at)
        .then(|| ratio_of_geometric_means(one, many, Design::Unpaired, CONFIDENCE).ok())
        .flatten()
        .map(|ratio| ratio.interval);
    Point {
        n: Some(many.len() as u64),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        ..Point::plain(
            series,
            Place::At(cpus),
            interval.map_or_else(|| mean(many) / mean(one), |interval| interval.estimate),
        )
    }
}
