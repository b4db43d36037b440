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

use klatch_record::{Build, ResultKind, StudyAxis, with_suggestion};
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
}

/// An error in a study file, with its position.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{path}:{line}:{column}: {message}", path = path.display())]
pub struct StudyFileError {
    path: PathBuf,
    line: usize,
    column: usize,
    message: String,
}

impl StudyFile {
    /// A file whose kind follows from its keys.
    pub(crate) fn new(path: &Path, text: impl Into<Cow<'static, str>>) -> StudyFile {
        let text = text.into();
        StudyFile { path: path.to_owned(), kind: kind_of(&text), text }
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
        StudyFileError {
            path: self.path.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: with_suggestion(&message.to_string()),
        }
    }
}

/// The kind of a study file, by the keys that it must have. A text that cannot be parsed counts as measured, and the error follows.
fn kind_of(text: &str) -> ResultKind {
    let table: toml::Table = text.parse().unwrap_or_default();
    let has = |keys: [&str; 2]| keys.iter().any(|key| table.contains_key(*key));
    match () {
        () if has(["command", "show"]) => ResultKind::Emulated,
        () if has(["machine", "work"]) => ResultKind::Simulated,
        () => ResultKind::Measured,
    }
}
