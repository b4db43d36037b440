//! The pages about a results folder: its index, reports of one or two results, and metrics over time.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use klatch_record::error_chain;
use klatch_study::history::{HistoryError, HistoryTerms, history};
use percent_encoding::percent_decode_str;
use thiserror::Error;

use super::entry::Entry;
use super::history::history_page;
use super::page::{IndexFilter, index};
use crate::found::{find, report_of, report_side_by_side};
use crate::read::Source;
use crate::viewer::{Answer, announced};
use crate::write::html;

/// The folder of the results cannot be read.
#[derive(Debug, Error)]
#[error("cannot read {folder}; name the folder of the results", folder = folder.display())]
pub struct BrowseError {
    folder: PathBuf,
    source: std::io::Error,
}

/// The pages about the results in a folder.
pub struct Browser {
    results: PathBuf,
    /// Is called for results of which files are skipped.
    warn: fn(&Source),
    known: Mutex<Known>,
}

impl Browser {
    /// The pages of this folder.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn new(results: PathBuf, warn: fn(&Source)) -> Result<Browser, BrowseError> {
        folders(&results)?;
        Ok(Browser { results, warn, known: Mutex::default() })
    }

    /// The answer to a request for this URL. One page is made at a time, by all CPUs. No client is waited for meanwhile.
    pub fn answer(&self, url: &str) -> Answer {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match self.page(url, &known) {
            Ok(Some(html)) => Answer::html(html),
            Ok(None) => Answer::text(404, "no such page; start at /"),
            Err(error) => Answer::text(500, &error_chain(error.as_ref())),
        }
    }

    /// The page at this URL; `None` if there is none.
    fn page(&self, url: &str, known: &Known) -> Result<Option<String>, Box<dyn Error>> {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let parameter = |name: &str| {
            let mut pairs = form_urlencoded::parse(query.as_bytes());
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
        };
        let filter = || IndexFilter {
            words: parameter("words"),
            platform: parameter("platform"),
            study: parameter("study"),
            page: parameter("page").parse().unwrap_or(1),
        };
        match path {
            "/history" => self.history().map(Some),
            "/" => self.index(known, &filter(), None).map(Some),
            "/compare" => match (self.folder(&parameter("a"))?, self.folder(&parameter("b"))?) {
                (Some(a), Some(b)) if a != b => Ok(Some(html(&report_side_by_side(&a, &b, self.warn)?)?)),
                _ => {
                    let problem = Some("Select one result as base and another as change.");
                    self.index(known, &IndexFilter::default(), problem).map(Some)
                }
            },
            path => {
                let Some(name) = path.strip_prefix("/report/") else { return Ok(None) };
                let name = percent_decode_str(name).decode_utf8_lossy();
                let Some(folder) = self.folder(&name)? else { return Ok(None) };
                Ok(Some(html(&report_of(&folder, &find(&folder)?))?))
            }
        }
    }

    fn index(
        &self,
        known: &Known,
        filter: &IndexFilter,
        problem: Option<&str>,
    ) -> Result<String, Box<dyn Error>> {
        let entries = known.read(&self.results, folders(&self.results)?);
        let running = announced(&self.results);
        Ok(index(&entries, filter, &running, &self.results.display().to_string(), problem)?)
    }

    fn history(&self) -> Result<String, Box<dyn Error>> {
        let found = match history(std::slice::from_ref(&self.results), &HistoryTerms::default()) {
            Err(HistoryError::Empty { .. }) => None,
            found => Some(found?),
        };
        Ok(history_page(found.as_ref(), &self.results)?)
    }

    /// The folder of this name. Only direct children of the results folder match, so a name cannot escape it.
    fn folder(&self, name: &str) -> Result<Option<PathBuf>, BrowseError> {
        let known = folders(&self.results)?.iter().any(|folder| folder == name);
        Ok(known.then(|| self.results.join(name)))
    }
}

/// Results that need not be read again, with the time of their folder when they were read.
#[derive(Default)]
struct Known(Mutex<HashMap<String, (SystemTime, Entry)>>);

impl Known {
    /// The results in these folders, read by as many threads as there are CPUs. Folders without a result are left out.
    fn read(&self, results: &Path, folders: Vec<String>) -> Vec<Entry> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = folders.len().div_ceil(threads).max(1);
        let read = |names: &[String]| -> Vec<Entry> {
            names.iter().filter_map(|name| self.entry(&results.join(name), name)).collect()
        };
        std::thread::scope(|scope| {
            let readers: Vec<_> = folders.chunks(share).map(|names| scope.spawn(|| read(names))).collect();
            readers.into_iter().flat_map(|reader| reader.join().expect("reading does not panic")).collect()
        })
    }

    fn entry(&self, path: &Path, name: &str) -> Option<Entry> {
        let changed = std::fs::metadata(path).and_then(|data| data.modified()).ok()?;
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((read, entry)) = lock().get(name)
            && *read == changed
        {
            return Some(entry.clone());
        }
        let entry = Entry::read(path)?;
        if entry.is_final {
            lock().insert(name.to_owned(), (changed, entry.clone()));
        }
        Some(entry)
    }
}

/// Names of the folders in a folder, without symbolic links such as `latest`.
fn folders(results: &Path) -> Result<Vec<String>, BrowseError> {
    let entries =
        std::fs::read_dir(results).map_err(|source| BrowseError { folder: results.to_owned(), source })?;
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(folders.filter_map(|entry| entry.file_name().into_string().ok()).collect())
}
