//! `klatch browse`: an HTTP server for the results folder, on loopback only.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Context;
use clap::Args;
use klatch_report::viewer::{Answer, Loopback, announced};
use klatch_report::{Entry, IndexFilter, history_page, html, index};
use klatch_study::history::{HistoryError, HistoryOrder, HistoryTerms, history};
use percent_encoding::percent_decode_str;

use crate::history::{POINTS, SIGNIFICANCE};
use crate::output::print_line;
use crate::report::{report_of, report_side_by_side};

/// Browse the results folder on loopback
///
/// Serves an index of the results, newest first, with search and filters, reports of one or two of them, and metrics over time. A run with --web that writes
/// into the folder can be watched from there. Ctrl-C ends it.
#[derive(Args)]
pub(crate) struct Browse {
    /// Folder with the results
    #[arg(default_value = "results", value_name = "DIR")]
    results: PathBuf,
    /// Port on 127.0.0.1; 0 selects a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

impl Browse {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        folders(&self.results)?;
        let loopback = Loopback::bind(self.port)?;
        print_line(loopback.url());
        crate::output::finish()?;
        // One page is made at a time, by all CPUs. No client is waited for meanwhile.
        let known = Mutex::new(Known::default());
        loopback.serve(move |request| {
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            match self.page(&request.target, &known) {
                Ok(Some(html)) => Answer::html(html),
                Ok(None) => Answer::text(404, "no such page; start at /"),
                Err(error) => Answer::text(500, &format!("{error:#}")),
            }
        });
        Ok(ExitCode::SUCCESS)
    }

    /// The page at this URL; `None` if there is none.
    fn page(&self, url: &str, known: &Known) -> anyhow::Result<Option<String>> {
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
                (Some(a), Some(b)) if a != b => Ok(Some(html(&report_side_by_side(&a, &b)?)?)),
                _ => {
                    let problem = Some("Select one result as base and another as change.");
                    self.index(known, &IndexFilter::default(), problem).map(Some)
                }
            },
            path => {
                let Some(name) = path.strip_prefix("/report/") else { return Ok(None) };
                let name = percent_decode_str(name).decode_utf8_lossy();
                let Some(folder) = self.folder(&name)? else { return Ok(None) };
                Ok(Some(html(&report_of(&folder)?)?))
            }
        }
    }

    fn index(&self, known: &Known, filter: &IndexFilter, problem: Option<&str>) -> anyhow::Result<String> {
        let entries = known.read(&self.results, folders(&self.results)?);
        let running = announced(&self.results);
        Ok(index(&entries, filter, &running, &self.results.display().to_string(), problem)?)
    }

    fn history(&self) -> anyhow::Result<String> {
        let terms = HistoryTerms {
            metrics: Vec::new(),
            order: HistoryOrder::Time,
            points_max: POINTS as usize,
            significance: SIGNIFICANCE,
        };
        let found = match history(std::slice::from_ref(&self.results), &terms) {
            Err(HistoryError::Empty { .. }) => None,
            found => Some(found?),
        };
        Ok(history_page(found.as_ref(), &self.results)?)
    }

    /// The folder of this name. Only direct children of the results folder match, so a name cannot escape it.
    fn folder(&self, name: &str) -> anyhow::Result<Option<PathBuf>> {
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
fn folders(results: &Path) -> anyhow::Result<Vec<String>> {
    let entries = std::fs::read_dir(results)
        .with_context(|| format!("cannot read {}; name the folder of the results", results.display()))?;
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(folders.filter_map(|entry| entry.file_name().into_string().ok()).collect())
}
