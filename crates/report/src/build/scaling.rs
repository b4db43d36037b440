//! Scalability: throughput with n CPUs over throughput with one (Bryant and Hartner 2000; application server study of 2005,
//! Table 4), with the line of ideal scaling.

use klatch_record::Estimate;
use klatch_stats::{Design, Sample, ratio_of_geometric_means};

use super::subject::Subject;
use crate::metric::throughput_and_cpu;
use crate::model::{Axis, Chart, ChartKind, Mark, Place, Point};
use crate::study_of_runs::CONFIDENCE;

pub(super) fn charts(subject: &Subject) -> Vec<Chart> {
    chart(subject).into_iter().collect()
}

fn chart(subject: &Subject) -> Option<Chart> {
    let across = subject.grid.across.as_ref().filter(|across| across.name == "cpus")?;
    let [throughput, _] = throughput_and_cpu(&subject.result);
    let mut points = Vec::new();
    for series in subject.grid.all_series() {
        let mut cells: Vec<AtCpus<'_>> = subject
            .cells()
            .filter(|(place, _)| subject.grid.series[*place] == series)
            .filter_map(|(place, cell)| {
                let estimate = cell.estimates.get(throughput.name)?;
                Some((across.values[place]?, estimate, subject.sample(place, estimate)))
            })
            .collect();
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(&one) = cells.first().filter(|(cpus, ..)| *cpus == 1.0) else { continue };
        points.extend(cells.iter().map(|&many| ratio(series, one, many)));
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

/// A number of CPUs with the estimate and the sample of its trials.
type AtCpus<'a> = (f64, &'a Estimate, Sample<'a>);

/// The ratio of geometric means; without an interval if the trials are too few or all equal.
fn ratio(series: &str, (one_at, one, one_sample): AtCpus<'_>, (cpus, many, sample): AtCpus<'_>) -> Point {
    let interval = (cpus > one_at)
        .then(|| ratio_of_geometric_means(one_sample, sample, Design::Unpaired, CONFIDENCE).ok())
        .flatten()
        .map(|ratio| ratio.interval);
    let estimate = interval.map_or_else(|| many.mean / one.mean, |interval| interval.estimate);
    Point {
        n: Some(many.values.len() as u64),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        ..Point::plain(series, Place::At(cpus), estimate)
    }
}
