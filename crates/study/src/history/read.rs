//! Reads results, by all CPUs, and keeps of each what a history needs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use klatch_record::{
    DUET_SCHEMA_NAME, Document, Documents, Duet, DuetEnd, FLOOR_SCHEMA_NAME, FloorResult, METRICS, Metric,
    NO_RESULT, Record, Role, SCHEMA_NAME, Status, WorkloadKind,
};
use thiserror::Error;

use crate::compare::{Starts, describe_endless_workload, describe_workload};
use crate::history::{HistoryOrder, HistoryTerms};

/// Why there is no history.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// A file or folder cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Missing {
        /// The file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// No file is a result with a value.
    #[error("{paths} has no result of a run or duet that counts{}", others(*skipped))]
    Empty {
        /// The folders and files.
        paths: String,
        /// Number of files that could not be read, or do not count.
        skipped: usize,
    },
}

fn others(skipped: usize) -> String {
    if skipped == 0 {
        String::new()
    } else {
        format!("; files that do not count or cannot be read: {skipped}")
    }
}

/// What is in the files.
#[derive(Default)]
pub(super) struct Found {
    pub(super) runs: Vec<RunEntry>,
    pub(super) duets: Vec<DuetEntry>,
    pub(super) floors: Vec<FloorResult>,
    pub(super) skipped: Vec<String>,
}

/// What has one series for each metric.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group {
    pub(super) subject: String,
    pub(super) workload: String,
    pub(super) machine: Option<String>,
}

/// A run that counts.
pub(super) struct RunEntry {
    pub(super) group: Group,
    pub(super) label: String,
    /// RFC 3339 in UTC, which sorts as text.
    pub(super) at: String,
    pub(super) number: u32,
    pub(super) file: PathBuf,
    /// The start of the server, which its trials share.
    pub(super) start: PathBuf,
    pub(super) values: Vec<(&'static Metric, f64)>,
}

/// A duet that counts.
pub(super) struct DuetEntry {
    pub(super) duet: Duet,
    pub(super) workload: String,
    pub(super) file: PathBuf,
}

/// Reads all results in these folders and files.
pub(super) fn read(paths: &[PathBuf], terms: &HistoryTerms) -> Result<Found, HistoryError> {
    let mut files = BTreeSet::new();
    paths.iter().try_for_each(|path| collect(path, &mut files))?;
    let files: Vec<PathBuf> = files.into_iter().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = files.len().div_ceil(threads).max(1);
    let read = |files: &[PathBuf]| {
        let mut found = Found::default();
        files.iter().for_each(|file| read_file(file, terms, &mut found));
        found
    };
    let mut all = Found::default();
    std::thread::scope(|scope| {
        let readers: Vec<_> = files.chunks(share).map(|files| scope.spawn(|| read(files))).collect();
        for reader in readers {
            let Found { runs, duets, floors, skipped } = reader.join().expect("reading does not panic");
            all.runs.extend(runs);
            all.duets.extend(duets);
            all.floors.extend(floors);
            all.skipped.extend(skipped);
        }
    });
    all.runs.sort_by(|a, b| (&a.at, a.number, &a.file).cmp(&(&b.at, b.number, &b.file)));
    drop_copies(&mut all);
    all.duets.sort_by(|a, b| (&a.duet.started_at, &a.file).cmp(&(&b.duet.started_at, &b.file)));
    if terms.order == HistoryOrder::Path {
        all.runs.sort_by(|a, b| a.file.cmp(&b.file));
        all.duets.sort_by(|a, b| a.file.cmp(&b.file));
    }
    all.floors.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    if all.runs.is_empty() && all.duets.is_empty() && all.floors.is_empty() {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(HistoryError::Empty { paths: names.join(", "), skipped: all.skipped.len() });
    }
    Ok(all)
}

/// Drops copies of a record, as a run counts once. The runs are in the order of time.
fn drop_copies(found: &mut Found) {
    let Found { runs, skipped, .. } = found;
    let mut before: Option<RunEntry> = None;
    let mut kept = Vec::new();
    for run in std::mem::take(runs) {
        match &before {
            Some(one)
                if one.at == run.at
                    && one.number == run.number
                    && one.group == run.group
                    && one.values == run.values =>
            {
                skipped.push(format!("{} is a copy of {}", run.file.display(), one.file.display()));
            }
            _ => kept.extend(before.replace(run)),
        }
    }
    kept.extend(before);
    *runs = kept;
}

/// Collects the files below a path that can be results. Of a duet it is the result alone, as the records of its sides are part of it. Links
/// are not followed, as `latest` is one.
fn collect(path: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), HistoryError> {
    let wrong = |source| HistoryError::Missing { path: path.to_owned(), source };
    if !std::fs::metadata(path).map_err(wrong)?.is_dir() {
        files.insert(path.to_owned());
        return Ok(());
    }
    let duet = path.join("duet.json");
    if duet.is_file() {
        files.insert(duet);
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(wrong)?);
        if kind.is_dir() {
            collect(&path, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|one| one == "json" || one == "jsonl") {
            files.insert(path);
        }
    }
    Ok(())
}

fn read_file(file: &Path, terms: &HistoryTerms, found: &mut Found) {
    let documents = match Documents::read(file) {
        Ok(documents) => documents,
        Err(error) => return found.skipped.push(format!("{}: {error}", file.display())),
    };
    found
        .skipped
        .extend(documents.skipped.iter().map(|one| format!("{}: {}", one.place.display(), one.cause)));
    let mut starts = Starts::default();
    for document in &documents.all {
        if let Err(why) = read_result(document, terms, &mut starts, found) {
            found.skipped.push(format!("{}: {why}", document.place().display()));
        }
    }
}

fn read_result(
    document: &Document,
    terms: &HistoryTerms,
    starts: &mut Starts,
    found: &mut Found,
) -> Result<(), String> {
    let wrong = |error: serde_json::Error| error.to_string();
    match document.schema.as_deref() {
        Some(SCHEMA_NAME) => {
            let record: Record = document.parse().map_err(wrong)?;
            let start = starts.of(&record, document);
            if record.role != Role::Trial {
                return Ok(());
            }
            if record.verdict.status != Status::Valid {
                return Err(format!("its score does not count: {}", record.verdict.messages()));
            }
            found.runs.extend(run_entry(&record, document.place(), start, terms));
        }
        Some(DUET_SCHEMA_NAME) => {
            let duet: Duet = document.parse().map_err(wrong)?;
            if let DuetEnd::Failed { reasons, .. } = &duet.end {
                return Err(format!("it failed: {reasons}"));
            }
            let workload = described(&duet.b.crowd, &describe_endless_workload(&duet.workload));
            // Its pairs are of no use here, and many.
            let duet = Duet { starts: Vec::new(), ..duet };
            found.duets.push(DuetEntry { duet, workload, file: document.place() });
        }
        Some(FLOOR_SCHEMA_NAME) => found.floors.push(document.parse().map_err(wrong)?),
        _ if !document.is_own() => return Err(NO_RESULT.to_owned()),
        _ => {}
    }
    Ok(())
}

/// What a history needs of a record; `None` without a value of these metrics.
fn run_entry(record: &Record, file: PathBuf, start: PathBuf, terms: &HistoryTerms) -> Option<RunEntry> {
    let metrics = metrics_of(record.workload.kind(), terms);
    let values: Vec<_> =
        metrics.into_iter().filter_map(|metric| Some((metric, metric.of_record(record)?))).collect();
    let environment = &record.environment;
    let group = Group {
        subject: subject(record),
        workload: described(&crowd(record), &describe_workload(&record.workload)),
        machine: Some(machine(environment.cpu_model.as_deref(), environment.cpus)),
    };
    let entry = RunEntry {
        group,
        label: label(record),
        at: record.started_at.clone(),
        number: record.number,
        file,
        start,
        values,
    };
    (!entry.values.is_empty()).then_some(entry)
}

/// The metrics of a workload's records that the history shows.
fn metrics_of(kind: WorkloadKind, terms: &HistoryTerms) -> Vec<&'static Metric> {
    if !terms.metrics.is_empty() {
        return terms.metrics.iter().copied().filter(|metric| metric.workloads.contains(kind)).collect();
    }
    let compared = METRICS.iter().filter(|metric| metric.is_compared && metric.workloads.contains(kind));
    compared.map(|metric| metric.in_unit_of(kind)).collect()
}

/// The platform with all that is set about it, without versions: these change over time.
fn subject(record: &Record) -> String {
    let platform = &record.platform;
    let mut parts = vec![platform.name.clone()];
    if !platform.transport.is_plain() {
        parts.push(platform.transport.to_string());
    }
    parts.extend(platform.knobs.iter().map(|(name, value)| format!("{name}={value}")));
    parts.extend(record.environment.scheduler.as_ref().map(|one| format!("scheduler {}", one.name)));
    parts.join(", ")
}

fn crowd(record: &Record) -> String {
    let crowd = &record.crowd;
    let knobs = crowd.knobs.iter().map(|(name, value)| format!(", {name}={value}"));
    std::iter::once(crowd.kind.name().to_owned()).chain(knobs).collect()
}

fn described(crowd: &str, workload: &str) -> String {
    format!("{workload}; crowd {crowd}")
}

/// A machine, as texts name it.
pub(super) fn machine(cpu_model: Option<&str>, cpus: u32) -> String {
    format!("{}, CPUs: {cpus}", cpu_model.unwrap_or("CPU of unknown model"))
}

/// The build that was measured: the label that was given, or the commit or build of Klatch for a server that is part of it; else the day.
fn label(record: &Record) -> String {
    let options = record.options.as_ref();
    if let Some(label) = options.and_then(|options| options.label.as_ref()) {
        return label.clone();
    }
    let is_foreign = record.platform.version.is_some()
        || options.is_none_or(|options| options.catalog.is_some() || options.target.is_some());
    if is_foreign { day(&record.started_at) } else { build_label(&record.klatch, &record.started_at) }
}

/// The commit of a build, or its id; the day if it has neither.
pub(super) fn build_label(build: &klatch_record::Build, started_at: &str) -> String {
    let commit = build.commit.as_ref().filter(|_| build.has_source());
    let id = build.build_id.as_ref().map(|id| format!("build {}", id.get(..12).unwrap_or(id)));
    commit.cloned().or(id).unwrap_or_else(|| day(started_at))
}

/// The day of a time in RFC 3339.
pub(super) fn day(started_at: &str) -> String {
    started_at.get(..10).unwrap_or(started_at).to_owned()
}
