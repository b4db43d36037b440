//! `klatch compare`: ratios of two sets of records, as text or JSON.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use klatch_record::Estimator;
use klatch_study::compare::{Terms, compare};

use crate::output::{print, print_line};

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
        for (number, comparison) in compare(&self.a, &self.b, terms)?.iter().enumerate() {
            if self.json {
                print_line(serde_json::to_string(comparison)?);
            } else {
                let separator = if number > 0 { "\n" } else { "" };
                print(format_args!("{separator}{}", klatch_report::comparison(comparison)));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
