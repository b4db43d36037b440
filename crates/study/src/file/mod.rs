//! Study files of every kind: measured, emulated in the lab, simulated.

mod axes;
mod load;
#[cfg(feature = "schema")]
mod schema;
mod shipped;
#[cfg(test)]
mod tests;
mod values;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use klatch_record::lab::KERNEL_SCHEDULER;
use klatch_record::{Build, ResultKind, StudyAxis, WorkloadKind, similar_to, with_suggestion};
use klatch_schedulers::{SchedulerError, SchedulerSpec};
use serde::de::DeserializeOwned;
use thiserror::Error;
use toml::Spanned;

use crate::plan::StudyHead;

pub(crate) use self::axes::{Change, Dimension, Grid, Levels, combinations};
pub use self::load::{LoadError, load};
#[cfg(feature = "schema")]
pub(crate) use self::schema::{AnyScalar, KnobsSchema, OneOrMany};
pub use self::shipped::{Shipped, shipped};
pub(crate) use self::values::{Axis, Scalar};

/// A study file and its text.
#[derive(Clone, Debug)]
pub struct StudyFile {
    path: PathBuf,
    text: Cow<'static, str>,
    kind: ResultKind,
    /// It was written by a person, who knows its lines.
    has_lines: bool,
}

/// An error in a study file, with its position.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{}{message}", place.as_deref().unwrap_or_default())]
pub struct StudyFileError {
    /// File, line and column; none if options made the study.
    place: Option<String>,
    message: String,
}

impl StudyFile {
    /// A file whose kind follows from its keys.
    pub(crate) fn new(path: &Path, text: impl Into<Cow<'static, str>>) -> StudyFile {
        let text = text.into();
        StudyFile { path: path.to_owned(), kind: kind_of(&text), text, has_lines: true }
    }

    /// The study that options describe. Its errors have no position, since there is no file.
    pub(crate) fn of_options(name: &str, text: String) -> StudyFile {
        StudyFile { has_lines: false, ..StudyFile::new(&Path::new(name).with_extension("toml"), text) }
    }

    /// Name of the study: that of the file without extension.
    pub fn name(&self) -> String {
        let stem = self.path.file_stem();
        stem.map_or_else(|| "study".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    /// Contents of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How the study gets its numbers.
    pub fn kind(&self) -> ResultKind {
        self.kind
    }

    /// The folder of the file, to which paths in it are relative.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Parses the text.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, StudyFileError> {
        toml::from_str(&self.text).map_err(|error| {
            let message = error.message().trim_end().replace('\n', "; ");
            let misplaced = misplaced(&message).filter(|_| self.kind == ResultKind::Measured);
            let message = misplaced.unwrap_or(message);
            self.error_at(error.span().unwrap_or(0..0), message)
        })
    }

    /// The head of a plan with these axes.
    ///
    /// # Errors
    /// The question is empty.
    pub(crate) fn head(
        &self,
        question: &str,
        axes: Vec<StudyAxis>,
        build: Build,
    ) -> Result<StudyHead, StudyFileError> {
        if question.trim().is_empty() {
            let message = "the question is empty: state in words what the study answers";
            return Err(self.error_at(0..0, message));
        }
        let (name, question) = (self.name(), question.to_owned());
        Ok(StudyHead { name, question, axes, options: BTreeMap::new(), build })
    }

    /// The position of a top-level key's value; the start of the file without it.
    pub(crate) fn span_of(&self, key: &str) -> Range<usize> {
        let values: BTreeMap<String, Spanned<toml::Value>> = toml::from_str(&self.text).unwrap_or_default();
        values.get(key).map_or(0..0, Spanned::span)
    }

    /// An error at the start of `span`, a range of bytes.
    pub(crate) fn error_at(&self, span: Range<usize>, message: impl ToString) -> StudyFileError {
        let before = &self.text[..span.start.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
        StudyFileError {
            place: self.has_lines.then(|| format!("{}:{line}:{column}: ", self.path.display())),
            message: with_suggestion(&message.to_string()),
        }
    }
}

/// The scheduler that a study names; `kernel` is not one that is loaded.
///
/// # Errors
/// There is no such scheduler, with what was probably meant.
pub(crate) fn scheduler(text: &str) -> Result<SchedulerSpec, String> {
    text.parse().map_err(|error: SchedulerError| match similar_to(text, &[KERNEL_SCHEDULER]) {
        Some(kernel) => format!("there is no scheduler {text}; did you mean {kernel}?"),
        None => error.to_string(),
    })
}

/// What to say of a key at the top of a measured study that belongs below `[workload]`.
fn misplaced(message: &str) -> Option<String> {
    let (key, _) = message.strip_prefix("unknown field `")?.split_once('`')?;
    let is_setting =
        WorkloadKind::ALL.iter().flat_map(|kind| kind.settings()).any(|setting| setting.name == key);
    is_setting.then(|| format!("{key} is a setting of the workload: write it below [workload]"))
}

/// The kind of a study file, by the keys that it must have. A text that cannot be parsed counts as measured, and the error follows.
fn kind_of(text: &str) -> ResultKind {
    let table: toml::Table = text.parse().unwrap_or_default();
    let has = |keys: [&str; 2]| keys.iter().any(|key| table.contains_key(*key));
    match () {
        () if table.contains_key("platforms") && !table.contains_key("command") => ResultKind::Measured,
        () if has(["command", "show"]) => ResultKind::Emulated,
        () if has(["machine", "work"]) => ResultKind::Simulated,
        () => ResultKind::Measured,
    }
}
