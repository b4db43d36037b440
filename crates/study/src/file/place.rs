//! Where in a file something is.

use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A study file that cannot be carried out: where, and why.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{path}:{line}:{column}: {message}", path = path.display())]
pub struct StudyFileError {
    path: PathBuf,
    line: usize,
    column: usize,
    message: String,
}

/// A file's text, to find places in.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// What is wrong at `span`.
    pub(crate) fn wrong(&self, span: Range<usize>, message: impl ToString) -> StudyFileError {
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
