//! The record of a crowd without a parent process: one shard of a run.

use jiff::Timestamp;
use klatch_record::{
    Build, CrowdInfo, CrowdResult, CrowdSelfReport, Gate, ProtocolName, Record, Role, Transport, Workload,
};

use crate::description::describe_external;
use crate::error::RunError;
use crate::plan::{CrowdKind, address};
use crate::record::{CrowdPart, RunFacts, build_shard_record};

/// The options of a crowd that its record holds.
#[derive(Clone, Debug)]
pub struct ShardPlan {
    /// Kind of the crowd.
    pub crowd: CrowdKind,
    /// Host name or IP address of the server.
    pub host: String,
    /// TCP port of the server.
    pub port: u16,
    /// Protocol of the server.
    pub protocol: ProtocolName,
    /// What lies between the protocol and TCP.
    pub transport: Transport,
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
    let address = address(&plan.host, plan.port);
    let platform = describe_external(plan.protocol, plan.transport, address.clone());
    let crowd = CrowdInfo {
        kind: plan.crowd.name().to_owned(),
        knobs: [].into(),
        command: plan.command,
        runtime: None,
    };
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
        observations: Vec::new(),
        joining: None,
    };
    let part = CrowdPart {
        crowd: &crowd,
        workload: &plan.workload,
        address: &address,
        host: Some(report.host),
        gate: plan.gate,
        clock: report.clock,
        result,
        died: None,
        usage: report.usage,
        environment: None,
    };
    build_shard_record(run, part)
}
