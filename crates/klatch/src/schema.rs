//! `klatch schema`.

use std::process::ExitCode;

use clap::Args;

/// Print the JSON Schema of a record.
#[derive(Args)]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        print!("{}", klatch_record::schema());
        Ok(ExitCode::SUCCESS)
    }
}
