//! `klatch merge`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_record::{Record, Status, merge_files, save};
use klatch_report::{headline, one_line, trials};

use crate::UNKNOWN;

/// Make one record of those of several shards, with one verdict.
///
/// Exit status: 0 valid, 1 invalid, 2 the records are not of one run, 3 unknown.
#[derive(Args)]
pub(crate) struct Merge {
    /// Records of crowds that held different rooms: what `klatch crowd --out` wrote
    #[arg(required = true, value_name = "RECORD")]
    records: Vec<PathBuf>,
    /// Write the merged record here
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the merged record as one line of JSON instead
    #[arg(long)]
    json: bool,
}

impl Merge {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let record = merge_files(&self.records)?;
        if let Some(out) = &self.out {
            save(&record, out)?;
        }
        if self.json {
            println!("{}", serde_json::to_string(&record)?);
        } else {
            print(&record);
        }
        Ok(match record.verdict.status {
            Status::Valid => ExitCode::SUCCESS,
            Status::Invalid => ExitCode::FAILURE,
            Status::Unknown => ExitCode::from(UNKNOWN),
        })
    }
}

fn print(record: &Record) {
    println!("{}", headline(&record.platform, &record.crowd.kind, &record.workload));
    for shard in &record.shards {
        println!("{shard}: {} messages in {:.2} s", shard.total, shard.elapsed_s);
    }
    println!("{}\n\n{}", one_line(record), trials(std::slice::from_ref(record)));
}
