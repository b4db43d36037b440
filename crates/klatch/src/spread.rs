//! The options that spread a run over processes and machines.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;
use klatch_runner::{Remote, from_shell};

#[derive(Args)]
#[command(next_help_heading = "Spread over processes and machines")]
pub(crate) struct SpreadArgs {
    /// Crowd processes, each with rooms of its own; there is one for each server and each host at least
    #[arg(long, default_value_t = 1, value_name = "N")]
    shards: u32,
    /// Server processes, each with rooms of its own
    #[arg(long, default_value_t = 1, value_name = "N")]
    servers: u32,
    /// Machines that run the crowd, as ssh knows them; Klatch must be installed there
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    hosts: Vec<String>,
    /// The address of this machine on which servers listen, so that the hosts reach them
    #[arg(long, value_name = "IPV4", default_value_t = Ipv4Addr::LOCALHOST)]
    host_address: Ipv4Addr,
    /// Klatch as it is called on the hosts
    #[arg(long, value_name = "PATH", default_value = "klatch")]
    host_program: String,
    /// How the hosts are reached; `-- HOST COMMAND` follows
    #[arg(long, value_name = "COMMAND", default_value = "ssh -o BatchMode=yes")]
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
        // A name that begins with a dash would be an option of ssh.
        let odd = self.hosts.iter().find(|host| host.is_empty() || host.starts_with('-'));
        anyhow::ensure!(
            odd.is_none(),
            "a host is named as ssh knows it, got '{}'",
            odd.map_or("", String::as_str)
        );
        let ssh = from_shell(&self.ssh).filter(|words| !words.is_empty());
        let ssh = ssh.ok_or_else(|| {
            anyhow::anyhow!("--ssh must be a command as a shell reads it, got {}", self.ssh)
        })?;
        Ok(Remote { hosts: self.hosts.clone(), ssh, program: self.host_program.clone() })
    }
}

fn within(what: &str, count: u32, most: u32) -> anyhow::Result<u32> {
    anyhow::ensure!((1..=most).contains(&count), "{what} must be 1..={most}, got {count}");
    Ok(count)
}
