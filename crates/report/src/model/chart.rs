//! Charts as data: what is drawn, and what stands in the table below it, are the same points.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Frequency;

/// A chart. Its table has a row for each point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chart {
    /// Its name in links and files, unique in the report.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What it shows and how to read it.
    pub caption: String,
    /// How it is drawn.
    pub kind: ChartKind,
    /// Across; of bars, along them.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// What is drawn, in the order of the table.
    pub points: Vec<Point>,
    /// Lines and limits to hold the points against.
    pub marks: Vec<Mark>,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// A horizontal bar for each point, with its interval.
    Bars,
    /// A line for each series, with a band for its interval.
    Lines,
    /// Points without lines.
    Dots,
    /// A bar for each place, made of the series.
    Stacked,
    /// Upright bars side by side, as of a distribution.
    Columns,
}

/// What is measured along a side of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// What it is.
    pub label: String,
    /// Its unit; empty for a count.
    pub unit: String,
    /// How values are spread.
    pub scale: Scale,
}

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm.
    Log,
    /// Percentiles, so that 90, 99 and 99.9 are equally far apart.
    Percentile,
    /// Words, in the order of the points.
    Words,
}

/// A point of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// The series it belongs to.
    pub series: String,
    /// Where it is along x.
    pub x: Place,
    /// Its value; `null` where there is none, and `note` says why.
    pub y: Option<f64>,
    /// Lower end of the interval of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// How many values it is made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// What to know of it: why it failed, what it is made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A place along x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Place {
    /// On a scale.
    At(f64),
    /// By name.
    Named(String),
}

/// Something to hold the points against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// What it is.
    pub label: String,
    /// A line through these points (x, y); an end that is `null` is that of the chart.
    pub line: [(Option<f64>, Option<f64>); 2],
}

/// Where CPU time went, by stacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flame {
    /// Its name in links and files, unique in the report.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What it shows.
    pub caption: String,
    /// All samples, with the outermost routines as its children.
    pub root: Frame,
    /// Routines by samples, those with the most by themselves first.
    pub routines: Vec<Frequency>,
}

/// A routine within its callers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// Its name; `_[k]` at its end is the kernel's.
    pub name: String,
    /// Samples in it and in what it called.
    pub samples: u64,
    /// What it called, those with the most samples first; what is too small to be seen is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub calls: Vec<Frame>,
}

impl Point {
    /// A value without an interval.
    pub(crate) fn plain(series: &str, x: Place, y: f64) -> Point {
        Point { series: series.to_owned(), x, y: Some(y), low: None, high: None, n: None, note: None }
    }
}

impl Axis {
    /// An evenly spread axis.
    pub(crate) fn linear(label: &str, unit: &str) -> Axis {
        Axis { label: label.to_owned(), unit: unit.to_owned(), scale: Scale::Linear }
    }

    /// One of words.
    pub(crate) fn words(label: &str) -> Axis {
        Axis { label: label.to_owned(), unit: String::new(), scale: Scale::Words }
    }

    /// The same on another scale.
    pub(crate) fn on(self, scale: Scale) -> Axis {
        Axis { scale, ..self }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::At(value) => write!(f, "{value}"),
            Place::Named(name) => f.write_str(name),
        }
    }
}

impl std::fmt::Display for Axis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.unit.as_str() {
            "" => f.write_str(&self.label),
            unit => write!(f, "{} ({unit})", self.label),
        }
    }
}
