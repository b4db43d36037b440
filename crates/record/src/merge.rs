//! Several records of shards as one. It is exact: the merge of merges equals the merge of all.

use std::path::PathBuf;

use serde::Serialize;
use thiserror::Error;

use crate::{
    Cause, LatencyError, Part, Platform, Reason, Record, Score, Shard, SumError, Usage, UsageOfBoth, Verdict,
    Warning,
};

/// Why records cannot be one.
#[derive(Debug, Error)]
pub enum MergeError {
    /// No record was given.
    #[error("there is no record to merge")]
    None,
    /// The records describe different measurements.
    #[error("these are not shards of one run: {what} is {one} in one record and {other} in another")]
    Different {
        /// The part of the record that differs.
        what: &'static str,
        /// Its value in the first record.
        one: String,
        /// Its value in the other record.
        other: String,
    },
    /// Two shards had the same room.
    #[error("{one} and {other} share rooms: is a record named twice?")]
    SharedRooms {
        /// The rooms of one shard.
        one: String,
        /// The rooms of the other.
        other: String,
    },
    /// A record has no shards.
    #[error("a record of {started_at} names no shard")]
    NoShards {
        /// When the record's run began, RFC 3339 in UTC.
        started_at: String,
    },
    /// A server's part was given twice.
    #[error("there are the files of {0} servers, and a gate is a room of one server")]
    SeveralServers(usize),
    /// A histogram cannot be read.
    #[error(transparent)]
    Latency(#[from] LatencyError),
    /// Counts are too large to be added.
    #[error(transparent)]
    Sum(#[from] SumError),
    /// A file cannot be read.
    #[error("cannot read the record {path}: {source}", path = path.display())]
    Read {
        /// The file that cannot be read.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file is no record.
    #[error("{path} is no record: {source}", path = path.display())]
    NoRecord {
        /// The file that holds something else.
        path: PathBuf,
        /// What is wrong with its JSON.
        source: serde_json::Error,
    },
}

/// Makes one record of the records of shards, which must have done the same in different rooms.
///
/// # Errors
/// They are not of one run; see [`MergeError`].
pub fn merge(mut records: Vec<Record>) -> Result<Record, MergeError> {
    if let Some(without) = records.iter().find(|record| record.shards.is_empty()) {
        return Err(MergeError::NoShards { started_at: without.started_at.clone() });
    }
    records.sort_by_key(|record| record.workload.start());
    let first = records.first().ok_or(MergeError::None)?;
    records.iter().try_for_each(|other| same(first, other))?;
    // No single command makes the runs of several records.
    let options = first.options.clone().filter(|_| records.len() == 1);
    let parts: Vec<Part> = parts(&records);
    let (own_reasons, own_warnings) = (own_reasons(&records), own_warnings(&records, &parts));
    let part = Part::merge(parts)?;
    let servers: Option<Vec<&Usage>> = records.iter().map(|record| record.usage.server.as_ref()).collect();
    let server = servers.map(|servers| Usage::together(&servers, part.sent + part.received)).transpose()?;
    let usage = UsageOfBoth { server, crowd: part.usage.clone(), database: None };
    let score =
        Score::new(first.workload.kind(), part.sent, part.received, part.elapsed_s(), part.join_s, &usage);
    Ok(Record {
        started_at: records.iter().map(|record| record.started_at.clone()).min().unwrap_or_default(),
        platform: platform(first, &part.shards),
        workload: first.workload.with_parties(first.workload.start(), part.rooms()),
        options,
        verdict: Verdict::from_reasons([own_reasons, part.reasons()].concat()),
        warnings: [own_warnings, part.warnings()].concat(),
        operations: part.operations(&first.workload, &score, &usage),
        results: part.results,
        audit: None,
        joining: None,
        score,
        latency: part.latency,
        send_lag: part.send_lag,
        over_time: part.over_time,
        stages: part.stages,
        checks: part.checks,
        usage,
        shards: part.shards,
        ..first.clone()
    })
}

/// Formats one part of a record for comparison.
type Property<'a> = &'a dyn Fn(&Record) -> String;

fn same(one: &Record, other: &Record) -> Result<(), MergeError> {
    let named = |record: &Record| {
        // The address of a server is its name where somebody else started it.
        let of_target = record.platform.command.is_none();
        if of_target { "a server that ran already".to_owned() } else { record.platform.name.clone() }
    };
    let workload_of_a_party = |record: &Record| as_json(&record.workload.with_parties(0, 0));
    let build = |record: &Record| record.klatch.to_string();
    let gate = |record: &Record| match record.shards.first().and_then(|shard| shard.gate.as_ref()) {
        Some(gate) => gate.to_string(),
        None => "none".to_owned(),
    };
    // Another run of the same shards has the same gate, which was opened with another number.
    let gate_run = |record: &Record| {
        let run = record.shards.first().and_then(|shard| shard.gate_run.clone());
        run.unwrap_or_else(|| "unknown".to_owned())
    };
    let knobs = |record: &Record| as_json(&record.platform.knobs);
    let role = |record: &Record| format!("{} {}", as_json(&record.role), record.number);
    let parts: [(&'static str, Property<'_>); 9] = [
        ("the build of klatch", &build),
        ("the platform", &named),
        ("what is set about it", &knobs),
        ("the protocol", &|record| record.platform.protocol.name().to_owned()),
        ("the crowd", &|record| record.crowd.kind.name().to_owned()),
        ("the workload of a party", &workload_of_a_party),
        ("the run", &role),
        ("the gate", &gate),
        ("the run at the gate", &gate_run),
    ];
    for (what, property) in parts {
        let (one, other) = (property(one), property(other));
        if one != other {
            return Err(MergeError::Different { what, one, other });
        }
    }
    Ok(())
}

fn as_json(part: &impl Serialize) -> String {
    serde_json::to_string(part).expect("a part of a record is plain JSON")
}

/// The counts of each record's crowds. Each shard is given its environment, unless all have that of the first record.
fn parts(records: &[Record]) -> Vec<Part> {
    let alike = records.iter().all(|record| {
        record.environment == records[0].environment
            && record.shards.iter().all(|shard| shard.environment.is_none())
    });
    let placed = |record: &Record, shard: &Shard| {
        let of_record = (!alike).then(|| record.environment.clone());
        Shard { environment: shard.environment.clone().or(of_record), ..shard.clone() }
    };
    let part = |record: &Record| Part {
        shards: record.shards.iter().map(|shard| placed(record, shard)).collect(),
        sent: record.score.sent,
        received: record.score.received,
        join_s: record.score.join_s,
        latency: record.latency.clone(),
        send_lag: record.send_lag.clone(),
        over_time: record.over_time.clone(),
        stages: record.stages.clone(),
        checks: record.checks.clone(),
        usage: record.usage.crowd.clone(),
        results: record.results.clone(),
    };
    records.iter().map(part).collect()
}

fn platform(first: &Record, shards: &[Shard]) -> Platform {
    let mut addresses: Vec<&str> = shards.iter().map(|shard| shard.address.as_str()).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let address = addresses.join(", ");
    let of_target = first.platform.command.is_none();
    let name = format!("{}://{address}", first.platform.transport.scheme(first.platform.protocol));
    Platform {
        servers: addresses.len() as u32,
        name: if of_target { name } else { first.platform.name.clone() },
        address,
        ..first.platform.clone()
    }
}

/// Reasons that belong to the runs. Those of the shards are derived anew, as their names and number change.
fn own_reasons(records: &[Record]) -> Vec<Reason> {
    let mut own: Vec<Reason> = Vec::new();
    for reason in records.iter().flat_map(|record| &record.verdict.reasons) {
        if !matches!(reason.cause, Cause::Crowd | Cause::MissingShards) && !own.contains(reason) {
            own.push(reason.clone());
        }
    }
    own.sort_by(|one, other| one.message.cmp(&other.message));
    own
}

/// Warnings that belong to the runs, beside those of their shards.
fn own_warnings(records: &[Record], parts: &[Part]) -> Vec<Warning> {
    let mut own: Vec<Warning> = Vec::new();
    for (record, part) in records.iter().zip(parts) {
        let of_shards = part.warnings();
        for warning in &record.warnings {
            if !of_shards.contains(warning) && !own.contains(warning) {
                own.push(warning.clone());
            }
        }
    }
    own.sort_by(|one, other| one.message.cmp(&other.message));
    own
}

#[cfg(test)]
#[path = "merge_tests.rs"]
pub(crate) mod tests;

#[cfg(test)]
#[path = "merge_properties.rs"]
mod properties;
