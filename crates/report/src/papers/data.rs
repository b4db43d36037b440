//! The files in `research/papers/`: one for each paper, with all its results and a verdict on each.

use std::collections::BTreeSet;

use include_dir::{Dir, include_dir};
use serde::Deserialize;
use thiserror::Error;

use super::ratio::Ratio;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../research/papers");

/// The reason why a file of a paper cannot be used.
#[derive(Debug, Error)]
pub enum PapersError {
    /// The file does not have the form of a paper.
    #[error("research/papers/{file}: {source}")]
    Form {
        /// Name of the file.
        file: String,
        /// The error, with line and column.
        source: Box<toml::de::Error>,
    },
    /// A result contradicts itself, or lacks something.
    #[error("research/papers/{file}, result {number}: {cause}")]
    Result {
        /// Name of the file.
        file: String,
        /// Number of the result.
        number: String,
        /// What is wrong, and what to write instead.
        cause: String,
    },
}

/// A paper with its results.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Authors, title, place and year.
    pub(super) paper: String,
    /// Short name for the table, such as authors and year.
    pub(super) short: String,
    #[serde(rename = "result")]
    pub(super) results: Vec<PaperResult>,
}

/// A published result, what Klatch found, and the verdict.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PaperResult {
    /// Number in the table: digits, and a letter for an addition.
    pub(super) number: String,
    /// Figure or table of the paper, if it has one.
    pub(super) place: Option<String>,
    /// The quantity that the paper reports.
    pub(super) quantity: String,
    /// The published value, in words and numbers.
    pub(super) published: String,
    pub(super) verdict: PaperVerdict,
    /// Kinds of evidence that the verdict depends on.
    #[serde(default)]
    pub(super) rests_on: BTreeSet<Evidence>,
    /// What differs, or why the result is not reproduced.
    pub(super) because: Option<String>,
    /// Commands that produce the findings again.
    #[serde(default)]
    pub(super) commands: Vec<String>,
    #[serde(default, rename = "finding")]
    pub(super) findings: Vec<Finding>,
}

/// A result of Klatch, quoted from a committed file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Finding {
    pub(super) kind: Evidence,
    /// Path relative to the root of the repository.
    pub(super) file: String,
    /// Passages of the file. They contain every number of `text` and `ratios`.
    pub(super) quotes: Vec<String>,
    /// The finding in a sentence.
    pub(super) text: String,
    #[serde(default)]
    pub(super) ratios: Vec<Ratio>,
}

/// How Klatch obtained a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Evidence {
    /// On a real machine, by its clocks.
    Measured,
    /// In the lab, whose clock counts instructions.
    Emulated,
    /// In the simulator, with priced operations.
    Simulated,
    /// By Klatch's definition of a workload or rule, which is the paper's.
    Defined,
}

impl Evidence {
    pub(super) const ALL: [Evidence; 4] =
        [Evidence::Measured, Evidence::Emulated, Evidence::Simulated, Evidence::Defined];

    /// The word that stands beside every number of this kind.
    pub(super) fn name(self) -> &'static str {
        match self {
            Evidence::Measured => "measured",
            Evidence::Emulated => "emulated",
            Evidence::Simulated => "simulated",
            Evidence::Defined => "defined",
        }
    }
}

/// How Klatch's result compares with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PaperVerdict {
    Reproduced,
    InShape,
    NotReproduced,
    CannotBeHad,
}

impl PaperVerdict {
    pub(super) const ALL: [PaperVerdict; 4] = [
        PaperVerdict::Reproduced,
        PaperVerdict::InShape,
        PaperVerdict::NotReproduced,
        PaperVerdict::CannotBeHad,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            PaperVerdict::Reproduced => "reproduced",
            PaperVerdict::InShape => "reproduced in shape",
            PaperVerdict::NotReproduced => "not reproduced",
            PaperVerdict::CannotBeHad => "cannot be had here",
        }
    }

    /// Whether the result is reproduced, at least in shape.
    pub(super) fn is_positive(self) -> bool {
        matches!(self, PaperVerdict::Reproduced | PaperVerdict::InShape)
    }
}

/// The papers that are compiled into Klatch, in the order of their first results.
///
/// # Errors
/// A file is malformed, or a verdict lacks its evidence or its reason.
pub fn shipped_papers() -> Result<Vec<Paper>, PapersError> {
    let mut papers = Vec::new();
    for file in FILES.files().filter(|file| file.path().extension().is_some_and(|name| name == "toml")) {
        papers.push(parse(&file.path().to_string_lossy(), file.contents_utf8().unwrap_or_default())?);
    }
    papers.sort_by(|a: &Paper, b: &Paper| a.first_position().cmp(&b.first_position()));
    Ok(papers)
}

/// Parses the file of a paper.
pub(super) fn parse(file: &str, text: &str) -> Result<Paper, PapersError> {
    let form = |source| PapersError::Form { file: file.to_owned(), source: Box::new(source) };
    let paper: Paper = toml::from_str(text).map_err(form)?;
    for result in &paper.results {
        if let Some(cause) = result.contradiction() {
            return Err(PapersError::Result { file: file.to_owned(), number: result.number.clone(), cause });
        }
    }
    Ok(paper)
}

impl Paper {
    /// Position of its first result in the table.
    fn first_position(&self) -> Option<(u32, &str)> {
        self.results.first().map(PaperResult::position)
    }
}

impl PaperResult {
    /// Position in the table: `38b` follows `38`.
    pub(super) fn position(&self) -> (u32, &str) {
        let (number, letter) = split(&self.number);
        (number.parse().unwrap_or(u32::MAX), letter)
    }

    fn contradiction(&self) -> Option<String> {
        let (number, letter) = split(&self.number);
        if number.parse::<u32>().is_err() || letter.len() > 1 {
            return Some("the number needs digits and at most one letter".to_owned());
        }
        if self.verdict.is_positive() == self.rests_on.is_empty() {
            return Some(format!(
                "`{}` and an evidence of {} kinds",
                self.verdict.name(),
                self.rests_on.len()
            ));
        }
        if self.verdict != PaperVerdict::Reproduced && self.because.is_none() {
            return Some(format!("`{}` needs a reason: add `because`", self.verdict.name()));
        }
        let has = |kind: &Evidence| self.findings.iter().any(|finding| finding.kind == *kind);
        if let Some(kind) = self.rests_on.iter().find(|kind| !has(kind)) {
            return Some(format!("the verdict rests on a {} finding, and there is none", kind.name()));
        }
        let ratios = self.findings.iter().flat_map(|finding| &finding.ratios);
        let malformed = ratios.into_iter().find(|ratio| ratio.value().is_none());
        malformed.map(|ratio| {
            format!("`{}` over `{}` is no ratio: write numbers as quoted", ratio.found, ratio.published)
        })
    }
}

fn split(number: &str) -> (&str, &str) {
    number.split_at(number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len()))
}
