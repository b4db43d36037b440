//! `klatch schema`: the JSON Schemas that are committed in docs/.

use std::process::ExitCode;

use crate::output::print;
use clap::{Args, ValueEnum};

/// Print a JSON Schema
#[derive(Args)]
pub(crate) struct Schema {
    /// Kind of file that the schema describes
    #[arg(value_enum, default_value_t = Kind::Record)]
    kind: Kind,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Record of a run
    Record,
    /// Study file, as `klatch study` reads it
    Study,
    /// Study file of the simulator, as `klatch simulate` reads it
    SimulatedStudy,
    /// Result of a study
    Result,
    /// Result of a duet
    Duet,
    /// Report in the format JSON
    Report,
}

impl Schema {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let schema = match self.kind {
            Kind::Record => klatch_record::schema(),
            Kind::Study => klatch_study::study_schema(),
            Kind::SimulatedStudy => klatch_study::simulated_study_schema(),
            Kind::Result => klatch_record::study_result_schema(),
            Kind::Duet => klatch_record::duet_schema(),
            Kind::Report => klatch_report::report_schema(),
        };
        print(schema);
        Ok(ExitCode::SUCCESS)
    }
}
