//! One result in the index.

use std::path::{Path, PathBuf};

use klatch_record::{CellStatus, Duet, DuetEnd, Record, Role, Status, StudyResult, lab};
use klatch_stats::median;
use serde::de::DeserializeOwned;

use super::heads::{RecordHead, SchemaHead};
use crate::build::{duet_answer, study_answer};
use crate::lab::{lab_report, read_lab};
use crate::read::Run;

/// The folders of results below a study that has no result yet are this deep at most.
const DEPTH_MAX: usize = 4;

/// What a folder of results holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Name of the folder.
    pub folder: String,
    /// What kind of result it is.
    pub kind: EntryKind,
    /// Name of the study, or of what was measured.
    pub name: String,
    /// Platforms in it, sorted.
    pub platforms: Vec<String>,
    /// Question of the study; empty for others.
    pub question: String,
    /// The answer of a study or duet in a sentence; empty for runs, which have a score.
    pub answer: String,
    /// Start of the first run, RFC 3339 in UTC; empty if there is none.
    pub started_at: String,
    /// Number of cells or runs, and failures.
    pub summary: String,
    /// Median of the trials, per second; of runs only.
    pub score: Option<f64>,
    /// Name of one unit of the score.
    pub unit: String,
    /// Median CPU time per unit, server and crowd together, µs; of runs only.
    pub cpu_us: Option<f64>,
    /// Median p99 latency of the trials, µs; of runs only.
    pub p99_us: Option<f64>,
    /// The worst verdict; `None` if nothing was measured.
    pub verdict: Option<Status>,
    /// Throughput of each trial, or the mean of each cell, in their order.
    pub values: Vec<f64>,
    /// Nothing is added to it any more, so it need not be read again.
    pub is_final: bool,
}

/// The kinds of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Runs of `klatch run`.
    Runs,
    /// A study of `klatch study`.
    Study,
    /// A duet of `klatch duet`.
    Duet,
}

impl Entry {
    /// Reads the result in a folder; `None` if there is none.
    pub fn read(path: &Path) -> Option<Entry> {
        let folder = path.file_name()?.to_string_lossy().into_owned();
        if let Some(duet) = parsed::<Duet>(&path.join("duet.json")) {
            return Some(of_duet(folder, &duet));
        }
        if let Ok(Some((study, outcomes))) = read_lab(path) {
            return Some(of_lab(folder, path, &study, &outcomes));
        }
        let (mut records, mut study) = (Vec::new(), None);
        collect(path, 0, &mut records, &mut study);
        match study {
            Some(study) => Some(of_study(folder, path, study)),
            None => {
                let is_study = path.join("study.toml").is_file();
                let is_known = !records.is_empty() || path.join("begun.json").is_file();
                is_known.then(|| of_runs(folder, &mut records, is_study))
            }
        }
    }

    /// Whether the entry contains all of these words; case is ignored.
    pub fn holds(&self, words: &str) -> bool {
        let texts = [&self.folder, &self.name, &self.question, &self.answer, &self.summary];
        let text = texts.map(|text| text.to_lowercase()).join(" ");
        words.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

/// Reads the results in a folder and below it. With the result of a study, nothing else is needed.
fn collect(path: &Path, depth: usize, records: &mut Vec<RecordHead>, study: &mut Option<StudyResult>) {
    let Ok(entries) = std::fs::read_dir(path) else { return };
    let mut folders = Vec::new();
    for entry in entries.flatten() {
        // Links are not followed, as `latest` is one.
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() {
            folders.push(path);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "json") {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let Ok(SchemaHead { schema }) = serde_json::from_str(&text) else { continue };
            match schema.as_deref() {
                Some(name) if name.starts_with("klatch-record/") => {
                    records.extend(serde_json::from_str::<RecordHead>(&text).ok());
                }
                Some(name) if name.starts_with("klatch-study/") && depth == 0 => {
                    *study = serde_json::from_str(&text).ok();
                }
                _ => {}
            }
        }
    }
    if study.is_none() && depth < DEPTH_MAX {
        folders.iter().for_each(|folder| collect(folder, depth + 1, records, study));
    }
}

fn of_runs(folder: String, records: &mut [RecordHead], is_study: bool) -> Entry {
    records.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    let trials: Vec<&RecordHead> = records.iter().filter(|record| record.role == Role::Trial).collect();
    let valid: Vec<&RecordHead> =
        trials.iter().copied().filter(|record| record.verdict.status == Status::Valid).collect();
    let middle = |of: fn(&RecordHead) -> Option<f64>| {
        let values: Vec<f64> = valid.iter().filter_map(|record| of(record)).collect();
        median(&values).ok().filter(|_| !is_study)
    };
    let mut platforms: Vec<String> = records.iter().map(|record| record.platform.name.clone()).collect();
    platforms.sort();
    platforms.dedup();
    let first = records.first();
    let summary = match (is_study, records.len()) {
        (_, 0) => "nothing measured yet".to_owned(),
        (true, runs) => format!("not finished, {}", counted(runs)),
        (false, runs) => counted(runs),
    };
    let study = folder.split_once("Z-").map(|(_, name)| name.to_owned()).filter(|_| is_study);
    let worst = worst(records.iter().map(|record| record.verdict.status));
    Entry {
        name: study
            .or_else(|| first.map(|record| record.platform.name.clone()))
            .unwrap_or_else(|| folder.clone()),
        kind: if is_study { EntryKind::Study } else { EntryKind::Runs },
        platforms,
        question: String::new(),
        answer: String::new(),
        started_at: first.map(|record| record.started_at.clone()).unwrap_or_default(),
        summary,
        score: middle(|record| Some(record.per_s())),
        unit: first.map_or("message", RecordHead::unit).to_owned(),
        cpu_us: middle(RecordHead::cpu_us),
        p99_us: middle(RecordHead::p99_us),
        // What is not finished may still fail.
        verdict: worst
            .map(|status| if is_study && status == Status::Valid { Status::Unknown } else { status }),
        values: trials.iter().map(|record| record.per_s()).collect(),
        // A run's folder gets a file with each run, which changes the folder's time.
        is_final: !is_study && !records.is_empty(),
        folder,
    }
}

fn of_study(folder: String, path: &Path, study: StudyResult) -> Entry {
    let failed = study.cells.iter().filter(|cell| cell.status == CellStatus::Failed).count();
    let failures = if failed == 0 { String::new() } else { format!(", {failed} failed") };
    let mut platforms: Vec<String> =
        study.cells.iter().filter_map(|cell| cell.at.get("platform").cloned()).collect();
    platforms.sort();
    platforms.dedup();
    let means = study.cells.iter().filter_map(|cell| Some(cell.estimates.get(&study.metric)?.mean));
    let (means, cells) = (means.collect(), study.cells.len());
    let is_final = study.cells.iter().all(|cell| cell.status != CellStatus::Open);
    Entry {
        folder,
        kind: EntryKind::Study,
        name: study.name.clone(),
        platforms,
        question: study.question.clone(),
        started_at: study.started_at.clone(),
        summary: format!("{cells} cell{}{failures}", if cells == 1 { "" } else { "s" }),
        score: None,
        unit: String::new(),
        cpu_us: None,
        p99_us: None,
        verdict: (cells > 0).then_some(match failed {
            0 if is_final => Status::Valid,
            0 => Status::Unknown,
            _ => Status::Invalid,
        }),
        values: means,
        is_final,
        answer: {
            let runs = study.cells.iter().filter_map(|cell| run_of_cell(path, &cell.id)).collect();
            study_answer(study, runs)
        },
    }
}

/// A record of a cell; the first in the order of their names.
fn run_of_cell(path: &Path, cell: &str) -> Option<Run> {
    fn first(folder: &Path, depth: usize) -> Option<(Record, PathBuf)> {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.into_iter().find_map(|path| match path.is_dir() {
            true if depth < DEPTH_MAX => first(&path, depth + 1),
            true => None,
            false if path.extension().is_some_and(|extension| extension == "json") => {
                Some((parsed(&path)?, path))
            }
            false => None,
        })
    }
    let (record, file) = first(&path.join("cells").join(cell), 0)?;
    Some(Run { record, file, cell: Some(cell.to_owned()) })
}

fn of_lab(folder: String, path: &Path, study: &lab::Study, outcomes: &[lab::Outcome]) -> Entry {
    let failed = outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
    let failures = if failed == 0 { String::new() } else { format!(", {failed} failed") };
    Entry {
        started_at: start_of(&folder),
        folder,
        kind: EntryKind::Study,
        name: study.name.clone(),
        platforms: Vec::new(),
        question: study.question.clone(),
        answer: lab_report(path, study, outcomes).answer,
        summary: format!("lab, {} boots{failures}", outcomes.len()),
        score: None,
        unit: String::new(),
        cpu_us: None,
        p99_us: None,
        verdict: Some(if failed == 0 { Status::Valid } else { Status::Invalid }),
        values: Vec::new(),
        // More boots may follow.
        is_final: false,
    }
}

/// The time at the start of a folder's name, such as `2026-01-01T00-00-00Z-cost`, as RFC 3339; empty if there is none.
fn start_of(folder: &str) -> String {
    let time = folder.split_once("Z-").map(|(time, _)| time).and_then(|time| time.split_once('T'));
    time.map_or_else(String::new, |(day, time)| format!("{day}T{}Z", time.replace('-', ":")))
}

fn of_duet(folder: String, duet: &Duet) -> Entry {
    let (a, b) = (&duet.a.platform, &duet.b.platform);
    let (summary, verdict) = match &duet.end {
        DuetEnd::Complete | DuetEnd::Hopeless { .. } => ("duet", Status::Valid),
        DuetEnd::Interrupted => ("duet, interrupted", Status::Unknown),
        DuetEnd::Failed { .. } => ("duet, failed", Status::Invalid),
    };
    Entry {
        folder,
        kind: EntryKind::Duet,
        name: format!("{a} and {b}"),
        platforms: if a == b { vec![a.clone()] } else { vec![a.clone(), b.clone()] },
        question: String::new(),
        answer: duet_answer(duet),
        started_at: duet.started_at.clone(),
        summary: summary.to_owned(),
        score: None,
        unit: String::new(),
        cpu_us: None,
        p99_us: None,
        verdict: Some(verdict),
        values: Vec::new(),
        is_final: true,
    }
}

fn counted(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

fn worst(verdicts: impl Iterator<Item = Status>) -> Option<Status> {
    verdicts.max_by_key(|status| match status {
        Status::Valid => 0,
        Status::Unknown => 1,
        Status::Invalid => 2,
    })
}

fn parsed<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use klatch_record::samples::record;
    use klatch_record::{Cause, Reason, Verdict};

    use super::*;

    fn write(folder: &Path, name: &str, record: &Record) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, serde_json::to_string(record).unwrap()).unwrap();
    }

    #[test]
    fn runs_show_the_median_of_the_valid_trials_and_the_worst_verdict() {
        let folder = tempfile::tempdir().unwrap();
        for (number, per_s) in [(1, 50_000.0), (2, 52_000.0), (3, 51_000.0)] {
            write(folder.path(), &format!("trial-{number}.json"), &record(number, number, per_s));
        }
        let warm_up = Record { role: Role::WarmUp, ..record(1, 0, 9_000.0) };
        write(folder.path(), "warm-up-1.json", &warm_up);
        let entry = Entry::read(folder.path()).unwrap();
        assert_eq!(
            (entry.kind, entry.summary.as_str(), entry.score),
            (EntryKind::Runs, "4 runs", Some(51_000.0))
        );
        assert_eq!((entry.values.len(), entry.verdict, entry.is_final), (3, Some(Status::Valid), true));
        let lost = Verdict::from_reasons(vec![Reason::new(Cause::Crowd, "a message was lost")]);
        let invalid = Record { verdict: lost, ..record(4, 4, 99_000.0) };
        write(folder.path(), "trial-4.json", &invalid);
        let entry = Entry::read(folder.path()).unwrap();
        assert_eq!((entry.score, entry.verdict), (Some(51_000.0), Some(Status::Invalid)));
    }

    #[test]
    fn an_unfinished_study_has_no_score_and_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("study.toml"), "").unwrap();
        write(folder.path(), "cells/rooms-5/block-001/trial-1.json", &record(1, 0, 50_000.0));
        let entry = Entry::read(folder.path()).unwrap();
        assert_eq!((entry.kind, entry.score, entry.is_final), (EntryKind::Study, None, false));
        assert_eq!(entry.summary, "not finished, 1 run");
        assert_eq!(entry.verdict, Some(Status::Unknown), "it may still fail");
        let named = folder.path().join("2026-01-01T00-00-00Z-knee");
        write(&named, "cells/rooms-5/block-001/trial-1.json", &record(1, 0, 50_000.0));
        std::fs::write(named.join("study.toml"), "").unwrap();
        assert_eq!(Entry::read(&named).unwrap().name, "knee");
    }

    #[test]
    fn a_folder_without_results_is_no_entry() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("notes.json"), "{ \"a\": 1 }").unwrap();
        std::fs::write(folder.path().join("broken.json"), "{").unwrap();
        assert_eq!(Entry::read(folder.path()), None);
        std::fs::write(folder.path().join("begun.json"), "{}").unwrap();
        assert_eq!(Entry::read(folder.path()).unwrap().summary, "nothing measured yet");
    }
}
