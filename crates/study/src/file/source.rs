//! The text of a study file, and errors with a position in it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// An error in a study file, with its position.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{path}:{line}:{column}: {message}", path = path.display())]
pub struct StudyFileError {
    path: PathBuf,
    line: usize,
    column: usize,
    message: String,
}

/// A study file and its text.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// An error at the start of `span`, a range of bytes.
    pub(crate) fn error_at(&self, span: Range<usize>, message: impl ToString) -> StudyFileError {
        let before = &self.text[..span.start.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        StudyFileError {
            path: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.to_string(),
        }
    }
}
