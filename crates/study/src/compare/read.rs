//! Reads the records of a side from files.

use std::path::{Path, PathBuf};

use klatch_record::{
    Document, Documents, Record, ResultKind, Role, SCHEMA_NAME, Skipped, Status, StudyResult, same_record,
};
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

/// Reads a record, the records in a file one after another, or all records below a folder.
pub(crate) fn read(path: &Path) -> Result<Read, CompareError> {
    let Found { mut records, skipped } = records_in(path)?;
    let all = records.len();
    records.retain(|(record, ..)| record.role == Role::Trial);
    let warmups = all - records.len();
    let (mut valid, others): (Vec<_>, Vec<_>) =
        records.into_iter().partition(|(record, ..)| record.verdict.status == Status::Valid);
    valid.sort_by(|(a, a_path, _), (b, b_path, _)| (&a.started_at, a_path).cmp(&(&b.started_at, b_path)));
    if valid.is_empty() {
        let contents = format!("warm-ups: {warmups}, trials that do not count: {}", others.len());
        return Err(CompareError::NoTrial { path: path.to_owned(), contents });
    }
    let left_out = |(record, file, _): &(Record, PathBuf, PathBuf)| {
        format!("{} is left out, its score does not count: {}", file.display(), record.verdict.messages())
    };
    let caveats = skipped.iter().map(ToString::to_string).chain(others.iter().map(left_out)).collect();
    let mut read = Read {
        path: path.to_owned(),
        records: Vec::new(),
        files: Vec::new(),
        folders: Vec::new(),
        caveats,
        first_trials: first_trials(path),
    };
    for (record, file, folder) in valid {
        read.records.push(record);
        read.files.push(file);
        read.folders.push(folder);
    }
    let records = &read.records;
    let first = &records[0];
    let describe = |record| format!("{}, {}", describe_platform(record), describe_workload(&record.workload));
    if let Some(other) = records.iter().find(|record| describe(record) != describe(first)) {
        return Err(CompareError::Mixed {
            path: path.to_owned(),
            one: describe(first),
            other: describe(other),
        });
    }
    if let Some(what) = mixture(records) {
        return Err(CompareError::MixedConditions { path: path.to_owned(), what });
    }
    refuse_copies(records.iter().zip(&read.files))?;
    Ok(read)
}

/// A record, its place and its start.
type Placed = (Record, PathBuf, PathBuf);

/// Records of a side, and what else there was.
struct Found {
    records: Vec<Placed>,
    skipped: Vec<Skipped>,
}

/// The records in a file or folder.
fn records_in(path: &Path) -> Result<Found, CompareError> {
    let missing = |source| CompareError::Missing { path: path.to_owned(), source };
    let mut documents = Documents::read(path).map_err(missing)?;
    let is_folder = path.is_dir();
    let (mut records, mut starts) = (Vec::new(), Starts::default());
    for document in std::mem::take(&mut documents.all) {
        if document.schema.as_deref() != Some(SCHEMA_NAME) {
            if !is_folder {
                documents.skip(&document, format!("its `schema` is not {SCHEMA_NAME}"));
            }
            continue;
        }
        match document.parse::<Record>() {
            Ok(record) => {
                let start = starts.of(&record, &document);
                records.push((record, document.place(), start));
            }
            Err(error) => documents.skip(&document, error),
        }
    }
    match documents.skipped.first() {
        Some(Skipped { place, cause }) if records.is_empty() && !is_folder => {
            Err(CompareError::NoRecord { path: place.clone(), cause: cause.clone() })
        }
        _ => Ok(Found { records, skipped: documents.skipped }),
    }
}

/// Tells the starts of the server apart. In a folder each has a folder of its own; where records follow each other in a file, a start
/// ends where the numbers of warm-ups and trials begin anew.
#[derive(Default)]
pub(crate) struct Starts {
    count: usize,
    last: Option<(PathBuf, bool, u32)>,
}

impl Starts {
    /// The start that this record is of, as a path.
    pub(crate) fn of(&mut self, record: &Record, document: &Document) -> PathBuf {
        if document.number.is_none() {
            return document.file.parent().unwrap_or(Path::new(".")).to_owned();
        }
        let this = Some((document.file.clone(), record.role == Role::Trial, record.number));
        if self.last.as_ref().map(|last| &last.0) != Some(&document.file) || this <= self.last {
            self.count += 1;
        }
        self.last = this;
        document.file.join(self.count.to_string())
    }
}

/// Refuses records of which two are equal.
pub(crate) fn refuse_copies<'a>(
    records: impl Iterator<Item = (&'a Record, &'a PathBuf)>,
) -> Result<(), CompareError> {
    let (records, files): (Vec<_>, Vec<_>) = records.unzip();
    match same_record(records) {
        None => Ok(()),
        Some((one, other)) => {
            Err(CompareError::Twice { one: files[one].clone(), other: files[other].clone() })
        }
    }
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
