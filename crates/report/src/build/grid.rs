//! How cells are spread: along an axis of numbers, if there is one, in series; else one beside the other.

use klatch_record::{CellResult, StudyAxis, StudyResult};

use crate::model::{Axis, Scale};

/// Where every cell of a study is.
pub(super) struct Grid {
    /// The axis of numbers, if the study has one.
    pub(super) across: Option<Across>,
    /// The series of each cell: its values on the other axes.
    pub(super) series: Vec<String>,
    /// The name of each cell: its values on all axes.
    pub(super) labels: Vec<String>,
}

/// An axis of numbers.
pub(super) struct Across {
    /// Its name in the study.
    pub(super) name: String,
    /// What stands below it.
    pub(super) axis: Axis,
    /// The value of each cell.
    pub(super) values: Vec<Option<f64>>,
}

/// Axes of numbers, those first that papers drew their figures over. With these, two values make a line already.
const FIRST: [&str; 5] = ["cpus", "rooms", "users", "rate", "count"];

/// From this ratio of the largest to the smallest on, values are spread by their logarithm.
const LOG_FROM: f64 = 30.0;

impl Grid {
    pub(super) fn of(result: &StudyResult) -> Grid {
        let varied: Vec<&StudyAxis> =
            result.axes.iter().filter(|axis| values(result, axis).len() > 1).collect();
        let across = varied.iter().filter_map(|axis| rank(result, axis)).min_by_key(|(rank, _)| *rank);
        let across = across.map(|(_, axis)| Across::of(result, axis));
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

    /// The series in the order of the study, each once.
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
    fn of(result: &StudyResult, axis: &StudyAxis) -> Across {
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

/// The values on an axis that cells have.
fn values<'a>(result: &'a StudyResult, axis: &StudyAxis) -> Vec<&'a str> {
    let mut values: Vec<&str> =
        result.cells.iter().filter_map(|cell| cell.at.get(&axis.name).map(String::as_str)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// How well an axis does across a chart; `None` if not at all.
fn rank<'a>(result: &StudyResult, axis: &'a StudyAxis) -> Option<(usize, &'a StudyAxis)> {
    let values = values(result, axis);
    let numbers = values.iter().all(|value| number(value).is_some());
    let rank = FIRST.iter().position(|name| *name == axis.name);
    let wanted = numbers && (rank.is_some() || values.len() >= 3);
    wanted.then(|| (rank.unwrap_or(FIRST.len()), axis))
}

/// A number, or a size in MiB.
fn number(text: &str) -> Option<f64> {
    let size = |digits: &str, mib: f64| digits.parse::<f64>().ok().map(|value| value * mib);
    match text.to_ascii_lowercase() {
        text if text.ends_with('k') => size(&text[..text.len() - 1], 1.0 / 1024.0),
        text if text.ends_with('m') => size(&text[..text.len() - 1], 1.0),
        text if text.ends_with('g') => size(&text[..text.len() - 1], 1024.0),
        text => text.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}

/// What a cell's value on an axis adds to its name.
fn part(axis: &StudyAxis, cell: &CellResult) -> Option<String> {
    let value = cell.at.get(&axis.name).filter(|value| !value.is_empty())?;
    Some(match axis.name.as_str() {
        "platform" | "cell" | "side" | "knobs" | "kernel" | "pacing" => value.clone(),
        "cpus" if number(value) == Some(1.0) => "1 CPU".to_owned(),
        "cpus" if number(value).is_some() => format!("{value} CPUs"),
        "rooms" | "users" => format!("{value} {}", axis.name),
        name => format!("{name} {value}"),
    })
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
