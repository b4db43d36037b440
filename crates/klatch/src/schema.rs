//! `klatch schema`.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

/// Print a JSON Schema.
#[derive(Args)]
pub(crate) struct Schema {
    /// Of what
    #[arg(value_enum, default_value_t = What::Record)]
    what: What,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// The record of a run
    Record,
    /// A study file
    Study,
    /// What came of a study
    Result,
    /// A report as JSON
    Report,
}

impl Schema {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let schema = match self.what {
            What::Record => klatch_record::schema(),
            What::Study => klatch_study::study_schema(),
            What::Result => klatch_record::study_result_schema(),
            What::Report => klatch_report::report_schema(),
        };
        print!("{schema}");
        Ok(ExitCode::SUCCESS)
    }
}
