//! `--hosts`: the names of hosts, or the allocation of an engine.

use anyhow::Context;
use klatch_runner::{Reach, slurm_nodes};

/// Stands for the nodes of an allocation of Slurm.
const SLURM: &str = "@slurm";

/// The hosts, and how they are reached unless the user names another way.
///
/// # Errors
/// A name cannot be one of a host, or Slurm does not list the nodes.
pub(crate) fn resolve_hosts(hosts: &[String]) -> anyhow::Result<(Vec<String>, Reach)> {
    if hosts == [SLURM] {
        let nodes = slurm_nodes()?.with_context(|| {
            format!("--hosts {SLURM} is for an allocation of Slurm, and SLURM_JOB_NODELIST is not set; run klatch in a batch script, or in salloc")
        })?;
        return Ok((nodes, "slurm".parse().map_err(anyhow::Error::msg)?));
    }
    // A program would take a name that begins with a dash for an option.
    let invalid = hosts.iter().find(|host| host.is_empty() || host.starts_with(['-', '@']));
    anyhow::ensure!(
        invalid.is_none(),
        "a host must be a name, or {SLURM} alone, got '{}'",
        invalid.map_or("", String::as_str)
    );
    Ok((hosts.to_vec(), Reach::default()))
}
