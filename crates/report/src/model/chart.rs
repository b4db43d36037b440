//! Charts as data. Drawing and table of a chart use the same points.

use serde::{Deserialize, Serialize};

use super::Frequency;

/// A chart. Its table has one row for each point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chart {
    /// Identifier in links and file names, unique in the report.
    pub id: String,
    /// The heading above the chart.
    pub title: String,
    /// What it shows and how to read it.
    pub caption: String,
    /// The form in which the points are drawn.
    pub kind: ChartKind,
    /// The horizontal axis; for bars, the axis of their names.
    pub x: Axis,
    /// The vertical axis; for bars, the axis of their lengths.
    pub y: Axis,
    /// The data, in the order of the table.
    pub points: Vec<Point>,
    /// Reference lines and limits.
    pub marks: Vec<Mark>,
}

/// The form of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// A horizontal bar for each point, with its interval.
    Bars,
    /// A line for each series, with a band for its interval.
    Lines,
    /// Dots without connecting lines.
    Dots,
    /// One bar for each place, stacked from all series.
    Stacked,
    /// Vertical bars of a distribution.
    Columns,
}

/// An axis with its label, unit and scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Axis {
    /// Name of the measured quantity.
    pub label: String,
    /// The unit; empty for a count.
    pub unit: String,
    /// The spacing of the values.
    pub scale: Scale,
}

/// The spacing of values along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart.
    Log,
    /// Percentiles, with 90, 99 and 99.9 equally far apart.
    Percentile,
    /// Names, in the order of the points.
    Words,
}

/// One point of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// The series it belongs to.
    pub series: String,
    /// The position along x.
    pub x: Place,
    /// The value; `null` if there is none, with the reason in `detail`.
    pub y: Option<f64>,
    /// Lower end of the interval of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the interval of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Number of values behind the point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// The cause of a failure, or the composition of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A position along x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Place {
    /// A value on a numeric axis.
    At(f64),
    /// A name on an axis of words.
    Named(String),
}

/// A dashed reference line with its label in the legend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mark {
    /// Meaning of the line, for the legend.
    pub label: String,
    /// Two points (x, y) of the line; a `null` coordinate extends it to the edge of the chart.
    pub line: [(Option<f64>, Option<f64>); 2],
}

/// CPU time by call stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flame {
    /// Identifier in links and file names, unique in the report.
    pub id: String,
    /// The heading above the graph.
    pub title: String,
    /// Source and number of the samples.
    pub caption: String,
    /// What the widths are: `samples`, or `ns` per message of two sides.
    pub unit: String,
    /// All samples; its children are the outermost routines.
    pub root: Frame,
    /// Routines by samples, largest own count first.
    pub routines: Vec<Frequency>,
}

/// A routine with a given chain of callers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frame {
    /// Name of the routine; kernel routines end in `_[k]`.
    pub name: String,
    /// Samples in the routine and its callees; of two sides, their mean.
    pub samples: u64,
    /// B less A; only where two sides are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<i64>,
    /// Callees, most samples first; those too small to be visible are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub calls: Vec<Frame>,
}

impl Point {
    /// A point without an interval.
    pub(crate) fn plain(series: &str, x: Place, y: f64) -> Point {
        Point { series: series.to_owned(), x, y: Some(y), low: None, high: None, n: None, detail: None }
    }
}

impl Axis {
    /// An axis with a linear scale.
    pub(crate) fn linear(label: &str, unit: &str) -> Axis {
        Axis { label: label.to_owned(), unit: unit.to_owned(), scale: Scale::Linear }
    }

    /// An axis of names.
    pub(crate) fn words(label: &str) -> Axis {
        Axis { label: label.to_owned(), unit: String::new(), scale: Scale::Words }
    }

    /// The same axis with another scale.
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
