//! `--hosts`: the names of hosts, or the allocation of an engine.

use std::time::Duration;

use anyhow::Context;
use klatch_host::privileges::Program;
use klatch_runner::Reach;

/// Stands for the nodes of an allocation of Slurm.
const SLURM: &str = "@slurm";

/// Longest time in which Slurm lists the nodes. Its controller may not answer.
const SCONTROL_TIMEOUT: Duration = Duration::from_secs(30);

/// The hosts, and how they are reached unless the user names another way.
///
/// # Errors
/// A name cannot be one of a host, or Slurm does not list the nodes.
pub(crate) fn resolve_hosts(hosts: &[String]) -> anyhow::Result<(Vec<String>, Reach)> {
    if hosts == [SLURM] {
        return Ok((slurm_nodes()?, "slurm".parse().map_err(anyhow::Error::msg)?));
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

/// The nodes of this allocation except this one, which has the server.
fn slurm_nodes() -> anyhow::Result<Vec<String>> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let list = variable("SLURM_JOB_NODELIST").with_context(|| {
        format!("--hosts {SLURM} is for an allocation of Slurm, and SLURM_JOB_NODELIST is not set; run klatch in a batch script, or in salloc")
    })?;
    let output = Program::new("scontrol").args(["show", "hostnames", &list]).output_within(SCONTROL_TIMEOUT);
    let output = output.context("cannot run scontrol, which lists the nodes of this allocation")?;
    anyhow::ensure!(
        output.status.success(),
        "scontrol show hostnames {list} failed with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let this = variable("SLURMD_NODENAME");
    let others: Vec<String> =
        names.lines().filter(|node| Some(*node) != this.as_deref()).map(str::to_owned).collect();
    anyhow::ensure!(
        !others.is_empty(),
        "this allocation has only the node {}, and the crowd needs another one",
        this.unwrap_or_default()
    );
    Ok(others)
}
