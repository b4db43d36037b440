//! Shards: the servers of those in a run, and the record of one without a parent process.

use jiff::Timestamp;
use klatch_record::{Build, CrowdInfo, CrowdResult, CrowdSelfReport, Endpoint, Gate, Record, Role, Workload};

use crate::description::describe_external;
use crate::error::RunError;
use crate::plan::CrowdKind;
use crate::record::{CrowdBuild, CrowdPart, RunFacts, build_shard_record};

/// The options of a crowd that its record holds.
#[derive(Clone, Debug)]
pub struct ShardPlan {
    /// Kind of the crowd.
    pub crowd: CrowdKind,
    /// The server.
    pub server: Endpoint,
    /// The crowd's own share of the rooms.
    pub workload: Workload,
    /// The gate at which it waits for the other shards.
    pub gate: Option<Gate>,
    /// Start time, as of [`now`].
    pub started_at: String,
    /// Command line of the crowd.
    pub command: Vec<String>,
    /// Version and commit of this Klatch.
    pub build: Build,
}

/// The server of a shard, and the shard's part of the workload.
#[derive(Clone, Debug)]
pub struct ShardServer {
    /// How the server is reached.
    pub endpoint: Endpoint,
    /// Number of the first party.
    pub start: u32,
    /// Number of the parties.
    pub parties: u32,
}

/// The current time in the format of records: RFC 3339 in UTC, to the second.
pub fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The record of one shard; `klatch merge` merges the records of all shards.
///
/// # Errors
/// A latency is out of the range of the histogram.
pub fn shard_record(
    plan: ShardPlan,
    result: CrowdResult,
    report: CrowdSelfReport,
) -> Result<Record, RunError> {
    let platform = describe_external(&plan.server);
    let crowd = CrowdInfo { kind: plan.crowd.into(), knobs: [].into(), command: plan.command, runtime: None };
    let run = RunFacts {
        build: &plan.build,
        platform: &platform,
        environment: report.environment,
        started_at: plan.started_at,
        role: Role::Trial,
        number: 1,
        crowd: &crowd,
        workload: &plan.workload,
        options: None,
        server: None,
        database: None,
        servers_ended: Vec::new(),
        scheduler_change: None,
        observations: Vec::new(),
        joining: None,
    };
    let part = CrowdPart {
        crowd: &crowd,
        workload: &plan.workload,
        address: plan.server.to_string(),
        host: Some(report.host),
        program: CrowdBuild::Own,
        gate: plan.gate,
        clock: report.clock,
        result,
        died: None,
        usage: report.usage,
        environment: None,
    };
    build_shard_record(run, part)
}
