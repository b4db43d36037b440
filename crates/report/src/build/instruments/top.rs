//! Stacked bars of amounts by name. The names with the largest sums over all bars are the series.

use std::collections::BTreeMap;

use super::by_cell::About;
use crate::model::{Axis, Chart, ChartKind, Place, Point};

/// One stacked bar, of one cell.
pub(super) struct Bar {
    /// The label beside the bar.
    pub(super) label: String,
    /// The parts of the bar by name.
    pub(super) amounts: BTreeMap<String, f64>,
    /// Number of trials that the amounts are means of.
    pub(super) n: u64,
}

/// The chart, with at most `most` names; `None` without any amount.
pub(super) fn chart(about: About, most: usize, bars: &[Bar]) -> Option<Chart> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, amount) in bars.iter().flat_map(|bar| &bar.amounts) {
        *sums.entry(name).or_default() += amount;
    }
    let mut top: Vec<(&str, f64)> = sums.into_iter().collect();
    top.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut points = Vec::new();
    for bar in bars.iter().filter(|bar| !bar.amounts.is_empty()) {
        for (name, _) in top.iter().take(most) {
            let amount = bar.amounts.get(*name).copied().unwrap_or(0.0);
            let place = Place::Named(bar.label.clone());
            points.push(Point { n: Some(bar.n), ..Point::plain(name, place, amount) });
        }
    }
    let About { id, title, caption, y } = about;
    let (kind, x) = (ChartKind::Stacked, Axis::words(""));
    (!points.is_empty()).then_some(Chart { id, title, caption, kind, x, y, points, marks: Vec::new() })
}
