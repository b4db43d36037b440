//! Scores: bars of platforms side by side (Volano Report of 1999, Figure 1), or lines over rooms, users, CPUs (its Figure 2;
//! Bryant and Hartner 2000, Figures 1 and 8).

use klatch_record::{CellResult, CellStatus, Class, LATENCY_P99, METRICS, Metric, MetricCharts};

use super::subject::{Subject, class_name};
use crate::metric::{ShownMetric, throughput_and_cpu};
use crate::model::{Axis, Chart, ChartKind, Mark, Place, Point};

/// Charts of throughput, CPU time and latency of all cells.
pub(super) fn charts(subject: &Subject) -> Vec<Chart> {
    let score = throughput_and_cpu(&subject.result).into_iter().chain(Metric::named(LATENCY_P99));
    score.flat_map(|metric| metric_charts(subject, metric)).collect()
}

/// Charts of the metrics of a section, of all cells.
pub(super) fn charts_of(subject: &Subject, section: MetricCharts) -> Vec<Chart> {
    let of_section = METRICS.iter().filter(|metric| metric.charts == Some(section));
    of_section.flat_map(|metric| metric_charts(subject, metric)).collect()
}

fn metric_charts(subject: &Subject, metric: &Metric) -> Vec<Chart> {
    let any = subject.cells().any(|(_, cell)| cell.estimates.contains_key(metric.name));
    match (&subject.grid.across, any) {
        (_, false) => Vec::new(),
        (Some(_), true) => lines(subject, metric).into_iter().collect(),
        (None, true) => bars(subject, metric),
    }
}

/// One chart of bars for each class, as servers of class open batch deliveries and are not comparable with those of class classic.
fn bars(subject: &Subject, metric: &Metric) -> Vec<Chart> {
    let classes = match subject.is_mixed() {
        true => vec![Some(Class::Classic), Some(Class::Open), None],
        false => vec![None],
    };
    let chart = |class: &Option<Class>| {
        let mixed = classes.len() > 1;
        let cells = subject.cells().filter(|(place, _)| !mixed || subject.class_of(*place) == *class);
        let mut points: Vec<Point> = cells
            .filter(|(_, cell)| cell.status != CellStatus::Absent)
            .map(|(place, cell)| {
                let name = Place::Named(subject.grid.labels[place].clone());
                point(cell, metric, class_name(subject.class_of(place)), name)
            })
            .collect();
        // The best first; cells without a value last.
        points.sort_by(|a, b| {
            let of =
                |point: &Point| point.y.unwrap_or(if metric.more_is_better() { -1.0 } else { f64::INFINITY });
            if metric.more_is_better() { of(b).total_cmp(&of(a)) } else { of(a).total_cmp(&of(b)) }
        });
        points.iter().any(|point| point.y.is_some()).then(|| {
            let (suffix, suffix_text) = match (mixed, class) {
                (false, _) => ("", ""),
                (true, Some(Class::Classic)) => (", class classic", " One write for each delivery."),
                (true, Some(Class::Open)) => (", class open", " Deliveries may be combined in one write."),
                (true, None) => (", class unknown", ""),
            };
            let id = format!(
                "{}{}",
                metric.name,
                if mixed { format!("-{}", class_name(*class)) } else { String::new() }
            );
            Chart {
                id: id.trim_end_matches('-').to_owned(),
                title: format!("{}{suffix}", metric.heading()),
                caption: format!("{}, with the interval of the mean.{suffix_text}", direction(metric)),
                kind: ChartKind::Bars,
                x: Axis::words(""),
                y: Axis::linear(&metric.heading(), metric.display().0),
                points,
                marks: Vec::new(),
            }
        })
    };
    classes.iter().filter_map(chart).collect()
}

fn direction(metric: &Metric) -> &'static str {
    if metric.more_is_better() {
        "Mean of the trials; more is better"
    } else {
        "Mean of the trials; less is better"
    }
}

fn lines(subject: &Subject, metric: &Metric) -> Option<Chart> {
    let across = subject.grid.across.as_ref()?;
    let mut points = Vec::new();
    for series in subject.grid.all_series() {
        let mut line: Vec<Point> = subject
            .cells()
            .filter(|(place, cell)| {
                subject.grid.series[*place] == series && cell.status != CellStatus::Absent
            })
            .filter_map(|(place, cell)| Some(point(cell, metric, series, Place::At(across.values[place]?))))
            .collect();
        line.sort_by(|a, b| at(a).total_cmp(&at(b)));
        points.extend(line);
    }
    Some(Chart {
        id: metric.name.to_owned(),
        title: metric.heading(),
        caption: format!("{}; the band is the interval of the mean.", direction(metric)),
        kind: ChartKind::Lines,
        x: across.axis.clone(),
        y: Axis::linear(&metric.heading(), metric.display().0),
        points,
        marks: Vec::<Mark>::new(),
    })
}

fn at(point: &Point) -> f64 {
    match point.x {
        Place::At(value) => value,
        Place::Named(_) => 0.0,
    }
}

/// A cell as a point; for a failed cell, without a value and with the reason.
fn point(cell: &CellResult, metric: &Metric, series: &str, x: Place) -> Point {
    let estimate = cell.estimates.get(metric.name);
    let of = |value: Option<f64>| value.map(|value| value * metric.display().1);
    let detail = match (cell.status, estimate) {
        (CellStatus::Failed, _) | (_, None) => Some(cell.verdict.clone()),
        (CellStatus::NotConverged | CellStatus::Open, _) => Some(cell.verdict.clone()),
        _ => None,
    };
    Point {
        series: series.to_owned(),
        x,
        y: of(estimate.map(|estimate| estimate.mean)),
        low: of(estimate.and_then(|estimate| estimate.low)),
        high: of(estimate.and_then(|estimate| estimate.high)),
        n: estimate.map(|estimate| estimate.values.len() as u64),
        detail,
    }
}
