//! The page of `klatch open`: all results, with search and comparison of any two.

use askama::Template;
use klatch_record::CellStatus;

use super::HtmlError;
use super::html::{STYLE, policy};
use super::show;
use crate::read::Source;

/// A result folder in short.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The folder's name.
    pub folder: String,
    /// The name of the study or platform.
    pub name: String,
    /// The question of a study.
    pub question: String,
    /// When it began.
    pub started_at: String,
    /// What came of it, in words.
    pub says: String,
}

impl Entry {
    /// In short what a folder holds.
    pub fn of(folder: &str, source: &Source) -> Entry {
        let record = source.runs.first().map(|run| &run.record);
        let (name, question, started_at, says) = match (&source.result, record) {
            (Some(result), _) => {
                let failed = result.cells.iter().filter(|cell| cell.status == CellStatus::Failed).count();
                let failed = if failed == 0 { String::new() } else { format!(", {failed} failed") };
                let says = format!("{} cells{failed}", result.cells.len());
                (result.name.clone(), result.question.clone(), result.started_at.clone(), says)
            }
            (None, Some(record)) => {
                let what = if source.study_file.is_some() { "not finished, " } else { "" };
                let says = format!("{what}{} runs", source.runs.len());
                (record.platform.name.clone(), String::new(), record.started_at.clone(), says)
            }
            (None, None) => {
                (folder.to_owned(), String::new(), String::new(), "nothing measured yet".to_owned())
            }
        };
        Entry { folder: folder.to_owned(), name, question, started_at, says }
    }

    /// Whether all words occur in it.
    pub fn holds(&self, words: &str) -> bool {
        let text = format!("{} {} {} {}", self.folder, self.name, self.question, self.says).to_lowercase();
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

/// The index of these results, which hold `words`; `problem` is told on top.
///
/// # Errors
/// None that is known: a template that cannot be filled in.
pub fn index(
    entries: &[Entry],
    words: &str,
    place: &str,
    problem: Option<&str>,
) -> Result<String, HtmlError> {
    let policy = policy(&[]).replace("form-action 'none'", "form-action 'self'");
    Ok(Page { entries, words, place, problem, policy, style: STYLE }.render()?)
}
