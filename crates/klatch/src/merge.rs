//! `klatch merge`: one record from those of several shards.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_record::{Record, Shard, Status, grouped, merge_files};
use klatch_report::{headline, one_line, trials};

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
            print_text(text_of(&record));
        }
        Ok(match record.verdict.status {
            Status::Valid => ExitCode::SUCCESS,
            Status::Invalid => ExitCode::FAILURE,
            Status::Unknown => ExitCode::from(UNKNOWN),
        })
    }
}

/// The merged record as text: what ran, each shard, and the result.
fn text_of(record: &Record) -> String {
    let shard =
        |shard: &Shard| format!("{shard}: {} messages in {:.2} s\n", grouped(shard.total), shard.elapsed_s);
    headline(&record.platform, record.crowd.kind.name(), &record.workload)
        + &record.shards.iter().map(shard).collect::<String>()
        + &format!("{}\n\n{}", one_line(record), trials(std::slice::from_ref(record)))
}

#[cfg(test)]
mod tests {
    use klatch_record::samples;

    use super::*;
    use crate::golden::at_widths;

    #[test]
    fn a_merged_record_is_as_it_was_at_three_widths() {
        let shard = |start, host: &str| Shard { start, host: Some(host.to_owned()), ..samples::shard() };
        let record = Record {
            shards: vec![shard(1, "load-1.example"), shard(11, "load-2.example")],
            ..samples::record(1, 1, 50_000.0)
        };
        insta::assert_snapshot!(at_widths(|| text_of(&record)));
    }
}
