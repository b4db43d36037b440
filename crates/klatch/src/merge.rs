//! `klatch merge`: one record from those of several shards.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_record::{Status, merge_files};
use klatch_report::one_line;

use crate::UNKNOWN;
use crate::output::{is_stdout, print_error, print_line, print_text, save_or_print};

/// Merge the records of shards into one
///
/// Exit status: 0 valid, 1 invalid, 2 the records are not of one run, 3 unknown.
#[derive(Args)]
pub(crate) struct Merge {
    /// Records of crowds with different rooms, from `klatch crowd --out`
    #[arg(required = true, value_name = "RECORD")]
    records: Vec<PathBuf>,
    /// File for the merged record, or - for standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the merged record as one line of JSON
    #[arg(long)]
    json: bool,
}

impl Merge {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let record = merge_files(&self.records)?;
        if let Some(out) = &self.out {
            save_or_print(&record, out)?;
        }
        if self.out.as_deref().is_some_and(is_stdout) {
            print_error(one_line(&record));
        } else if self.json {
            print_line(serde_json::to_string(&record)?);
        } else {
            print_text(klatch_report::merged(&record));
        }
        Ok(match record.verdict.status {
            Status::Valid => ExitCode::SUCCESS,
            Status::Invalid => ExitCode::FAILURE,
            Status::Unknown => ExitCode::from(UNKNOWN),
        })
    }
}
