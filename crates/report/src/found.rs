//! Finds out what results a path holds.

use std::path::Path;

use klatch_record::lab::{Outcome, Study};
use klatch_record::{DUET_SCHEMA_NAME, Document, Duet, FLOOR_SCHEMA_NAME, FloorResult};

use crate::lab::read_lab;
use crate::read::{ReadError, Source, documents, parsed, runs};

/// The file of a duet in its folder.
const DUET: &str = "duet.json";

/// What a file or folder holds.
#[derive(Clone, Debug)]
pub enum Found {
    /// Runs, or a measured or simulated study.
    Runs(Box<Source>),
    /// A duet.
    Duet(Box<Duet>),
    /// A history of `klatch floor`.
    Floor(Vec<FloorResult>),
    /// A study of the lab with the outcomes of its boots.
    Lab(Box<Study>, Vec<Outcome>),
}

/// Reads the results in a file, in a folder and its subfolders, or from standard input (`-`).
///
/// # Errors
/// The path is missing or unreadable, a file that was named is no result, or there is no result at all.
pub fn find(path: &Path) -> Result<Found, ReadError> {
    if let Some((study, outcomes)) = read_lab(path)? {
        return Ok(Found::Lab(Box::new(study), outcomes));
    }
    let documents = documents(path)?;
    let is_of = |document: &Document, schema: &str| document.schema.as_deref() == Some(schema);
    let is_duet = |document: &&Document| {
        is_of(document, DUET_SCHEMA_NAME) && (!path.is_dir() || document.file == path.join(DUET))
    };
    if let Some(document) = documents.all.iter().find(is_duet) {
        return Ok(Found::Duet(Box::new(parsed(document)?)));
    }
    let sessions = documents.all.iter().filter(|it| is_of(it, FLOOR_SCHEMA_NAME));
    if !path.is_dir() && sessions.clone().next().is_some() {
        return sessions.map(parsed).collect::<Result<_, _>>().map(Found::Floor);
    }
    runs(path, documents).map(|source| Found::Runs(Box::new(source)))
}
