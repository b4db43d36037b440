//! Study files: platforms × workload × knobs under run rules, and the question they answer.

mod axes;
mod axis;
mod draft;
mod expand;
mod place;
mod rules;
mod search;
mod shipped;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use klatch_record::InstrumentName;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use toml::Spanned;

pub(crate) use self::axis::{AnyScalar, Axis, OneOrMany, Scalar};
pub(crate) use self::expand::expand;
pub(crate) use self::place::Source;
pub use self::place::StudyFileError;
pub(crate) use self::rules::RulesTable;
pub(crate) use self::search::Search;
pub use self::shipped::{Shipped, shipped};

/// Values of an axis, with their place in the file.
type Values<T> = Option<Spanned<Axis<T>>>;
/// Knobs that a study sets or varies.
type Knobs = BTreeMap<String, Spanned<Axis<Scalar>>>;
type KnobsSchema = BTreeMap<String, OneOrMany<AnyScalar>>;

/// A study: every list is an axis, and every combination of the axes is a cell.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A study of Klatch")]
pub(crate) struct StudyFile {
    /// The question that the study answers, in words.
    pub(crate) question: String,
    /// What is measured: names of the catalog, or tables with knobs of their own.
    #[schemars(with = "Vec<PlatformSchema>")]
    pub(crate) platforms: Spanned<Vec<Spanned<PlatformChoice>>>,
    /// What the crowd does.
    #[serde(default)]
    pub(crate) workload: WorkloadTable,
    /// Knobs of every platform.
    #[serde(default)]
    #[schemars(with = "KnobsSchema")]
    pub(crate) server: Knobs,
    /// The crowd: its `kind` (`native`, `native-threads` or `java`), `loops` of the native one, and its knobs.
    #[serde(default)]
    #[schemars(with = "KnobsSchema")]
    pub(crate) crowd: Knobs,
    /// What is set about the whole machine during a visit; only with `--allow-sysctl`.
    #[serde(default)]
    #[schemars(with = "KnobsSchema")]
    pub(crate) sysctls: Knobs,
    /// Schedulers of history, loaded for the time of a visit: `goodness`, `o1:yield=2`; `kernel` is the kernel's own.
    #[schemars(with = "Option<OneOrMany<String>>")]
    pub(crate) schedulers: Values<Scalar>,
    /// CPUs that server and crowd share, counted from the first; or `doubling`: 1, 2, 4 … up to all.
    #[schemars(with = "Option<OneOrMany<AnyScalar>>")]
    pub(crate) cpus: Values<Scalar>,
    /// What watches the runs of every cell, as with `klatch run --instrument`.
    #[serde(default)]
    pub(crate) instruments: Vec<InstrumentName>,
    /// What is discarded, how many trials there are, when it is enough.
    #[serde(default)]
    pub(crate) rules: RulesTable,
    /// Looks for a limit instead of measuring every cell.
    #[schemars(with = "Option<Search>")]
    pub(crate) search: Option<Spanned<Search>>,
}

/// A platform of a study.
#[derive(Clone, Debug)]
pub(crate) struct PlatformChoice {
    pub(crate) name: String,
    pub(crate) label: Option<String>,
    pub(crate) knobs: BTreeMap<String, Axis<Scalar>>,
}

/// What the crowd does. What is left out is as with `klatch run`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadTable {
    /// Rooms.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) rooms: Values<u32>,
    /// Users in each room.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) users: Values<u32>,
    /// Messages that each user says.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) count: Values<u32>,
    /// Bytes of a message's text.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) size: Values<u32>,
    /// When a user speaks.
    #[schemars(with = "Option<OneOrMany<PacingName>>")]
    pub(crate) pacing: Values<PacingName>,
    /// Pacing `rounds`: messages that a user may be ahead of the slowest of the others.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) window: Values<u32>,
    /// Pacing `rate`: messages a second of each user.
    #[schemars(with = "Option<OneOrMany<f64>>")]
    pub(crate) rate: Values<f64>,
    /// Least time between two messages of a user, seconds.
    #[schemars(with = "Option<OneOrMany<f64>>")]
    pub(crate) pause: Values<f64>,
}

impl std::fmt::Display for PacingName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PacingName::Turns => "turns",
            PacingName::Rounds => "rounds",
            PacingName::Flood => "flood",
            PacingName::Rate => "rate",
        })
    }
}

/// The pacings by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PacingName {
    Turns,
    Rounds,
    Flood,
    Rate,
}

impl StudyFile {
    /// Reads the text of a study file.
    pub(crate) fn parse(source: &Source<'_>) -> Result<StudyFile, StudyFileError> {
        toml::from_str(source.text).map_err(|error| {
            let message = error.message().trim_end().replace('\n', "; ");
            source.wrong(error.span().unwrap_or(0..0), message)
        })
    }
}

/// The JSON Schema of a study file, as pretty-printed JSON that ends with a newline.
pub fn study_schema() -> String {
    let schema = schemars::schema_for!(StudyFile);
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
}

/// The name of a study is that of its file.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(|| "study".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// A name, or a table with knobs of the platform's own.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it only gives a schema")]
enum PlatformSchema {
    Name(String),
    Table(PlatformTable),
}

/// A platform with knobs of its own.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlatformTable {
    /// Its name in the catalog, or NAME@JAVA-VERSION.
    name: String,
    /// What it is called in tables, if not by its name.
    label: Option<String>,
    /// Its knobs.
    #[serde(default)]
    #[schemars(with = "KnobsSchema")]
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
