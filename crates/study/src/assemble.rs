//! Puts a record together from what was found.

use klatch_record::{
    Build, Checks, CrowdInfo, CrowdResult, Environment, Gate, Latency, LatencyError, Moment, Observation,
    Platform, Record, Role, SCHEMA_NAME, Score, Shard, Status, Timeline, Usage, UsageOfBoth, Workload, merge,
};

use crate::error::RunError;
use crate::guards::guard_run;
use crate::verdict::{judge, of_crowd, of_machine};

/// What is known of a run before it begins.
pub(crate) struct Header<'a> {
    pub(crate) build: &'a Build,
    pub(crate) platform: &'a Platform,
    pub(crate) environment: &'a Environment,
    pub(crate) started_at: String,
    pub(crate) role: Role,
    pub(crate) number: u32,
}

/// What is known of one crowd of it.
pub(crate) struct Part<'a> {
    pub(crate) crowd: &'a CrowdInfo,
    pub(crate) workload: &'a Workload,
    pub(crate) address: &'a str,
    /// The machine it ran on, if it was another one.
    pub(crate) host: Option<String>,
    pub(crate) gate: Option<Gate>,
    pub(crate) clock: Option<String>,
    pub(crate) result: CrowdResult,
    /// How it ended, if it ended without a result.
    pub(crate) died: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// The machine it ran on, if it is not that of the record.
    pub(crate) environment: Option<Environment>,
}

/// The whole record of a run. `servers_ended` tells how servers ended that did not live to the end.
pub(crate) fn record(
    header: &Header<'_>,
    parts: Vec<Part<'_>>,
    server: Option<Usage>,
    servers_ended: Vec<String>,
) -> Result<Record, RunError> {
    let parts: Result<Vec<_>, _> = parts.into_iter().map(|part| of_part(header, part)).collect();
    let mut record = match <[Record; 1]>::try_from(parts?) {
        Ok([record]) => record,
        Err(records) => merge(records)?,
    };
    record.usage.server = server;
    let Score { sent, received, elapsed_s, join_s, .. } = record.score;
    record.score = Score::of(sent, received, elapsed_s, join_s, &record.usage);
    record.platform = header.platform.clone();
    record.warnings.splice(0..0, of_machine(header.environment));
    if !servers_ended.is_empty() {
        record.verdict.status = Status::Invalid;
        record.verdict.reasons.splice(0..0, servers_ended);
    }
    guard_run(&mut record);
    Ok(record)
}

/// The record of a crowd that watched itself.
pub(crate) fn of_itself(header: &Header<'_>, part: Part<'_>) -> Result<Record, LatencyError> {
    let mut record = of_part(header, part)?;
    // It is the record's own. What it warns of stays the shard's: the others may be on other machines.
    record.shards[0].environment = None;
    guard_run(&mut record);
    Ok(record)
}

fn of_part(header: &Header<'_>, part: Part<'_>) -> Result<Record, LatencyError> {
    let Part { result, usage, .. } = part;
    let latency = Latency::from_counts_ns(&result.latency_ns)?;
    let send_lag = Latency::from_counts_ns(&result.send_lag_ns)?;
    let over_time = result.over_time.as_ref().map(Timeline::of).transpose()?;
    let mut verdict = judge(&result);
    if let Some(how) = part.died {
        verdict.reasons.insert(0, how);
        verdict.status = Status::Invalid;
    }
    let mut warnings = of_crowd(&result, latency.as_ref(), send_lag.as_ref());
    warnings.extend(part.environment.iter().flat_map(of_machine));
    let opened = part.clock.zip(result.opened_ns).map(|(clock, ns)| Moment { clock, ns });
    let shard = Shard {
        start: part.workload.start,
        rooms: part.workload.rooms,
        host: part.host,
        address: part.address.to_owned(),
        command: part.crowd.command.clone(),
        gate: part.gate,
        opened,
        elapsed_s: result.elapsed_s,
        total: result.sent + result.received,
        reasons: verdict.reasons.clone(),
        warnings: warnings.clone(),
        usage: usage.clone(),
        environment: part.environment,
    };
    let usage = UsageOfBoth { server: None, crowd: usage };
    Ok(Record {
        schema: SCHEMA_NAME.to_owned(),
        klatch: header.build.clone(),
        started_at: header.started_at.clone(),
        role: header.role,
        number: header.number,
        platform: header.platform.clone(),
        crowd: part.crowd.clone(),
        workload: part.workload.clone(),
        verdict,
        warnings,
        score: Score::of(result.sent, result.received, result.elapsed_s, result.join_s, &usage),
        latency,
        send_lag,
        over_time,
        observations: Vec::new(),
        usage,
        environment: header.environment.clone(),
        shards: vec![shard],
        checks: Checks {
            lost: result.lost,
            unsaid: result.unsaid,
            repeated: result.repeated,
            reordered: result.reordered,
            altered: result.altered,
            faults: result.faults,
            strangers: result.strangers,
            failure: result.failure,
        },
    })
}

/// The cost of each instrument as a share of what server and crowd used.
pub(crate) fn with_shares(mut observations: Vec<Observation>, usage: &UsageOfBoth) -> Vec<Observation> {
    let both = usage.server.as_ref().zip(usage.crowd.as_ref());
    let cpu_s = both.map(|(server, crowd)| server.cpu_s + crowd.cpu_s).filter(|cpu_s| *cpu_s > 0.0);
    for cost in observations.iter_mut().filter_map(|one| one.cost.as_mut()) {
        cost.share_of_cpu = cpu_s.map(|cpu_s| cost.cpu_s / cpu_s);
    }
    observations
}
