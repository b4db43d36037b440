//! The options that spread a run over processes and machines.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;
use klatch_runner::{Remote, from_shell};

/// Help heading of these options.
const SEVERAL: &str = "Several processes and machines";

#[derive(Args)]
pub(crate) struct SpreadArgs {
    /// Crowd processes, each with rooms of its own; at least one per server and host
    #[arg(long, help_heading = SEVERAL, default_value_t = 1, value_name = "N")]
    shards: u32,
    /// Server processes, each with rooms of its own
    #[arg(long, help_heading = SEVERAL, default_value_t = 1, value_name = "N")]
    servers: u32,
    /// Machines that run the crowd, by their ssh names; klatch must be installed there
    #[arg(long, help_heading = SEVERAL, value_name = "HOST,…", value_delimiter = ',')]
    hosts: Vec<String>,
    /// Address of this machine on which servers listen for the hosts
    #[arg(long, help_heading = SEVERAL, value_name = "IPV4", default_value_t = Ipv4Addr::LOCALHOST)]
    host_address: Ipv4Addr,
    /// Path of klatch on the hosts
    #[arg(long, help_heading = SEVERAL, value_name = "PATH", default_value = "klatch")]
    host_program: String,
    /// Command that reaches a host; `-- HOST COMMAND` follows it
    #[arg(long, help_heading = SEVERAL, value_name = "COMMAND", default_value = "ssh -o BatchMode=yes")]
    ssh: String,
}

impl SpreadArgs {
    pub(crate) fn shards(&self) -> anyhow::Result<u32> {
        within("shard count", self.shards, 256)
    }

    pub(crate) fn servers(&self) -> anyhow::Result<u32> {
        within("server count", self.servers, 64)
    }

    pub(crate) fn listen(&self) -> IpAddr {
        self.host_address.into()
    }

    pub(crate) fn remote(&self) -> anyhow::Result<Remote> {
        // ssh would take a name that begins with a dash for an option.
        let invalid = self.hosts.iter().find(|host| host.is_empty() || host.starts_with('-'));
        anyhow::ensure!(
            invalid.is_none(),
            "a host must be a name for ssh, got '{}'",
            invalid.map_or("", String::as_str)
        );
        let ssh = from_shell(&self.ssh).filter(|words| !words.is_empty());
        let ssh =
            ssh.ok_or_else(|| anyhow::anyhow!("--ssh must be a command in shell syntax, got {}", self.ssh))?;
        Ok(Remote { hosts: self.hosts.clone(), ssh, program: self.host_program.clone() })
    }
}

fn within(name: &str, count: u32, max: u32) -> anyhow::Result<u32> {
    anyhow::ensure!((1..=max).contains(&count), "{name} must be 1..={max}, got {count}");
    Ok(count)
}
