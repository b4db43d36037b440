//! The JSON documents of results: one in a file, or one after another, as `--json` prints them.

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::Record;

/// The path that stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// What is wrong with a document of something else.
pub const NO_RESULT: &str = "it has no `schema` of Klatch";

/// File with the seed and options of a study, written at its start.
pub const BEGUN: &str = "begun.json";
/// File with the cause of a visit that failed.
pub const FAILURE: &str = "failure.json";
/// File with the outcome of a boot of the lab.
pub const BOOT: &str = "trial.json";
/// File with the claims of a simulated study under other costs.
pub const SENSITIVITY: &str = "sensitivity.json";
/// File with what a scheduler reported in the lab.
pub const SCHEDULER: &str = "scheduler.json";
/// File with counts of the lab.
pub const COUNTERS: &str = "counters.json";
/// Ending of the names of files with folded stacks.
pub const FOLDED: &str = "folded";
/// Files with the stacks of both sides of a duet.
pub const STACKS_OF_SIDES: [&str; 2] = ["a.folded", "b.folded"];
/// Beginning of the name of a file with a start of a pair in a study of duets; its number follows.
pub const START_OF_PAIR: &str = "start-";

/// Files without a schema that Klatch itself leaves beside results.
const BESIDE_RESULTS: [&str; 6] = [BEGUN, FAILURE, BOOT, SENSITIVITY, SCHEDULER, COUNTERS];

/// A JSON document with the place where it was found.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file, or `-`.
    pub file: PathBuf,
    /// Its number from 1 in a file with several documents.
    pub number: Option<usize>,
    /// Its field `schema`, if that is a text.
    pub schema: Option<String>,
    /// The JSON.
    pub text: String,
}

impl Document {
    /// The file, with the number of the document where there are several: `runs.jsonl:3`.
    pub fn place(&self) -> PathBuf {
        match self.number {
            None => self.file.clone(),
            Some(number) => PathBuf::from(format!("{}:{number}", self.file.display())),
        }
    }

    /// Whether Klatch has written it.
    pub fn is_own(&self) -> bool {
        match &self.schema {
            Some(schema) => schema.starts_with("klatch-"),
            None => {
                let name = self.file.file_name().unwrap_or_default().to_string_lossy();
                BESIDE_RESULTS.contains(&&*name) || name.starts_with(START_OF_PAIR)
            }
        }
    }

    /// What it holds.
    ///
    /// # Errors
    /// It is JSON of something else.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.text)
    }
}

/// A file, or the rest of one, that is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file, with the number of the document in it where there are several.
    pub place: PathBuf,
    /// What is wrong with it.
    pub cause: String,
}

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is skipped: {}", self.place.display(), self.cause)
    }
}

/// All documents in a file or folder, in the order of their paths, and what else there was.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// The documents.
    pub all: Vec<Document>,
    /// Files that hold none, and documents that are of no use.
    pub skipped: Vec<Skipped>,
}

impl Documents {
    /// Reads a file, standard input (`-`), or the files `.json` and `.jsonl` in a folder and its subfolders. What is not JSON, and in
    /// a folder what Klatch has not written, is skipped.
    ///
    /// # Errors
    /// The file or folder itself cannot be read.
    pub fn read(path: &Path) -> io::Result<Documents> {
        let mut documents = Documents::default();
        if path.is_dir() {
            documents.below(path)?;
            documents.leave_out_foreign();
        } else {
            documents.add(path, &bytes(path)?);
        }
        Ok(documents)
    }

    /// Notes that a document is of no use.
    pub fn skip(&mut self, document: &Document, cause: impl ToString) {
        self.skipped.push(Skipped { place: document.place(), cause: cause.to_string() });
    }

    /// Reads a folder recursively. Links are not followed, as `latest` is one.
    fn below(&mut self, folder: &Path) -> io::Result<()> {
        let mut entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type()?);
            let is_named = path.extension().is_some_and(|it| it == "json" || it == "jsonl");
            let read = match kind {
                kind if kind.is_dir() => self.below(&path),
                kind if kind.is_file() && is_named => bytes(&path).map(|bytes| self.add(&path, &bytes)),
                _ => Ok(()),
            };
            if let Err(error) = read {
                self.skipped.push(Skipped { place: path, cause: error.to_string() });
            }
        }
        Ok(())
    }

    fn add(&mut self, file: &Path, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let (found, error) = split(&text);
        let several = found.len() + usize::from(error.is_some()) > 1;
        let number = |at: usize| several.then_some(at + 1);
        let count = found.len();
        for (at, (range, head)) in found.into_iter().enumerate() {
            let schema = head.schema.and_then(|schema| schema.as_str().map(str::to_owned));
            let text = text[range].to_owned();
            self.all.push(Document { file: file.to_owned(), number: number(at), schema, text });
        }
        let cause = match error {
            Some(error) if error.is_data() => NO_RESULT.to_owned(),
            Some(error) => format!("it is not JSON: {error}"),
            None if count == 0 => "it is empty".to_owned(),
            None => return,
        };
        let rest =
            Document { file: file.to_owned(), number: number(count), schema: None, text: String::new() };
        self.skip(&rest, cause);
    }

    fn leave_out_foreign(&mut self) {
        let (own, foreign) = std::mem::take(&mut self.all).into_iter().partition(Document::is_own);
        self.all = own;
        for document in &foreign {
            self.skip(document, NO_RESULT);
        }
    }
}

/// The field that distinguishes the kinds of documents.
#[derive(serde::Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
}

/// The places and heads of the documents in a text, and what ended it before its end.
fn split(text: &str) -> (Vec<(Range<usize>, Head)>, Option<serde_json::Error>) {
    let mut found = Vec::new();
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Head>();
    loop {
        let start = documents.byte_offset();
        match documents.next() {
            None => return (found, None),
            Some(Ok(head)) => found.push((start..documents.byte_offset(), head)),
            Some(Err(error)) => return (found, Some(error)),
        }
    }
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    if path.as_os_str() != STANDARD_INPUT {
        return std::fs::read(path);
    }
    let mut all = Vec::new();
    io::stdin().lock().read_to_end(&mut all)?;
    Ok(all)
}

/// The places of two records that are equal: no two runs begin at the same time with the same result, so one is a copy.
pub fn same_record<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<(usize, usize)> {
    let mut seen = std::collections::BTreeMap::<&str, Vec<(usize, &Record)>>::new();
    for (at, record) in records.into_iter().enumerate() {
        let alike = seen.entry(record.started_at.as_str()).or_default();
        if let Some((other, _)) = alike.iter().find(|(_, other)| *other == record) {
            return Some((*other, at));
        }
        alike.push((at, record));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> (Vec<String>, Vec<String>) {
        let documents = Documents::read(path).unwrap();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let all = documents.all.iter().map(|one| name(&one.place())).collect();
        let skipped = documents.skipped.iter().map(|it| format!("{} {}", name(&it.place), it.cause));
        (all, skipped.collect())
    }

    #[test]
    fn a_folder_yields_results_and_names_all_others() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::create_dir(folder.path().join("below")).unwrap();
        write("a.json", "{\n \"schema\": \"klatch-record/2\"\n}\n");
        write("begun.json", "{}");
        write("start-001.json", "{}");
        write(
            "below/runs.jsonl",
            "{\"schema\":\"klatch-record/2\"}\n{\"schema\":\"klatch-record/2\"}\n{\"sch",
        );
        write("empty.json", "");
        write("foreign.json", "{\"name\": \"package\"}");
        write("list.json", "[1]");
        write("notes.txt", "no JSON");
        write("other.json", "{\"schema\": \"https://example.net/x\"}");
        write("truncated.json", "{\"schema\": \"klatch-rec");
        let (all, skipped) = read(folder.path());
        assert_eq!(all, ["a.json", "begun.json", "runs.jsonl:1", "runs.jsonl:2", "start-001.json"]);
        let skipped: Vec<&str> = skipped.iter().map(|text| text.split(" at line").next().unwrap()).collect();
        assert_eq!(
            skipped,
            [
                "runs.jsonl:3 it is not JSON: EOF while parsing a string",
                "empty.json it is empty",
                "truncated.json it is not JSON: EOF while parsing a string",
                "foreign.json it has no `schema` of Klatch",
                "list.json it has no `schema` of Klatch",
                "other.json it has no `schema` of Klatch",
            ]
        );
    }

    #[test]
    fn a_file_that_was_named_may_hold_anything_in_json() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, "{\"a\": 1}").unwrap();
        let documents = Documents::read(&file).unwrap();
        assert_eq!((documents.all.len(), documents.all[0].number, documents.skipped.len()), (1, None, 0));
        assert!(Documents::read(&folder.path().join("none")).is_err());
    }
}
