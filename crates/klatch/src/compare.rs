//! `klatch compare`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use klatch_compare::{Terms, compare};
use klatch_record::Estimator;

/// Compare two records, folders of records, cells of a study, or studies: ratios with their confidence intervals.
///
/// Warm-ups and runs whose score does not count are left out. Of two studies, every cell that both have is compared.
/// Exit status: 0 compared, 2 could not.
#[derive(Args)]
pub(crate) struct Compare {
    /// What the ratios are taken of: a record, or a folder with records in it or below it
    a: PathBuf,
    /// What is compared with it
    b: PathBuf,
    /// What is compared of each side
    #[arg(long, value_enum, default_value_t = EstimateName::GeometricMean)]
    estimate: EstimateName,
    /// How many of a hundred such intervals hold the true ratio
    #[arg(long, default_value_t = 95.0, value_name = "PERCENT")]
    confidence: f64,
    /// Print each comparison as one line of JSON instead
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum EstimateName {
    /// Geometric mean; holds its confidence with the fewest runs
    GeometricMean,
    /// Arithmetic mean, by resampling; at least 6 a side
    Mean,
    /// Median ratio, by ranks; one wild run does not move it; at least 6 pairs or 4 a side
    Median,
}

impl Compare {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        anyhow::ensure!(
            (50.0..=99.99).contains(&self.confidence),
            "confidence must be 50..=99.99 %, got {}",
            self.confidence
        );
        let estimate = match self.estimate {
            EstimateName::GeometricMean => Estimator::GeometricMean,
            EstimateName::Mean => Estimator::Mean,
            EstimateName::Median => Estimator::Median,
        };
        let terms = Terms { estimate, confidence: self.confidence / 100.0 };
        for (place, comparison) in compare(&self.a, &self.b, terms)?.iter().enumerate() {
            if self.json {
                println!("{}", serde_json::to_string(comparison)?);
            } else {
                let between = if place > 0 { "\n" } else { "" };
                print!("{between}{}", klatch_report::comparison(comparison));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
