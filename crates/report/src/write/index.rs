//! The index page of `klatch open`: all results, with search and the comparison of any two.

use askama::Template;
use klatch_record::CellStatus;

use super::HtmlError;
use super::html::{STYLE, policy};
use super::show;
use crate::read::Source;

/// Summary of a result folder.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the folder.
    pub folder: String,
    /// Name of the study or platform.
    pub name: String,
    /// Question of the study; empty for single runs.
    pub question: String,
    /// Start of the first run, RFC 3339 in UTC.
    pub started_at: String,
    /// Number of cells or runs, and failures.
    pub summary: String,
}

impl Entry {
    /// Summarises the content of a folder.
    pub fn new(folder: &str, source: &Source) -> Entry {
        let record = source.runs.first().map(|run| &run.record);
        let (name, question, started_at, summary) = match (&source.result, record) {
            (Some(result), _) => {
                let failed = result.cells.iter().filter(|cell| cell.status == CellStatus::Failed).count();
                let failed = if failed == 0 { String::new() } else { format!(", {failed} failed") };
                let summary = format!("{} cells{failed}", result.cells.len());
                (result.name.clone(), result.question.clone(), result.started_at.clone(), summary)
            }
            (None, Some(record)) => {
                let what = if source.study_file.is_some() { "not finished, " } else { "" };
                let summary = format!("{what}{} runs", source.runs.len());
                (record.platform.name.clone(), String::new(), record.started_at.clone(), summary)
            }
            (None, None) => {
                (folder.to_owned(), String::new(), String::new(), "nothing measured yet".to_owned())
            }
        };
        Entry { folder: folder.to_owned(), name, question, started_at, summary }
    }

    /// Whether the entry contains all of these words; case is ignored.
    pub fn holds(&self, words: &str) -> bool {
        let text = format!("{} {} {} {}", self.folder, self.name, self.question, self.summary).to_lowercase();
        words.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

#[derive(Template)]
#[template(path = "index.html")]
struct Page<'a> {
    entries: &'a [Entry],
    words: &'a str,
    place: &'a str,
    problem: Option<&'a str>,
    policy: String,
    style: &'static str,
}

/// The index page of these entries after a search for `words`, with `problem` as an error message at the top.
///
/// # Errors
/// Rendering the template failed.
pub fn index(
    entries: &[Entry],
    words: &str,
    place: &str,
    problem: Option<&str>,
) -> Result<String, HtmlError> {
    let policy = policy(&[]).replace("form-action 'none'", "form-action 'self'");
    Ok(Page { entries, words, place, problem, policy, style: STYLE }.render()?)
}
