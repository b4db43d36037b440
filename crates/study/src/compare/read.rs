//! Reads the records of a side from files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use klatch_record::{Record, ResultKind, Role, SCHEMA_NAME, Status, StudyResult};
use thiserror::Error;

use crate::compare::differences::{describe_platform, describe_workload, mixture};

/// Why two sides cannot be compared.
#[derive(Debug, Error)]
pub enum CompareError {
    /// A file or folder cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Missing {
        /// The file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// A file is not a record.
    #[error("{path} is no record: {cause}", path = path.display())]
    NoRecord {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong with its contents.
        cause: String,
    },
    /// A side has no valid trial.
    #[error("{path} holds no valid trial ({contents}); name a record or a folder of records", path = path.display())]
    NoTrial {
        /// The file or folder of the side.
        path: PathBuf,
        /// The number of other records in it, by kind.
        contents: String,
    },
    /// A folder holds records of different platforms or workloads.
    #[error("{path} holds different runs, {one} and {other}; name one folder or cell of it", path = path.display())]
    Mixed {
        /// The folder of the side.
        path: PathBuf,
        /// Platform and workload of one record.
        one: String,
        /// Platform and workload of another record.
        other: String,
    },
    /// The records of a folder were made under different conditions.
    #[error("{path} holds runs under different conditions, {what}; name one folder or cell of it", path = path.display())]
    MixedConditions {
        /// The folder of the side.
        path: PathBuf,
        /// What differs, with its values.
        what: String,
    },
    /// A record is there twice, so it would count twice.
    #[error("{one} and {other} are the same record; remove the copy", one = one.display(), other = other.display())]
    Twice {
        /// Path of one.
        one: PathBuf,
        /// Path of the other.
        other: PathBuf,
    },
    /// The two studies share no cell.
    #[error("the two studies have no cell in common: {a}; and {b}; name one cell of each")]
    NoCommonCell {
        /// The cells of A, by name.
        a: String,
        /// The cells of B, by name.
        b: String,
    },
    /// A side was not measured.
    #[error("the results in {path} are {kind}, and measurements are compared; compare {kind} results as cells of one study", path = path.display())]
    NotMeasured {
        /// The folder of the side.
        path: PathBuf,
        /// The kind of its results: `simulated` or `emulated`.
        kind: &'static str,
    },
    /// Both sides are the same file or folder.
    #[error("{a} and {b} are the same; name two records or folders", a = a.display(), b = b.display())]
    Same {
        /// The path of side A.
        a: PathBuf,
        /// The path of side B.
        b: PathBuf,
    },
}

/// The valid trials of a side, in the order of time.
pub(crate) struct Read {
    pub(crate) path: PathBuf,
    pub(crate) records: Vec<Record>,
    /// The file of each record.
    pub(crate) files: Vec<PathBuf>,
    /// The folder of each record; one folder is one start of the server.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) caveats: Vec<String>,
    /// Number of first trials that the scatter is estimated from, where the scatter also ended the series.
    pub(crate) first_trials: Option<usize>,
}

/// The names of the cells in a study's folder, sorted; `None` for another folder.
pub(crate) fn cells(study: &Path) -> Option<Vec<String>> {
    let folders = std::fs::read_dir(study.join("cells")).ok()?.flatten();
    let mut names: Vec<String> = folders
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Some(names)
}

/// Reads one record, or all records below a folder.
pub(crate) fn read(path: &Path) -> Result<Read, CompareError> {
    let mut records = Vec::new();
    if path.is_dir() {
        read_below(path, &mut records)?;
    } else {
        let record = read_record(path)?.ok_or_else(|| CompareError::NoRecord {
            path: path.to_owned(),
            cause: format!("its `schema` is not {SCHEMA_NAME}"),
        })?;
        records.push((record, path.to_owned()));
    }
    let all = records.len();
    records.retain(|(record, _)| record.role == Role::Trial);
    let warmups = all - records.len();
    let (mut valid, others): (Vec<_>, Vec<_>) =
        records.into_iter().partition(|(record, _)| record.verdict.status == Status::Valid);
    valid.sort_by(|(a, a_path), (b, b_path)| (&a.started_at, a_path).cmp(&(&b.started_at, b_path)));
    if valid.is_empty() {
        let contents = format!("warm-ups: {warmups}, trials that do not count: {}", others.len());
        return Err(CompareError::NoTrial { path: path.to_owned(), contents });
    }
    let left_out = |(record, file): &(Record, PathBuf)| {
        format!("{} is left out, its score does not count: {}", file.display(), record.verdict.messages())
    };
    let caveats = others.iter().map(left_out).collect();
    let (records, files): (Vec<Record>, Vec<PathBuf>) = valid.into_iter().unzip();
    let first = &records[0];
    let describe = |record| format!("{}, {}", describe_platform(record), describe_workload(&record.workload));
    if let Some(other) = records.iter().find(|record| describe(record) != describe(first)) {
        return Err(CompareError::Mixed {
            path: path.to_owned(),
            one: describe(first),
            other: describe(other),
        });
    }
    if let Some(what) = mixture(&records) {
        return Err(CompareError::MixedConditions { path: path.to_owned(), what });
    }
    refuse_copies(records.iter().zip(&files))?;
    let folder = |file: &PathBuf| file.parent().unwrap_or(Path::new(".")).to_owned();
    let folders = files.iter().map(folder).collect();
    Ok(Read { path: path.to_owned(), files, folders, records, caveats, first_trials: first_trials(path) })
}

/// Refuses records of which two are equal: no two runs begin at the same time with the same result.
pub(crate) fn refuse_copies<'a>(
    records: impl Iterator<Item = (&'a Record, &'a PathBuf)>,
) -> Result<(), CompareError> {
    let mut seen: BTreeMap<&str, Vec<(&Record, &PathBuf)>> = BTreeMap::new();
    for (record, file) in records {
        let alike = seen.entry(record.started_at.as_str()).or_default();
        if let Some((_, other)) = alike.iter().find(|(other, _)| *other == record) {
            return Err(CompareError::Twice { one: (*other).clone(), other: file.clone() });
        }
        alike.push((record, file));
    }
    Ok(())
}

/// Refuses the results of a study that was simulated or emulated.
pub(crate) fn require_measured(path: &Path) -> Result<(), CompareError> {
    match study_result(path).map(|result| result.kind) {
        None | Some(ResultKind::Measured) => Ok(()),
        Some(kind) => Err(CompareError::NotMeasured { path: path.to_owned(), kind: kind.name() }),
    }
}

/// `first_trials` of the study that `path` is part of; `None` outside a study.
fn first_trials(path: &Path) -> Option<usize> {
    Some(study_result(path)?.first_trials? as usize)
}

/// The result of the study that `path` is part of; `None` outside a study.
fn study_result(path: &Path) -> Option<StudyResult> {
    // A record of a cell is STUDY/cells/CELL/block-001/trial-1.json.
    let result = path
        .ancestors()
        .take(5)
        .find_map(|folder| std::fs::read_to_string(folder.join("result.json")).ok())?;
    serde_json::from_str(&result).ok()
}

/// Reads all records in a folder and its subfolders. Links are not followed, as `latest` is one.
fn read_below(folder: &Path, records: &mut Vec<(Record, PathBuf)>) -> Result<(), CompareError> {
    let wrong = |source| CompareError::Missing { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(wrong)?);
        if kind.is_dir() {
            read_below(&path, records)?;
        } else if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
            records.extend(read_record(&path)?.map(|record| (record, path)));
        }
    }
    Ok(())
}

/// Reads a record; `None` for other JSON, such as that of a study or an instrument.
fn read_record(path: &Path) -> Result<Option<Record>, CompareError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| CompareError::Missing { path: path.to_owned(), source })?;
    let wrong =
        |error: serde_json::Error| CompareError::NoRecord { path: path.to_owned(), cause: error.to_string() };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
    if value["schema"] != SCHEMA_NAME {
        return Ok(None);
    }
    serde_json::from_str(&text).map(Some).map_err(wrong)
}
