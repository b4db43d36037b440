//! Puts a record together from what was found.

use klatch_record::{
    Checks, CrowdInfo, CrowdResult, Environment, Latency, LatencyError, Platform, Record, Role, SCHEMA_NAME,
    Score, Usage, UsageOfBoth,
};

use crate::crowd::{Gathered, Span};
use crate::guards::guard_run;
use crate::plan::Plan;
use crate::verdict::{judge, warnings};

/// What is known of a run before it begins.
pub(crate) struct Header<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) platform: &'a Platform,
    pub(crate) crowd: &'a CrowdInfo,
    pub(crate) environment: &'a Environment,
    pub(crate) started_at: String,
    pub(crate) role: Role,
    pub(crate) number: u32,
}

/// The whole record of a run.
pub(crate) fn record(
    header: Header<'_>,
    gathered: Gathered,
    server_ended: Option<&str>,
) -> Result<Record, LatencyError> {
    let Gathered { result, server, crowd, steal_share } = gathered;
    let messages = result.sent + result.received;
    let usage_of = |span: Option<Span>| span.map(|(before, after)| after.since(&before, messages));
    let usage = UsageOfBoth { server: usage_of(server), crowd: usage_of(crowd) };
    let latency = Latency::from_counts_ns(&result.latency_ns)?;
    let send_lag = Latency::from_counts_ns(&result.send_lag_ns)?;
    let environment = Environment { steal_share_in_run: steal_share, ..header.environment.clone() };
    let mut record = Record {
        schema: SCHEMA_NAME.to_owned(),
        klatch: header.plan.build.clone(),
        started_at: header.started_at,
        role: header.role,
        number: header.number,
        platform: header.platform.clone(),
        crowd: header.crowd.clone(),
        workload: header.plan.workload.clone(),
        verdict: judge(&result, server_ended),
        warnings: warnings(&result, &environment, latency.as_ref(), send_lag.as_ref()),
        score: score(&result, &usage),
        latency,
        send_lag,
        usage,
        environment,
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
    };
    guard_run(&mut record);
    Ok(record)
}

fn score(result: &CrowdResult, usage: &UsageOfBoth) -> Score {
    let total = result.sent + result.received;
    let per_elapsed = |amount: f64| if result.elapsed_s > 0.0 { amount / result.elapsed_s } else { 0.0 };
    let sum = |of: fn(&Usage) -> f64| Some(of(usage.server.as_ref()?) + of(usage.crowd.as_ref()?));
    Score {
        sent: result.sent,
        received: result.received,
        total,
        elapsed_s: result.elapsed_s,
        messages_per_s: per_elapsed(total as f64),
        cpu_us_per_message: sum(|usage| usage.cpu_us_per_message),
        switches_per_message: sum(|usage| usage.switches_per_message),
        cores_obtained: sum(|usage| usage.cpu_s).map(per_elapsed),
        join_s: result.join_s,
    }
}
