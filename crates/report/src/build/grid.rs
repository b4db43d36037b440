//! Layout of the cells: series along a numeric axis if the study has one, else bars side by side.

use klatch_record::{CellResult, StudyAxis, StudyResult};

use crate::model::{Axis, Scale};

/// The series, label and x value of every cell of a study.
pub(super) struct Grid {
    /// The numeric axis, if the study has one.
    pub(super) across: Option<Across>,
    /// The series of each cell: its values on the other axes.
    pub(super) series: Vec<String>,
    /// The name of each cell: its values on all axes.
    pub(super) labels: Vec<String>,
}

/// A numeric axis with the value of each cell.
pub(super) struct Across {
    /// Its name in the study.
    pub(super) name: String,
    /// Its label in charts.
    pub(super) axis: Axis,
    /// The value of each cell.
    pub(super) values: Vec<Option<f64>>,
}

/// Numeric axes by preference, as in the figures of earlier papers. On these, two values are enough for a line.
const FIRST: [&str; 5] = ["cpus", "rooms", "users", "rate", "count"];

/// The axis is logarithmic when the largest value is at least this multiple of the smallest.
const LOG_FROM: f64 = 30.0;

impl Grid {
    pub(super) fn new(result: &StudyResult) -> Grid {
        let varied: Vec<&StudyAxis> =
            result.axes.iter().filter(|axis| values(result, axis).len() > 1).collect();
        let across = varied.iter().filter_map(|axis| rank(result, axis)).min_by_key(|(rank, _)| *rank);
        let across = across.map(|(_, axis)| Across::new(result, axis));
        let others =
            varied.iter().filter(|axis| across.as_ref().is_none_or(|across| across.name != axis.name));
        let others: Vec<&StudyAxis> = others.copied().collect();
        let named = |axes: &[&StudyAxis], cell: &CellResult| {
            let parts: Vec<String> = axes.iter().filter_map(|axis| part(axis, cell)).collect();
            match parts.is_empty() {
                true => cell.at.get("platform").unwrap_or(&cell.id).clone(),
                false => parts.join(", "),
            }
        };
        Grid {
            series: result.cells.iter().map(|cell| named(&others, cell)).collect(),
            labels: result.cells.iter().map(|cell| named(&varied, cell)).collect(),
            across,
        }
    }

    /// The series in the order of the study, without duplicates.
    pub(super) fn all_series(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for series in &self.series {
            if !all.contains(&series.as_str()) {
                all.push(series);
            }
        }
        all
    }
}

impl Across {
    fn new(result: &StudyResult, axis: &StudyAxis) -> Across {
        let values: Vec<Option<f64>> =
            result.cells.iter().map(|cell| number(cell.at.get(&axis.name)?)).collect();
        let (least, most) = values
            .iter()
            .flatten()
            .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(*value), most.max(*value)));
        let scale = if least > 0.0 && most / least >= LOG_FROM { Scale::Log } else { Scale::Linear };
        let (label, unit) = match axis.name.as_str() {
            "cpus" => ("CPUs", ""),
            "processes" => ("server processes", ""),
            "rate" => ("rate of each user", "messages/s"),
            "heap" | "stack" => (axis.name.as_str(), if least < 1.0 { "MB" } else { "MiB" }),
            name => (name, ""),
        };
        Across { name: axis.name.clone(), axis: Axis::linear(label, unit).on(scale), values }
    }
}

/// The distinct values of the cells on an axis, sorted.
fn values<'a>(result: &'a StudyResult, axis: &StudyAxis) -> Vec<&'a str> {
    let mut values: Vec<&str> =
        result.cells.iter().filter_map(|cell| cell.at.get(&axis.name).map(String::as_str)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// How well an axis suits as x, lower being better; `None` if it does not.
fn rank<'a>(result: &StudyResult, axis: &'a StudyAxis) -> Option<(usize, &'a StudyAxis)> {
    let values = values(result, axis);
    let numbers = values.iter().all(|value| number(value).is_some());
    let rank = FIRST.iter().position(|name| *name == axis.name);
    let wanted = numbers && (rank.is_some() || values.len() >= 3);
    wanted.then(|| (rank.unwrap_or(FIRST.len()), axis))
}

/// Parses a number, or a size in MiB.
fn number(text: &str) -> Option<f64> {
    let size = |digits: &str, mib: f64| digits.parse::<f64>().ok().map(|value| value * mib);
    match text.to_ascii_lowercase() {
        text if text.ends_with('k') => size(&text[..text.len() - 1], 1.0 / 1024.0),
        text if text.ends_with('m') => size(&text[..text.len() - 1], 1.0),
        text if text.ends_with('g') => size(&text[..text.len() - 1], 1024.0),
        text => text.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}

/// The part of a cell's name that its value on an axis makes.
fn part(axis: &StudyAxis, cell: &CellResult) -> Option<String> {
    let value = cell.at.get(&axis.name).filter(|value| !value.is_empty())?;
    Some(match (axis.name.as_str(), number(value)) {
        ("platform" | "cell" | "side" | "knobs" | "kernel" | "pacing", _) => value.clone(),
        // A label of a study, not the name of a scheduler.
        ("scheduler", _) if value.contains(' ') => value.clone(),
        ("cpus", Some(count)) => counted(count, "CPUs"),
        (name @ ("rooms" | "users"), Some(count)) => counted(count, name),
        (name, _) => format!("{name} {value}"),
    })
}

/// A number of things that `plural` names: `1 CPU`, `8 CPUs`.
pub(super) fn counted(count: f64, plural: &str) -> String {
    let name = if count == 1.0 { plural.strip_suffix('s').unwrap_or(plural) } else { plural };
    format!("{count} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_counts_are_numbers() {
        assert_eq!(["5", "16m", "1g", "256k"].map(number), [Some(5.0), Some(16.0), Some(1024.0), Some(0.25)]);
        assert_eq!(["", "0-1", "m", "inf", "small"].map(number), [None; 5]);
    }
}
