//! Records from files.

use std::path::{Path, PathBuf};

use klatch_record::{Record, Role, SCHEMA_NAME, Status};
use thiserror::Error;

use crate::differ::{described, workload};

/// Why two sides cannot be compared.
#[derive(Debug, Error)]
pub enum CompareError {
    /// It is not there.
    #[error("cannot read {path}: {source}", path = path.display())]
    Missing {
        /// What was to be read.
        path: PathBuf,
        /// Why it cannot be.
        source: std::io::Error,
    },
    /// It is no record.
    #[error("{path} is no record: {cause}", path = path.display())]
    NoRecord {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
    /// Nothing to compare.
    #[error("{path} holds no valid trial ({found}); name a record or a folder of records", path = path.display())]
    NoTrial {
        /// The file or folder.
        path: PathBuf,
        /// What it holds.
        found: String,
    },
    /// Different things in one folder.
    #[error("{path} holds different runs, {one} and {other}; name one folder or cell of it", path = path.display())]
    Mixed {
        /// The folder.
        path: PathBuf,
        /// One of them.
        one: String,
        /// Another.
        other: String,
    },
    /// Two studies without a common cell.
    #[error("the two studies have no cell in common: {a}; and {b}; name one cell of each")]
    NoCommonCell {
        /// Cells of A.
        a: String,
        /// Cells of B.
        b: String,
    },
    /// Compared with itself.
    #[error("{a} and {b} are the same; name two records or folders", a = a.display(), b = b.display())]
    Same {
        /// A.
        a: PathBuf,
        /// B.
        b: PathBuf,
    },
}

/// The valid trials below a path, in the order of time.
pub(crate) struct Read {
    pub(crate) path: PathBuf,
    pub(crate) records: Vec<Record>,
    /// The folder that each record is in: one start of the server each.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) notes: Vec<String>,
    /// Where the trials' scatter said when they are enough: how many first ones it is taken from.
    pub(crate) first_trials: Option<usize>,
}

/// The cells of a study's folder.
pub(crate) fn cells(study: &Path) -> Option<Vec<String>> {
    let folders = std::fs::read_dir(study.join("cells")).ok()?.flatten();
    let mut names: Vec<String> = folders
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Some(names)
}

/// Reads the record, or all records below the folder.
pub(crate) fn read(path: &Path) -> Result<Read, CompareError> {
    let mut found = Vec::new();
    if path.is_dir() {
        below(path, &mut found)?;
    } else {
        let record = record(path)?.ok_or_else(|| CompareError::NoRecord {
            path: path.to_owned(),
            cause: format!("its `schema` is not {SCHEMA_NAME}"),
        })?;
        found.push((record, path.to_owned()));
    }
    let all = found.len();
    found.retain(|(record, _)| record.role == Role::Trial);
    let warmups = all - found.len();
    let (mut valid, spoilt): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(record, _)| record.verdict.status == Status::Valid);
    valid.sort_by(|(a, a_path), (b, b_path)| (&a.started_at, a_path).cmp(&(&b.started_at, b_path)));
    if valid.is_empty() {
        let found = format!("warm-ups: {warmups}, trials that do not count: {}", spoilt.len());
        return Err(CompareError::NoTrial { path: path.to_owned(), found });
    }
    let left_out = |(record, file): &(Record, PathBuf)| {
        format!("{} is left out, its score does not count: {}", file.display(), record.verdict.messages())
    };
    let notes = spoilt.iter().map(left_out).collect();
    let (records, files): (Vec<Record>, Vec<PathBuf>) = valid.into_iter().unzip();
    let first = &records[0];
    let tell = |record| format!("{}, {}", described(record), workload(&record.workload));
    if let Some(other) = records.iter().find(|record| tell(record) != tell(first)) {
        return Err(CompareError::Mixed { path: path.to_owned(), one: tell(first), other: tell(other) });
    }
    let folder = |file: &PathBuf| file.parent().unwrap_or(Path::new(".")).to_owned();
    let folders = files.iter().map(folder).collect();
    Ok(Read { path: path.to_owned(), folders, records, notes, first_trials: first_trials(path) })
}

/// What the result of the study says that this is a part of, if it is one.
fn first_trials(path: &Path) -> Option<usize> {
    // A record of a cell is STUDY/cells/CELL/block-001/trial-1.json.
    let result =
        path.ancestors().take(5).find_map(|folder| std::fs::read(folder.join("result.json")).ok())?;
    let result: klatch_record::StudyResult = serde_json::from_slice(&result).ok()?;
    Some(result.first_trials? as usize)
}

/// All records in a folder and the folders below; links are not followed, as `latest` is one.
fn below(folder: &Path, found: &mut Vec<(Record, PathBuf)>) -> Result<(), CompareError> {
    let wrong = |source| CompareError::Missing { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(wrong)?);
        if kind.is_dir() {
            below(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.extend(record(&path)?.map(|record| (record, path)));
        }
    }
    Ok(())
}

/// Reads a record; `None` where it is other JSON, as of a study or of an instrument.
fn record(path: &Path) -> Result<Option<Record>, CompareError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| CompareError::Missing { path: path.to_owned(), source })?;
    let wrong =
        |error: serde_json::Error| CompareError::NoRecord { path: path.to_owned(), cause: error.to_string() };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
    if value["schema"] != SCHEMA_NAME {
        return Ok(None);
    }
    serde_json::from_value(value).map(Some).map_err(wrong)
}
