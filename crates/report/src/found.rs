//! Finds out what results a path holds, and makes a report of them.

use std::path::{Path, PathBuf};

use klatch_record::lab::{Outcome, Study};
use klatch_record::{
    DUET_SCHEMA_NAME, Document, Duet, Estimator, FLOOR_SCHEMA_NAME, FloorResult, error_chain,
};
use klatch_study::compare::{Terms, compare};

use crate::build::{duet_report, floor_history, report, report_of_two};
use crate::lab::{lab_report, read_lab};
use crate::model::Report;
use crate::read::{ReadError, Source, documents, parsed, read, runs};

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

/// Reads what these paths hold; runs of several together.
///
/// # Errors
/// As those of [`find`], or several paths hold other results than runs.
pub fn find_all(paths: &[PathBuf]) -> Result<Found, ReadError> {
    let mut all = paths.iter().map(|path| find(path));
    let Some(first) = all.next() else { return Err(ReadError::NotRuns) };
    let rest = all.collect::<Result<Vec<_>, _>>();
    let (first, rest) = (first?, rest?);
    if rest.is_empty() {
        return Ok(first);
    }
    let mut together = single_runs(first)?;
    for found in rest {
        let source = single_runs(found)?;
        together.runs.extend(source.runs);
        together.skipped.extend(source.skipped);
    }
    Ok(Found::Runs(together))
}

fn single_runs(found: Found) -> Result<Box<Source>, ReadError> {
    match found {
        Found::Runs(source) if source.result.is_none() => Ok(source),
        _ => Err(ReadError::NotRuns),
    }
}

/// The report of what a path holds.
pub fn report_of(path: &Path, found: &Found) -> Report {
    match found {
        Found::Runs(source) => report(source),
        Found::Duet(duet) => duet_report(path, duet),
        Found::Floor(sessions) => floor_history(path, sessions),
        Found::Lab(study, outcomes) => lab_report(path, study, outcomes),
    }
}

/// The report of two folders. If they cannot be compared, the report gives the cause as its answer. `warn` is called for each of them, in
/// which files may be skipped.
///
/// # Errors
/// One cannot be read, or they are not of one kind.
pub fn report_side_by_side(a: &Path, b: &Path, warn: fn(&Source)) -> Result<Report, ReadError> {
    let (a, b) = (read(a)?, read(b)?);
    warn(&a);
    warn(&b);
    let kind = |side: &Source| side.result.as_ref().map(|result| result.kind).unwrap_or_default();
    if kind(&a) != kind(&b) {
        return Err(ReadError::OtherKind { one: a.path, other: b.path });
    }
    let terms = Terms { estimate: Estimator::GeometricMean, confidence: 0.95 };
    Ok(match compare(&a.path, &b.path, terms) {
        Ok(comparisons) => report_of_two(&a, &b, &comparisons),
        Err(error) => {
            let answer = format!("They cannot be compared: {}", error_chain(&error));
            Report { answer, ..report_of_two(&a, &b, &[]) }
        }
    })
}
