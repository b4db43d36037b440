//! The index page of `klatch browse`: all results, with search, filters and the comparison of any two.

use std::collections::BTreeSet;

use askama::Template;
use klatch_record::Status;

use super::entry::{Entry, EntryKind};
use crate::number::{grouped, three_digits, time};
use crate::strokes::spark;
use crate::write::{HtmlError, STYLE, policy, show};

/// Results on one page. More are slow to draw, and nobody reads on.
const ROWS: usize = 200;

/// Which results are listed. Empty texts admit all.
#[derive(Clone, Debug, Default)]
pub struct IndexFilter {
    /// Words that must all occur in name, question or folder.
    pub words: String,
    /// Name of a platform.
    pub platform: String,
    /// Name of a study.
    pub study: String,
    /// Number of the page, from 1; 0 counts as 1.
    pub page: usize,
}

impl IndexFilter {
    fn admits(&self, entry: &Entry) -> bool {
        let is_platform = self.platform.is_empty() || entry.platforms.contains(&self.platform);
        let is_study = self.study.is_empty() || (entry.kind == EntryKind::Study && entry.name == self.study);
        is_platform && is_study && entry.holds(&self.words)
    }
}

#[derive(Template)]
#[template(path = "index.html")]
struct Page<'a> {
    rows: Vec<Row<'a>>,
    admitted: usize,
    all: usize,
    first: usize,
    filter: &'a IndexFilter,
    page: usize,
    pages: usize,
    platforms: BTreeSet<&'a str>,
    studies: BTreeSet<&'a str>,
    running: &'a [String],
    place: &'a str,
    problem: Option<&'a str>,
    policy: String,
    style: &'static str,
}

/// A result as the page shows it.
struct Row<'a> {
    entry: &'a Entry,
    score: String,
    cpu: String,
    p99: String,
    spark: String,
    verdict: Option<(&'static str, &'static str)>,
}

impl<'a> Row<'a> {
    fn new(entry: &'a Entry) -> Row<'a> {
        let shown = |value: Option<f64>, text: fn(f64) -> String| value.map(text).unwrap_or_default();
        let score = shown(entry.score, |score| grouped(score.round() as u64));
        Row {
            entry,
            score: if score.is_empty() { score } else { format!("{score} {}s/s", entry.unit) },
            cpu: shown(entry.cpu_us, |us| format!("{} µs", three_digits(us))),
            p99: shown(entry.p99_us, time),
            spark: spark(&entry.values),
            verdict: entry.verdict.map(|status| match (status, entry.kind) {
                (Status::Valid, EntryKind::Runs) => ("good", "valid"),
                (Status::Valid, _) => ("good", "complete"),
                (Status::Unknown, EntryKind::Study) => ("fair", "not finished"),
                (Status::Unknown, _) => ("fair", "unknown"),
                (Status::Invalid, EntryKind::Runs) => ("bad", "invalid"),
                (Status::Invalid, _) => ("bad", "failed"),
            }),
        }
    }
}

/// The index page of these entries, newest first, as far as the filter admits them. `running` are addresses at which runs can be watched
/// now; `place` is the folder; `problem` is an error message at the top.
///
/// # Errors
/// Rendering the template failed.
pub fn index(
    entries: &[Entry],
    filter: &IndexFilter,
    running: &[String],
    place: &str,
    problem: Option<&str>,
) -> Result<String, HtmlError> {
    let mut admitted: Vec<&Entry> = entries.iter().filter(|entry| filter.admits(entry)).collect();
    admitted.sort_by(|a, b| (&b.started_at, &b.folder).cmp(&(&a.started_at, &a.folder)));
    let pages = admitted.len().div_ceil(ROWS).max(1);
    let page = filter.page.clamp(1, pages);
    let first = (page - 1) * ROWS;
    let is_study = |entry: &&Entry| entry.kind == EntryKind::Study && !entry.question.is_empty();
    let page = Page {
        rows: admitted.iter().skip(first).take(ROWS).map(|entry| Row::new(entry)).collect(),
        admitted: admitted.len(),
        all: entries.len(),
        first: first + 1,
        filter,
        page,
        pages,
        platforms: entries.iter().flat_map(|entry| &entry.platforms).map(String::as_str).collect(),
        studies: entries.iter().filter(is_study).map(|entry| entry.name.as_str()).collect(),
        running,
        place,
        problem,
        policy: policy(&[]).replace("form-action 'none'", "form-action 'self'"),
        style: STYLE,
    };
    Ok(page.render()?)
}
