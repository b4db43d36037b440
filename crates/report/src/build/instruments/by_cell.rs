//! A few numbers of each cell: lines where the study has an axis of numbers, bars where it has none.

use crate::build::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Place, Point};

/// What a chart of numbers by cell is called.
pub(super) struct About {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) caption: &'static str,
    pub(super) y: Axis,
}

/// The chart; `None` without any number. `of` gives names and numbers of a cell, and how many trials they are made of.
pub(super) fn chart(
    subject: &Subject,
    about: About,
    of: impl Fn(usize) -> (Vec<(String, f64)>, u64),
) -> Option<Chart> {
    let series = subject.grid.all_series();
    let mut points = Vec::new();
    for (place, _) in subject.cells() {
        let (numbers, n) = of(place);
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
            // The points of a line one after the other.
            points.sort_by(|a, b| a.series.cmp(&b.series));
            (ChartKind::Lines, across.axis.clone())
        }
        None => (ChartKind::Bars, Axis::words("")),
    };
    let About { id, title, caption, y } = about;
    let (id, title, caption) = (id.to_owned(), title.to_owned(), caption.to_owned());
    (!points.is_empty()).then_some(Chart { id, title, caption, kind, x, y, points, marks: Vec::new() })
}

/// The mean of some numbers.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}
