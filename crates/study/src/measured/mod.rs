//! Measured studies: platforms × workload × knobs under run rules, and the question that they answer.

mod dimensions;
mod draft;
mod expand;
mod rules;
#[cfg(feature = "schema")]
mod schema;
mod search;
mod small;
#[cfg(test)]
mod tests;
mod workload;

use std::collections::BTreeMap;

use klatch_record::InstrumentName;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use toml::Spanned;

#[cfg(feature = "schema")]
use crate::file::{AnyScalar, KnobsSchema, OneOrMany};
use crate::file::{Axis, Scalar};
use crate::search::Search;

use self::rules::RulesTable;
#[cfg(feature = "schema")]
pub(crate) use self::schema::MetricSchema;
pub use self::small::SmallStudy;

/// Values of an axis, with their position in the file.
type Values<T> = Option<Spanned<Axis<T>>>;
/// Values of knobs, by the name of the knob.
type Knobs = BTreeMap<String, Spanned<Axis<Scalar>>>;

/// A measured study: every list is an axis, and every combination of the axes is a cell.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "MeasuredStudy"))]
pub(crate) struct MeasuredFile {
    /// The question that the study answers, in words.
    pub(crate) question: String,
    /// The platforms to measure: names in the catalog, or tables with knobs of their own.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<schema::PlatformSchema>"))]
    pub(crate) platforms: Spanned<Vec<Spanned<PlatformChoice>>>,
    /// What the crowd does: its `kind`, and the settings of that kind, each a value or an axis.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "schema::WorkloadSchema"))]
    pub(crate) workload: Knobs,
    /// Knobs of every platform.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "KnobsSchema"))]
    pub(crate) server: Knobs,
    /// The crowd: its `kind` (`native`, `native-threads` or `java`), `shards`, `loops` of the native crowd, and knobs.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "KnobsSchema"))]
    pub(crate) crowd: Knobs,
    /// How the crowd connects, beyond the address.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "schema::ConnectingSchema"))]
    pub(crate) connecting: Knobs,
    /// Settings of the whole machine during a visit; needs `--allow-sysctl`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "KnobsSchema"))]
    pub(crate) sysctls: Knobs,
    /// Schedulers to load during a visit, such as `goodness` or `o1:yield=2`; `kernel` is the kernel's own.
    #[cfg_attr(feature = "schema", schemars(with = "Option<OneOrMany<String>>"))]
    pub(crate) schedulers: Values<Scalar>,
    /// CPUs that server and crowd share, counted from the first; or `doubling`: 1, 2, 4 … up to all.
    #[cfg_attr(feature = "schema", schemars(with = "Option<OneOrMany<AnyScalar>>"))]
    pub(crate) cpus: Values<Scalar>,
    /// Instruments of every run, as for `klatch run --instrument`; not under the preset `duet`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<InstrumentName>>"))]
    pub(crate) instruments: Option<Spanned<Vec<InstrumentName>>>,
    /// Run rules: what is discarded, and when a cell has enough trials.
    #[serde(default)]
    pub(crate) rules: RulesTable,
    /// Limits that every cell must keep, by metric: `p99 = "<= 5ms"`, `errors = "== 0"`; under the preset `duet`,
    /// `"B/A server_cpu_us" = "<= 1.02"`. A list has several limits of one metric.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "KnobsSchema"))]
    pub(crate) require: Knobs,
    /// Searches a limit in every cell instead of measuring it.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Search>"))]
    pub(crate) search: Option<Spanned<Search>>,
}

/// A platform of a study.
#[derive(Clone, Debug)]
pub(crate) struct PlatformChoice {
    pub(crate) name: String,
    pub(crate) label: Option<String>,
    pub(crate) knobs: BTreeMap<String, Axis<Scalar>>,
}

/// A platform with knobs of its own.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct PlatformTable {
    /// Name in the catalog, or NAME@JAVA-VERSION.
    name: String,
    /// Name in tables and cells, if it differs from the name in the catalog.
    label: Option<String>,
    /// Knobs of this platform only.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "KnobsSchema"))]
    knobs: BTreeMap<String, Axis<Scalar>>,
}

impl<'de> Deserialize<'de> for PlatformChoice {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<PlatformChoice, D::Error> {
        from.deserialize_any(PlatformVisitor)
    }
}

struct PlatformVisitor;

impl<'de> serde::de::Visitor<'de> for PlatformVisitor {
    type Value = PlatformChoice;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the name of a platform, or a table with its name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<PlatformChoice, E> {
        Ok(PlatformChoice { name: name.to_owned(), label: None, knobs: BTreeMap::new() })
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, table: A) -> Result<PlatformChoice, A::Error> {
        let PlatformTable { name, label, knobs } =
            PlatformTable::deserialize(MapAccessDeserializer::new(table))?;
        Ok(PlatformChoice { name, label, knobs })
    }
}
