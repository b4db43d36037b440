//! Several records of shards as one. It is exact: the merge of merges equals the merge of all.

use std::path::PathBuf;

use serde::Serialize;
use thiserror::Error;

use crate::window::Window;
use crate::{
    Checks, EXAMPLES_MAX, FailureKind, Latency, LatencyError, Platform, Record, Score, Shard, Status,
    Timeline, Usage, UsageOfBoth, Verdict, Warning, WarningKind, Workload,
};

/// Below this share of common time the score is told to be a lower bound.
const OVERLAP_SHARE_MIN: f64 = 0.9;

/// Why records cannot be one.
#[derive(Debug, Error)]
pub enum MergeError {
    /// There is none.
    #[error("there is no record to merge")]
    None,
    /// They tell of different things.
    #[error("these are not shards of one run: {what} is {one} in one record and {other} in another")]
    Different {
        /// Of what.
        what: &'static str,
        /// Here.
        one: String,
        /// There.
        other: String,
    },
    /// Two shards had the same room.
    #[error("{one} and {other} share rooms: is a record named twice?")]
    SharedRooms {
        /// A shard.
        one: String,
        /// Another.
        other: String,
    },
    /// A record is older than shards are.
    #[error("a record of {started_at} names no shard: it is of an older klatch")]
    NoShards {
        /// When it began.
        started_at: String,
    },
    /// A histogram cannot be read.
    #[error(transparent)]
    Latency(#[from] LatencyError),
    /// A file cannot be read.
    #[error("cannot read the record {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file is no record.
    #[error("{path} is no record: {source}", path = path.display())]
    NoRecord {
        /// The file.
        path: PathBuf,
        /// Why not.
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
    records.sort_by_key(|record| record.workload.start);
    let first = records.first().ok_or(MergeError::None)?;
    records.iter().try_for_each(|other| same(first, other))?;
    let mut own_reasons = own(&records, |record| &record.verdict.reasons, reasons_of);
    own_reasons.sort();
    let mut own_warnings = own(&records, |record| &record.warnings, warnings_of);
    own_warnings.sort_by(|one, other| one.message.cmp(&other.message));
    let latency = Latency::merge(records.iter().filter_map(|record| record.latency.as_ref()))?;
    let send_lag = Latency::merge(records.iter().filter_map(|record| record.send_lag.as_ref()))?;
    let over_time = Timeline::merge(records.iter().map(|record| record.over_time.as_ref()))?;
    let sum = |of: fn(&Score) -> u64| records.iter().map(|record| of(&record.score)).sum();
    let (sent, received) = (sum(|score| score.sent), sum(|score| score.received));
    let usage_of = |of: fn(&UsageOfBoth) -> &Option<Usage>| {
        let all: Option<Vec<&Usage>> = records.iter().map(|record| of(&record.usage).as_ref()).collect();
        all.map(|all| Usage::together(&all, sent + received))
    };
    let usage = UsageOfBoth { server: usage_of(|both| &both.server), crowd: usage_of(|both| &both.crowd) };
    let join_s = records.iter().map(|record| record.score.join_s).fold(0.0, f64::max);
    let checks = checks(&records);
    let shards = shards(&records)?;
    let warnings = [own_warnings, warnings_of(&shards)].concat();
    let workload = Workload { rooms: shards.iter().map(|shard| shard.rooms).sum(), ..first.workload.clone() };
    Ok(Record {
        started_at: records.iter().map(|record| record.started_at.clone()).min().unwrap_or_default(),
        platform: platform(first, &shards),
        workload,
        verdict: verdict(own_reasons, &shards, &warnings),
        warnings,
        score: Score::of(sent, received, Window::of(&shards).whole_s, join_s, &usage),
        latency,
        send_lag,
        over_time,
        checks,
        usage,
        shards,
        ..first.clone()
    })
}

/// Reads records from files, and merges them.
///
/// # Errors
/// See [`MergeError`].
pub fn merge_files(paths: &[PathBuf]) -> Result<Record, MergeError> {
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|source| MergeError::Read { path: path.clone(), source })?;
        serde_json::from_str(&text).map_err(|source| MergeError::NoRecord { path: path.clone(), source })
    };
    merge(paths.iter().map(read).collect::<Result<_, _>>()?)
}

/// Tells one part of a record.
type Telling<'a> = &'a dyn Fn(&Record) -> String;

fn same(one: &Record, other: &Record) -> Result<(), MergeError> {
    let named = |record: &Record| {
        // The address of a server is its name where somebody else started it.
        let of_target = record.platform.command.is_none();
        if of_target { "a server that ran already".to_owned() } else { record.platform.name.clone() }
    };
    let of_all_rooms = |record: &Record| {
        let alike = Workload { rooms: 0, start: 0, ..record.workload.clone() };
        as_json(&alike)
    };
    let build = |record: &Record| {
        let commit = record.klatch.commit.clone().unwrap_or_default();
        format!("{} {commit}", record.klatch.version)
    };
    let gate = |record: &Record| match record.shards.first().and_then(|shard| shard.gate.as_ref()) {
        Some(gate) => gate.to_string(),
        None => "none".to_owned(),
    };
    let knobs = |record: &Record| as_json(&record.platform.knobs);
    let role = |record: &Record| format!("{} {}", as_json(&record.role), record.number);
    let parts: [(&'static str, Telling<'_>); 8] = [
        ("the build of klatch", &build),
        ("the platform", &named),
        ("what is set about it", &knobs),
        ("the wire", &|record| record.platform.wire.name().to_owned()),
        ("the crowd", &|record| record.crowd.kind.clone()),
        ("the workload of a room", &of_all_rooms),
        ("the run", &role),
        ("the gate", &gate),
    ];
    for (what, of) in parts {
        let (one, other) = (of(one), of(other));
        if one != other {
            return Err(MergeError::Different { what, one, other });
        }
    }
    Ok(())
}

fn as_json(part: &impl Serialize) -> String {
    serde_json::to_string(part).expect("a part of a record is plain JSON")
}

/// All shards in the order of their rooms. Each is told its environment, unless all have that of the record.
fn shards(records: &[Record]) -> Result<Vec<Shard>, MergeError> {
    let alike = records.iter().all(|record| {
        record.environment == records[0].environment
            && record.shards.iter().all(|shard| shard.environment.is_none())
    });
    let mut shards = Vec::new();
    for record in records {
        shards.extend(record.shards.iter().cloned().map(|mut shard| {
            if !alike && shard.environment.is_none() {
                shard.environment = Some(record.environment.clone());
            }
            shard
        }));
    }
    shards.sort_by_key(|shard| shard.start);
    match shards.windows(2).find(|pair| pair[1].start <= pair[0].last_room()) {
        Some(pair) => Err(MergeError::SharedRooms { one: pair[0].to_string(), other: pair[1].to_string() }),
        None => Ok(shards),
    }
}

fn platform(first: &Record, shards: &[Shard]) -> Platform {
    let mut addresses: Vec<&str> = shards.iter().map(|shard| shard.address.as_str()).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let address = addresses.join(", ");
    let of_target = first.platform.command.is_none();
    let name = format!("{}://{address}", first.platform.wire.name());
    Platform {
        servers: addresses.len() as u32,
        name: if of_target { name } else { first.platform.name.clone() },
        address,
        ..first.platform.clone()
    }
}

fn checks(records: &[Record]) -> Checks {
    let sum = |of: fn(&Checks) -> u64| records.iter().map(|record| of(&record.checks)).sum();
    let all = || records.iter().map(|record| &record.checks);
    let mut faults: Vec<_> = all().flat_map(|checks| checks.faults.clone()).collect();
    faults.sort_by_key(|fault| (fault.room, fault.user, fault.speaker, fault.sequence, fault.kind as u8));
    faults.truncate(EXAMPLES_MAX);
    let mut strangers: Vec<_> = all().flat_map(|checks| checks.strangers.clone()).collect();
    strangers.sort_by_key(|stranger| (stranger.room, stranger.nick.clone()));
    strangers.truncate(EXAMPLES_MAX);
    // Who was stopped is less of a cause than whatever happened to the others.
    let failure = all().filter_map(|checks| checks.failure.clone()).min_by_key(|failure| {
        (failure.kind == FailureKind::Stopped, failure.room, failure.user, failure.detail.clone())
    });
    Checks {
        lost: sum(|checks| checks.lost),
        unsaid: sum(|checks| checks.unsaid),
        repeated: sum(|checks| checks.repeated),
        reordered: sum(|checks| checks.reordered),
        altered: sum(|checks| checks.altered),
        faults,
        strangers,
        failure,
    }
}

/// A reason that is only a warning too leaves the verdict unknown; any other makes it invalid.
fn verdict(own: Vec<String>, shards: &[Shard], warnings: &[Warning]) -> Verdict {
    let reasons = [own, reasons_of(shards)].concat();
    let only_warned = |reason: &String| warnings.iter().any(|warning| warning.message == *reason);
    let status = match reasons.is_empty() {
        true => Status::Valid,
        false if reasons.iter().all(only_warned) => Status::Unknown,
        false => Status::Invalid,
    };
    Verdict { status, reasons }
}

/// What the shards say together against the score. One alone needs no name.
fn reasons_of(shards: &[Shard]) -> Vec<String> {
    let announced = shards.iter().find_map(|shard| shard.gate.as_ref()).map(|gate| gate.shards as usize);
    let missing = announced.filter(|&announced| announced != shards.len()).map(|announced| {
        let there: Vec<String> = shards.iter().map(ToString::to_string).collect();
        format!("{} of {announced} announced shards are here: {}", shards.len(), there.join(", "))
    });
    let told = |shard: &Shard| {
        let name = if shards.len() > 1 { format!("{shard}: ") } else { String::new() };
        shard.reasons.iter().map(|reason| format!("{name}{reason}")).collect::<Vec<_>>()
    };
    missing.into_iter().chain(shards.iter().flat_map(told)).collect()
}

/// What the shards say together about the score. What several say in the same words is said once.
fn warnings_of(shards: &[Shard]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for warning in shards.iter().flat_map(|shard| &shard.warnings) {
        if warnings.contains(warning) {
            continue;
        }
        warnings.push(warning.clone());
    }
    for warning in &mut warnings {
        let says = |shard: &&Shard| shard.warnings.contains(warning);
        let who: Vec<String> = shards.iter().filter(says).map(ToString::to_string).collect();
        if who.len() < shards.len() {
            warning.message = format!("{}: {}", who.join(", "), warning.message);
        }
    }
    let Window { whole_s, overlap_s } = Window::of(shards);
    if overlap_s < whole_s * OVERLAP_SHARE_MIN {
        let share = overlap_s / whole_s * 100.0;
        warnings.push(Warning {
            kind: WarningKind::ShardsUneven,
            message: format!("all shards were active in {share:.0} % of the time only"),
            advice: "the score is a lower bound: give each shard as many rooms as the others".to_owned(),
        });
    }
    warnings
}

/// What records say of themselves, beside what their shards say.
fn own<T: Clone + PartialEq>(
    records: &[Record],
    all: fn(&Record) -> &Vec<T>,
    told_by: fn(&[Shard]) -> Vec<T>,
) -> Vec<T> {
    let mut own = Vec::new();
    for record in records {
        let told = told_by(&record.shards);
        for said in all(record) {
            if !told.contains(said) && !own.contains(said) {
                own.push(said.clone());
            }
        }
    }
    own
}

#[cfg(test)]
#[path = "merge_tests.rs"]
pub(crate) mod tests;
