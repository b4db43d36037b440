//! The record of a crowd that nobody steered: one shard of a run.

use jiff::Timestamp;
use klatch_record::{
    Build, CrowdInfo, CrowdResult, Gate, Itself, Platform, Record, Role, WireName, Workload,
};

use crate::CrowdKind;
use crate::assemble::{CrowdOutcome, Run, record_of_shard};
use crate::error::RunError;
use crate::plan::address;

/// What a crowd was told that belongs into its record.
#[derive(Clone, Debug)]
pub struct ShardPlan {
    /// Which crowd it is.
    pub crowd: CrowdKind,
    /// Host of the server.
    pub host: String,
    /// Port of the server.
    pub port: u16,
    /// The protocol it speaks.
    pub wire: WireName,
    /// The crowd's own rooms.
    pub workload: Workload,
    /// Where it waits for the others.
    pub gate: Option<Gate>,
    /// When it began, RFC 3339 in UTC, as [`now`] tells it.
    pub started_at: String,
    /// The exact command line.
    pub command: Vec<String>,
    /// Which Klatch this is.
    pub build: Build,
}

/// This moment as records tell it: RFC 3339 in UTC.
pub fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The record of a shard, which `klatch merge` makes one of with those of the others.
///
/// # Errors
/// A latency that no histogram holds.
pub fn shard_record(plan: ShardPlan, result: CrowdResult, itself: Itself) -> Result<Record, RunError> {
    let address = address(&plan.host, plan.port);
    let platform = Platform {
        name: format!("{}://{address}", plan.wire.name()),
        class: None,
        wire: plan.wire,
        knobs: [].into(),
        version: None,
        address: address.clone(),
        servers: 1,
        chosen_because: None,
        command: None,
        runtime: None,
    };
    let crowd = CrowdInfo {
        kind: plan.crowd.name().to_owned(),
        knobs: [].into(),
        command: plan.command,
        runtime: None,
    };
    let run = Run {
        build: &plan.build,
        platform: &platform,
        environment: itself.environment,
        started_at: plan.started_at,
        role: Role::Trial,
        number: 1,
        crowd: &crowd,
        workload: &plan.workload,
        server: None,
        servers_ended: Vec::new(),
        observations: Vec::new(),
    };
    let outcome = CrowdOutcome {
        crowd: &crowd,
        workload: &plan.workload,
        address: &address,
        host: Some(itself.host),
        gate: plan.gate,
        clock: itself.clock,
        result,
        died: None,
        usage: itself.usage,
        environment: None,
    };
    record_of_shard(run, outcome)
}
