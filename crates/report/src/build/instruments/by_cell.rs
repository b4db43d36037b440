//! Charts of a few numbers per cell: lines where the study has a numeric axis, else bars.

use crate::build::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Place, Point};

/// Identifier, texts and y axis of a chart.
pub(super) struct About {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) caption: String,
    pub(super) y: Axis,
}

/// The chart; `None` without any number. `numbers_of` returns the named numbers of a cell and the number of its trials.
pub(super) fn chart(
    subject: &Subject,
    about: About,
    numbers_of: impl Fn(usize) -> (Vec<(String, f64)>, u64),
) -> Option<Chart> {
    let series = subject.grid.all_series();
    let mut points = Vec::new();
    for (place, _) in subject.cells() {
        let (numbers, n) = numbers_of(place);
        for (name, value) in numbers {
            let (series, x) = match &subject.grid.across {
                Some(across) => {
                    let Some(at) = across.values[place] else { continue };
                    let series = match series.len() {
                        1 => name,
                        _ => format!("{}: {name}", subject.grid.series[place]),
                    };
                    (series, Place::At(at))
                }
                None if subject.result.cells.len() == 1 => (name.clone(), Place::Named(name)),
                None => (name.clone(), Place::Named(format!("{}: {name}", subject.grid.labels[place]))),
            };
            points.push(Point { n: Some(n), ..Point::plain(&series, x, value) });
        }
    }
    let (kind, x) = match &subject.grid.across {
        Some(across) => {
            // A line needs the points of its series next to each other.
            points.sort_by(|a, b| a.series.cmp(&b.series));
            (ChartKind::Lines, across.axis.clone())
        }
        None => (ChartKind::Bars, Axis::words("")),
    };
    let About { id, title, caption, y } = about;
    (!points.is_empty()).then_some(Chart { id, title, caption, kind, x, y, points, marks: Vec::new() })
}

/// The arithmetic mean; `None` without values.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}
