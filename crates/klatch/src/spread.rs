//! The options that spread a run over processes and machines.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;
use klatch_record::RunOptions;
use klatch_runner::{Reach, Remote};

use crate::hosts::resolve_hosts;

/// Help heading of these options.
const SEVERAL: &str = "Several processes and machines";

#[derive(Args)]
pub(crate) struct SpreadArgs {
    /// Crowd processes, each with rooms of its own; at least one per server and host
    #[arg(long, help_heading = SEVERAL, default_value_t = RunOptions::default().shards, value_name = "N")]
    shards: u32,
    /// Server processes, each with rooms of its own
    #[arg(long, help_heading = SEVERAL, default_value_t = RunOptions::default().servers, value_name = "N", conflicts_with = "target")]
    servers: u32,
    /// Machines that run the crowd, by the names that --reach takes; klatch must be installed there. @slurm: the other nodes of this
    /// allocation
    #[arg(long, help_heading = SEVERAL, value_name = "HOST,…", value_delimiter = ',')]
    hosts: Vec<String>,
    /// Address of this machine on which servers listen for the hosts
    #[arg(long, help_heading = SEVERAL, value_name = "IPV4", default_value_t = Ipv4Addr::LOCALHOST, conflicts_with = "target")]
    host_address: Ipv4Addr,
    /// Path of klatch on the hosts
    #[arg(long, help_heading = SEVERAL, value_name = "PATH", default_value = "klatch")]
    host_program: String,
    /// How a command is run on a host: ssh, slurm, kubernetes, docker, or a template such as 'ssh -F FILE -- {host} {command}';
    /// {command...} stands for separate words [default: ssh; with @slurm: slurm]
    #[arg(long, help_heading = SEVERAL, value_name = "COMMAND")]
    reach: Option<Reach>,
}

impl SpreadArgs {
    /// Whether server and crowd run on this machine, over loopback.
    pub(crate) fn is_local(&self) -> bool {
        self.hosts.is_empty() && self.reach.is_none() && self.host_address == Ipv4Addr::LOCALHOST
    }

    pub(crate) fn shards(&self) -> anyhow::Result<u32> {
        within("shard count", self.shards, 256)
    }

    pub(crate) fn servers(&self) -> anyhow::Result<u32> {
        within("server count", self.servers, 64)
    }

    pub(crate) fn listen(&self) -> IpAddr {
        self.host_address.into()
    }

    /// The machines of the crowd, and how to reach them.
    ///
    /// # Errors
    /// A host has no possible name, or the engine does not list its hosts.
    pub(crate) fn remote(&self) -> anyhow::Result<Remote> {
        let (hosts, usual) = resolve_hosts(&self.hosts)?;
        Ok(Remote { hosts, reach: self.reach.clone().unwrap_or(usual), program: self.host_program.clone() })
    }
}

fn within(name: &str, count: u32, max: u32) -> anyhow::Result<u32> {
    anyhow::ensure!((1..=max).contains(&count), "{name} must be 1 to {max}, got {count}");
    Ok(count)
}
