//! `klatch compare`: ratios of two sets of records, as text or JSON.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use klatch_record::{Comparison, Estimator};
use klatch_report::{Ending, Progress, comparison_answer, undecided_comparison};
use klatch_study::compare::{Terms, compare};

use crate::interrupt::{NOTHING_KEPT, end_at_once};
use crate::next;
use crate::output::{print_line, print_text};
use crate::usage_error::is_platform;

/// Compare two sets of records: ratios with confidence intervals
///
/// A set is a record, a folder of records, a cell of a study, or a study. Warm-ups and runs with a score that does not count are left
/// out. For two studies, Klatch compares every cell that both have.
///
/// Exit status: 0 compared, 2 could not compare.
#[derive(Args)]
pub(crate) struct Compare {
    /// Base of the ratios: a record, or a folder that contains records
    a: PathBuf,
    /// Record or folder to compare with the base
    b: PathBuf,
    /// Estimate to compare, with its interval
    #[arg(long, value_enum, default_value_t = EstimateName::GeometricMean)]
    estimate: EstimateName,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = 95.0, value_name = "PERCENT")]
    confidence: f64,
    /// Print each comparison as one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum EstimateName {
    /// Geometric mean; keeps its confidence with the fewest runs
    GeometricMean,
    /// Arithmetic mean, by resampling; at least 6 values per side
    Mean,
    /// Median ratio, by ranks; robust against one outlier; at least 6 pairs or 4 values per side
    Median,
}

impl Compare {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        anyhow::ensure!(
            (50.0..=99.99).contains(&self.confidence),
            "confidence must be 50 to 99.99 %, got {}",
            self.confidence
        );
        let estimate = match self.estimate {
            EstimateName::GeometricMean => Estimator::GeometricMean,
            EstimateName::Mean => Estimator::Mean,
            EstimateName::Median => Estimator::Median,
        };
        let terms = Terms { estimate, confidence: self.confidence / 100.0 };
        let sides = [&self.a, &self.b].map(|path| path.display().to_string());
        if sides.iter().all(|side| is_platform(side) && !Path::new(side).exists()) {
            let [a, b] = sides;
            anyhow::bail!(
                "{a} and {b} are platforms, and this command compares results: klatch duet {a} {b} measures both"
            );
        }
        end_at_once(NOTHING_KEPT.to_owned())?;
        let waiting = Progress::waiting("comparing");
        let comparisons = compare(&self.a, &self.b, terms)?;
        drop(waiting);
        for (number, comparison) in comparisons.iter().enumerate() {
            if self.json {
                print_line(serde_json::to_string(comparison)?);
            } else {
                let separator = if number > 0 { "\n" } else { "" };
                print_text(format_args!("{separator}{}", klatch_report::comparison(comparison)));
            }
        }
        if !self.json {
            let answer = comparison_answer(&comparisons).unwrap_or_default();
            next::print_ending(Ending { answer, next: self.next(&comparisons)?, ..Ending::default() });
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The duet that decides what single starts, or a difference that is not shown, leave open; else the page of both.
    fn next(&self, comparisons: &[Comparison]) -> anyhow::Result<Vec<String>> {
        if let Some(duet) = undecided_comparison(comparisons)? {
            return Ok(duet);
        }
        let path = |path: &Path| path.display().to_string();
        Ok([next::words(&["klatch", "report"]), vec![path(&self.a), path(&self.b)]].concat())
    }
}
