//! The files in `research/papers/`: one for each paper, with all its results and a verdict on each.
//!
//! A paper has results, which people judged from what Klatch measured, emulated or simulated, and results of the simulated machine,
//! whose verdict follows from a band.

use std::collections::BTreeSet;

use include_dir::{Dir, include_dir};
use serde::Deserialize;
use thiserror::Error;

use super::ratio::{FACTOR, Ratio};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/papers");

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
    #[serde(default, rename = "result")]
    pub(super) results: Vec<PaperResult>,
    /// Results of the simulated machine, which a test computes anew.
    #[serde(default)]
    pub(super) simulated: Vec<SimulatedResult>,
}

/// A published result beside that of the simulated machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedResult {
    /// Number, which joins it with the code that computes it.
    pub number: u32,
    /// The quantity, and the machine on which it was measured.
    pub quantity: String,
    /// The published value, with its unit.
    pub published: String,
    /// The deviation that is accepted.
    pub band: String,
    /// A cost was fitted to it, so meeting it proves nothing.
    #[serde(default)]
    pub calibrated: bool,
    /// The simulated value.
    pub found: String,
    /// Whether all numbers of `found` are within the band.
    pub verdict: BandVerdict,
}

/// How a simulated result compares with a published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BandVerdict {
    /// All numbers are within the band.
    Within,
    /// A number is outside the band.
    Outside,
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
    /// The published value, in few words and numbers.
    pub(super) published: String,
    /// What else was published.
    pub(super) detail: Option<String>,
    /// What Klatch found, in few words; absent if there is no finding.
    pub(super) found: Option<String>,
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
            PaperVerdict::InShape => "in shape",
            PaperVerdict::NotReproduced => "not reproduced",
            PaperVerdict::CannotBeHad => "not available",
        }
    }

    /// The condition of the verdict.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            PaperVerdict::Reproduced => {
                "the number agrees within the paper's own range or a factor of 1.25, or the rule is the same"
            }
            PaperVerdict::InShape => {
                "direction and form agree, the size does not, or only a part of the result is covered"
            }
            PaperVerdict::NotReproduced => "Klatch's result differs, or evidence is missing",
            PaperVerdict::CannotBeHad => {
                "the result needs hardware, programs or kernels that neither this machine nor the lab has"
            }
        }
    }

    /// Whether the result is reproduced, at least in shape.
    pub(super) fn is_positive(self) -> bool {
        matches!(self, PaperVerdict::Reproduced | PaperVerdict::InShape)
    }
}

/// All papers, in the order of their first results; those with simulated results only are the last.
///
/// # Errors
/// A file is malformed, or a verdict lacks its evidence or its reason.
pub fn load() -> Result<Vec<Paper>, PapersError> {
    let mut papers = Vec::new();
    for file in FILES.files().filter(|file| file.path().extension().is_some_and(|name| name == "toml")) {
        papers.push(parse(&file.path().to_string_lossy(), file.contents_utf8().unwrap_or_default())?);
    }
    papers.sort_by(|a: &Paper, b: &Paper| a.first_position().cmp(&b.first_position()));
    Ok(papers)
}

/// The results of the simulated machine, in the order of their numbers.
pub fn simulated_results(papers: &[Paper]) -> Vec<&SimulatedResult> {
    let mut results: Vec<_> = papers.iter().flat_map(|paper| &paper.simulated).collect();
    results.sort_by_key(|result| result.number);
    results
}

/// The commands that produce the findings again.
pub fn commands(papers: &[Paper]) -> Vec<&str> {
    let results = papers.iter().flat_map(|paper| &paper.results);
    results.flat_map(|result| &result.commands).map(String::as_str).collect()
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
    fn first_position(&self) -> (u32, &str) {
        self.results.first().map_or((u32::MAX, &self.short), PaperResult::position)
    }
}

impl PaperResult {
    /// Position in the table: `38b` follows `38`.
    pub(super) fn position(&self) -> (u32, &str) {
        let (number, letter) = split(&self.number);
        (number.parse().unwrap_or(u32::MAX), letter)
    }

    /// All that was published.
    pub(super) fn all_published(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{}; {detail}", self.published),
            None => self.published.clone(),
        }
    }

    fn contradiction(&self) -> Option<String> {
        let (number, letter) = split(&self.number);
        if number.parse::<u32>().is_err() || letter.len() > 1 {
            return Some("the number needs digits and at most one letter".to_owned());
        }
        if (self.verdict == PaperVerdict::CannotBeHad) != self.rests_on.is_empty() {
            return Some(format!(
                "`{}` and an evidence of {} kinds",
                self.verdict.name(),
                self.rests_on.len()
            ));
        }
        if self.verdict != PaperVerdict::Reproduced && self.because.is_none() {
            return Some(format!("`{}` needs a reason: add `because`", self.verdict.name()));
        }
        if self.found.is_none() != self.findings.is_empty() {
            return Some("`found` sums up the findings: it needs both or none".to_owned());
        }
        let has = |kind: &Evidence| self.findings.iter().any(|finding| finding.kind == *kind);
        if let Some(kind) = self.rests_on.iter().find(|kind| !has(kind)) {
            return Some(format!("the verdict rests on a {} finding, and there is none", kind.name()));
        }
        let ratios = self.findings.iter().flat_map(|finding| &finding.ratios);
        let malformed = ratios.into_iter().find(|ratio| ratio.value().is_none());
        if let Some(Ratio { found, published, .. }) = malformed {
            return Some(format!("`{found}` over `{published}` is no ratio: write numbers as quoted"));
        }
        let supporting = self.findings.iter().filter(|finding| self.rests_on.contains(&finding.kind));
        let mut ratios = supporting.flat_map(|finding| &finding.ratios);
        if self.verdict == PaperVerdict::Reproduced {
            let off = ratios.find(|ratio| !ratio.agrees())?;
            return Some(format!(
                "`reproduced`, but `{}` is neither within `{}` nor within a factor of {FACTOR} of it",
                off.found, off.published
            ));
        }
        None
    }
}

fn split(number: &str) -> (&str, &str) {
    number.split_at(number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len()))
}
