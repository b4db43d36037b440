//! Builds the record of a run: merges the results of its crowds, then builds one record from the merged part.

use klatch_record::{
    Build, Cause, Checks, CrowdInfo, CrowdResult, Environment, Gate, Latency, LatencyError, Moment,
    Observation, Part, Platform, Reason, Record, Role, RunOptions, SCHEMA_NAME, Score, Shard, StageScores,
    Status, Timeline, Usage, UsageOfBoth, Verdict, Warning, Workload, WorkloadKind, sum,
};

use crate::error::RunError;
use crate::guards::{contradiction, run_warnings};
use crate::joining::JoiningCost;
use crate::verdict::{crowd_warnings, judge, machine_warnings, other_build};

/// The facts of a run apart from the results of its crowds.
pub(crate) struct RunFacts<'a> {
    pub(crate) build: &'a Build,
    pub(crate) platform: &'a Platform,
    pub(crate) environment: Environment,
    pub(crate) started_at: String,
    pub(crate) role: Role,
    pub(crate) number: u32,
    /// The first crowd, which represents all in the record.
    pub(crate) crowd: &'a CrowdInfo,
    /// The workload of the run. The record takes its number of rooms from the crowds.
    pub(crate) workload: &'a Workload,
    /// What was asked for; `None` for a crowd without a parent.
    pub(crate) options: Option<RunOptions>,
    /// Usage of all servers together; `None` where one could not be measured.
    pub(crate) server: Option<Usage>,
    /// Usage of the database, if it has a process of its own.
    pub(crate) database: Option<Usage>,
    /// One description for each server that ended during the run.
    pub(crate) servers_ended: Vec<String>,
    /// How the scheduler of another program changed since the session began, if it did.
    pub(crate) scheduler_change: Option<String>,
    pub(crate) observations: Vec<Observation>,
    /// Use until the gate opened; `None` if nobody measured it.
    pub(crate) joining: Option<JoiningCost>,
}

/// One crowd of a run, and its result.
pub(crate) struct CrowdPart<'a> {
    pub(crate) crowd: &'a CrowdInfo,
    pub(crate) workload: &'a Workload,
    pub(crate) address: String,
    /// The machine that ran it; `None` for that of the record.
    pub(crate) host: Option<String>,
    /// The Klatch that ran it.
    pub(crate) program: CrowdBuild,
    pub(crate) gate: Option<Gate>,
    /// Identity of the clock that it reads, as in [`Moment`].
    pub(crate) clock: Option<String>,
    pub(crate) result: CrowdResult,
    /// How it ended, if without a result.
    pub(crate) died: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// The state of its machine, if that is not the machine of the record.
    pub(crate) environment: Option<Environment>,
}

/// The Klatch that ran a crowd.
pub(crate) enum CrowdBuild {
    /// The one that makes the record, or a program that it started.
    Own,
    /// That of a host; `None` if the crowd did not report it.
    OfHost(Option<Build>),
}

/// The record of a run with one or more crowds.
///
/// # Errors
/// A latency is out of the range of the histogram, or two crowds share a room.
pub(crate) fn build_record(run: RunFacts<'_>, crowds: Vec<CrowdPart<'_>>) -> Result<Record, RunError> {
    let parts: Result<Vec<Part>, LatencyError> =
        crowds.into_iter().map(|crowd| merge_part(crowd, run.build)).collect();
    let part = Part::merge(parts?)?;
    let warnings = machine_warnings(&run.environment);
    Ok(assemble(run, part, warnings))
}

/// The record of a crowd that measured itself, on the machine of the record.
///
/// # Errors
/// A latency is out of the range of the histogram.
pub(crate) fn build_shard_record(run: RunFacts<'_>, crowd: CrowdPart<'_>) -> Result<Record, RunError> {
    let mut part = merge_part(crowd, run.build)?;
    // The warnings belong to the shard, as other shards may run on other machines.
    part.shards[0].warnings.extend(machine_warnings(&run.environment));
    Ok(assemble(run, part, Vec::new()))
}

fn assemble(run: RunFacts<'_>, part: Part, mut warnings: Vec<Warning>) -> Record {
    let mut reasons: Vec<Reason> =
        run.servers_ended.into_iter().map(|how| Reason::new(Cause::Server, how)).collect();
    reasons.extend(part.reasons());
    reasons.extend(run.environment.scheduler.as_ref().and_then(|scheduler| {
        let why = scheduler.lost.as_ref()?;
        let message = format!("the scheduler {} did not stay in force: {why}", scheduler.name);
        Some(Reason::new(Cause::Scheduler, message))
    }));
    reasons.extend(run.scheduler_change.map(|change| Reason::new(Cause::Scheduler, change)));
    warnings.extend(part.warnings());
    let usage = UsageOfBoth { server: run.server, crowd: part.usage.clone(), database: run.database };
    let score =
        Score::new(run.workload.kind(), part.sent, part.received, part.elapsed_s(), part.join_s, &usage);
    let record = Record {
        schema: SCHEMA_NAME.to_owned(),
        klatch: run.build.clone(),
        started_at: run.started_at,
        role: run.role,
        number: run.number,
        platform: run.platform.clone(),
        crowd: run.crowd.clone(),
        workload: run.workload.with_parties(run.workload.start(), part.rooms()),
        options: run.options,
        verdict: Verdict::from_reasons(reasons),
        warnings,
        operations: part.operations(run.workload, &score, &usage),
        results: part.results,
        audit: None,
        score,
        joining: run.joining.map(|cost| cost.per_connection(run.workload.connections(), part.join_s)),
        latency: part.latency,
        send_lag: part.send_lag,
        over_time: part.over_time,
        stages: part.stages,
        observations: with_cost_shares(run.observations, run.workload.kind(), &usage),
        usage,
        environment: run.environment,
        shards: part.shards,
        checks: part.checks,
    };
    apply_guards(record)
}

/// Adds the warnings of the guards. A valid verdict becomes `unknown` if the numbers of the record contradict each other.
pub(crate) fn apply_guards(record: Record) -> Record {
    let contradiction = contradiction(&record);
    let reason = contradiction.as_ref().filter(|_| record.verdict.status == Status::Valid);
    let reason = reason.map(|warning| Reason::new(Cause::Contradiction, warning.message.as_str()));
    let of_run = run_warnings(&record);
    let mut reasons = record.verdict.reasons;
    reasons.extend(reason);
    let mut warnings = record.warnings;
    warnings.extend(of_run.into_iter().chain(contradiction));
    Record { verdict: Verdict::from_reasons(reasons), warnings, ..record }
}

/// Judges one crowd, and makes its result mergeable. `own` is the Klatch that makes the record.
fn merge_part(crowd: CrowdPart<'_>, own: &Build) -> Result<Part, LatencyError> {
    let CrowdPart { result, usage, .. } = crowd;
    let latency = Latency::from_counts_ns(&result.latency_ns)?;
    let send_lag = Latency::from_counts_ns(&result.send_lag_ns)?;
    let of_stages = |stages| StageScores::from_counts(stages, &result.stages);
    let stages = crowd.workload.stages().map(of_stages).transpose()?.flatten();
    let judged = judge(&result).reasons.into_iter().map(|reason| reason.message);
    let mut warnings = crowd_warnings(&result, latency.as_ref(), send_lag.as_ref());
    warnings.extend(crowd.environment.iter().flat_map(machine_warnings));
    let klatch = match crowd.program {
        CrowdBuild::Own => None,
        CrowdBuild::OfHost(build) => {
            // A crowd that died is the reason of an invalid verdict.
            let reported = build.as_ref().map(Some).or(crowd.died.is_none().then_some(None));
            warnings.extend(reported.and_then(|build| other_build(own, build, crowd.host.as_deref())));
            build
        }
    };
    let shard = Shard {
        workload: crowd.workload.kind(),
        start: crowd.workload.start(),
        rooms: crowd.workload.parties(),
        host: crowd.host,
        klatch,
        address: crowd.address,
        command: crowd.crowd.command.clone(),
        gate: crowd.gate,
        gate_run: result.gate_run,
        tls: result.tls,
        addresses: result.addresses,
        request: result.request,
        mqtt_version: result.mqtt_version,
        loops: result.loops,
        opened: crowd.clock.zip(result.opened_ns).map(|(clock, ns)| Moment { clock, ns }),
        elapsed_s: result.elapsed_s,
        gaps: result.gaps,
        total: sum("messages sent and deliveries", [result.sent, result.received])?,
        reasons: crowd.died.into_iter().chain(judged).collect(),
        warnings,
        database: result.database,
        usage: usage.clone(),
        environment: crowd.environment,
    };
    Ok(Part {
        shards: vec![shard],
        sent: result.sent,
        received: result.received,
        join_s: result.join_s,
        latency,
        send_lag,
        over_time: result.over_time.as_ref().map(Timeline::from_counts).transpose()?,
        stages,
        checks: Checks {
            lost: result.lost,
            unsent: result.unsent,
            duplicated: result.duplicated,
            reordered: result.reordered,
            corrupted: result.corrupted,
            unexpected: result.unexpected,
            wrong: result.wrong,
            faults: result.faults,
            strangers: result.strangers,
            failure: result.failure,
            finished: result.finished,
        },
        usage,
        results: result.results,
    })
}

/// Adds the CPU time of each instrument as a share of that of server and crowd.
fn with_cost_shares(
    mut observations: Vec<Observation>,
    workload: WorkloadKind,
    usage: &UsageOfBoth,
) -> Vec<Observation> {
    let cpu_s = usage.sum(workload, |usage| usage.cpu_s).filter(|cpu_s| *cpu_s > 0.0);
    for cost in observations.iter_mut().filter_map(|one| one.cost.as_mut()) {
        cost.share_of_cpu = cpu_s.map(|cpu_s| cost.cpu_s / cpu_s);
    }
    observations
}
