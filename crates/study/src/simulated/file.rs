//! Simulated study files, as data.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

#[cfg(feature = "schema")]
use crate::file::{AnyScalar, OneOrMany};
use crate::file::{Axis, Scalar};

/// Values of an axis, with their position in the file.
pub(crate) type Values = Spanned<Axis<Scalar>>;

/// A simulated study: every list is an axis, and every combination of the axes is a cell.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "SimulatedStudy"))]
pub(crate) struct SimulatedFile {
    /// The question that the study answers, in words.
    pub(super) question: String,
    /// Machines: `8 cpus`, `2 nodes x 8 llcs x 16 cores x 2 threads`, a file with the output of `lscpu -e -J`, or `host`.
    #[cfg_attr(feature = "schema", schemars(with = "OneOrMany<String>"))]
    pub(super) machine: Values,
    /// Schedulers with their knobs, such as `goodness` or `o1:yield=2`.
    #[cfg_attr(feature = "schema", schemars(with = "OneOrMany<String>"))]
    pub(super) schedulers: Values,
    /// Names of schedulers in tables and charts, by the text in `schedulers`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, String>"))]
    pub(super) labels: BTreeMap<String, Spanned<String>>,
    /// Costs of operations: `pentium-iii` by default, `epyc-milan`, `lab`, `lab-eevdf`, or a file relative to this one.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(super) costs: Option<Spanned<String>>,
    /// The workload: its `kind` (`chat`, `locks`, `requests` or `hackbench`) and its settings.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, OneOrMany<AnyScalar>>"))]
    pub(super) work: BTreeMap<String, Values>,
    /// Whether each process has an equal share of the CPUs for itself.
    #[cfg_attr(feature = "schema", schemars(with = "Option<OneOrMany<bool>>"))]
    pub(super) pinned: Option<Values>,
    /// How many seeds each cell gets.
    #[serde(default)]
    pub(super) rules: SeedRules,
}

/// Run rules. A trial is a seed.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SeedRules {
    /// Seeds of each cell, at least 3; the most if `within_percent` is given, and then at least 16.
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub(super) seeds: Spanned<u32>,
    /// Half-width of the interval of the metric at which a cell has enough seeds, percent of the mean.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub(super) within_percent: Option<Spanned<f64>>,
    /// The metric of the rules and of the answer.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(super) metric: Option<Spanned<String>>,
}

impl Default for SeedRules {
    fn default() -> Self {
        Self { seeds: Spanned::new(0..0, 3), within_percent: None, metric: None }
    }
}
