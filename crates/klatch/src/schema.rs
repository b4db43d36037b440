//! `klatch schema`: the JSON Schemas in docs/. A test compares them with the types.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::output::print;

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
    /// Study file of any kind
    Study,
    /// Result of a study
    Result,
    /// Result of a duet
    Duet,
    /// Metrics over time
    History,
    /// Report in the format JSON
    Report,
}

impl Schema {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let schema = match self.kind {
            Kind::Record => include_str!("../../../docs/record.schema.json"),
            Kind::Study => include_str!("../../../docs/study.schema.json"),
            Kind::Result => include_str!("../../../docs/result.schema.json"),
            Kind::Duet => include_str!("../../../docs/duet.schema.json"),
            Kind::History => include_str!("../../../docs/history.schema.json"),
            Kind::Report => include_str!("../../../docs/report.schema.json"),
        };
        print(schema);
        Ok(ExitCode::SUCCESS)
    }
}
