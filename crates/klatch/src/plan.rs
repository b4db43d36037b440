//! `klatch plan`: command lines of shards for another launcher.

use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;

use clap::Args;
use klatch_record::Gate;
use klatch_runner::{Target, in_shell, shard_commands, shard_file, split_parties};

use crate::output::print_line;
use crate::workload::{OfRun, WorkloadArgs};

/// Print the commands that run a crowd on many machines
///
/// Each line runs one shard. The shards wait for each other at a gate on the server, and each writes a record. The last line
/// merges these records.
#[derive(Args)]
pub(crate) struct Plan {
    /// Server, by an address that the load machines reach: irc://, redis://, nats://, mqtt://
    #[arg(long, value_name = "irc://HOST:PORT")]
    target: Target,
    /// Number of crowd processes, each with rooms of its own
    #[arg(long, value_name = "N", value_parser = crate::quantity::whole::<1, 1000>)]
    shards: u32,
    /// Name of the gate, different for each run on the same server [default: drawn at random]
    #[arg(long, value_name = "NAME")]
    gate_name: Option<String>,
    /// Path of klatch on the load machines
    #[arg(long, value_name = "PATH", default_value = "klatch")]
    host_program: String,
    #[command(flatten)]
    workload: WorkloadArgs<OfRun>,
}

impl Plan {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let workload = self.workload.workload()?;
        let name = self.gate_name.unwrap_or_else(|| format!("run-{:x}", RandomState::new().hash_one(0)));
        let gate: Gate = format!("{}:{name}", self.shards).parse()?;
        anyhow::ensure!(
            workload.chat().is_some(),
            "shards without a parent meet in a room, so they need --workload chat"
        );
        anyhow::ensure!(
            self.shards <= workload.parties(),
            "shard count must be 1 to {} (the rooms), got {}",
            workload.parties(),
            self.shards
        );
        anyhow::ensure!(
            self.target.login.is_none(),
            "commands of crowds by hand have no login; klatch run --hosts passes it on without a command line"
        );
        let shares = split_parties(&workload, self.shards);
        for command in shard_commands(&self.host_program, &self.target.endpoint, &shares, &gate.name) {
            print_line(in_shell(&command));
        }
        let mut merge = vec![self.host_program, "merge".to_owned()];
        merge.extend((0..shares.len()).map(shard_file));
        print_line(in_shell(&merge));
        Ok(ExitCode::SUCCESS)
    }
}
