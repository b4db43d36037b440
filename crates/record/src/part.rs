//! Counts of crowds before they become a record. Merging is exact: the merge of merges equals the merge of all.

use std::collections::BTreeMap;

use crate::merge::MergeError;
use crate::sums::{SumError, sum, sum_u32, whole_ns};
use crate::window::Window;
use crate::{
    Cause, Checks, DatabaseCounts, EXAMPLES_MAX, FailureKind, Latency, Operations, Reason, Results, Score,
    Shard, StageScores, Timeline, Usage, UsageOfBoth, Warning, WarningKind, Workload,
};

/// Share of the common time below which the score is a lower bound.
const OVERLAP_SHARE_MIN: f64 = 0.9;

/// Counts of one or several crowds with different rooms.
#[derive(Clone, Debug)]
pub struct Part {
    /// The crowds, by their rooms; at least one.
    pub shards: Vec<Shard>,
    /// Messages sent by all users.
    pub sent: u64,
    /// Deliveries that were verified.
    pub received: u64,
    /// From the first connect to the last join, seconds.
    pub join_s: f64,
    /// Delivery latency; `None` if nothing was delivered.
    pub latency: Option<Latency>,
    /// How late the crowds spoke; only under pacing `rate`.
    pub send_lag: Option<Latency>,
    /// Deliveries over the time of the run; `None` if a crowd did not report them.
    pub over_time: Option<Timeline>,
    /// Results by stage; `None` without stages.
    pub stages: Option<StageScores>,
    /// Every message accounted for.
    pub checks: Checks,
    /// Usage of the crowds; `None` if one could not be measured.
    pub usage: Option<Usage>,
    /// What is particular to the workload.
    pub results: Results,
}

impl Part {
    /// Merges parts, which must have different rooms.
    ///
    /// # Errors
    /// There is no part, two share a room, a histogram cannot be read, or counts are too large to be added.
    pub fn merge(parts: Vec<Part>) -> Result<Part, MergeError> {
        let mut shards: Vec<Shard> = parts.iter().flat_map(|part| part.shards.iter().cloned()).collect();
        shards.sort_by_key(|shard| shard.start);
        if shards.is_empty() {
            return Err(MergeError::None);
        }
        if let Some(pair) = shards.windows(2).find(|pair| pair[1].start <= pair[0].last_room()) {
            return Err(MergeError::SharedRooms { one: pair[0].to_string(), other: pair[1].to_string() });
        }
        let sent = sum("messages sent", parts.iter().map(|part| part.sent))?;
        let received = sum("deliveries", parts.iter().map(|part| part.received))?;
        check_sums(&shards)?;
        let messages = sum("messages sent and deliveries", [sent, received])?;
        let usages: Option<Vec<&Usage>> = parts.iter().map(|part| part.usage.as_ref()).collect();
        Ok(Part {
            shards,
            sent,
            received,
            join_s: parts.iter().map(|part| part.join_s).fold(0.0, f64::max),
            latency: Latency::merge(parts.iter().filter_map(|part| part.latency.as_ref()))?,
            send_lag: Latency::merge(parts.iter().filter_map(|part| part.send_lag.as_ref()))?,
            over_time: Timeline::merge(parts.iter().map(|part| part.over_time.as_ref()))?,
            stages: StageScores::merge(parts.iter().filter_map(|part| part.stages.as_ref()))?,
            checks: checks(&parts)?,
            usage: usages.map(|usages| Usage::together(&usages, messages)).transpose()?,
            results: Results::merge(parts.iter().map(|part| &part.results))?.ok_or(MergeError::None)?,
        })
    }

    /// From the first opening of the gate to the last verified delivery, seconds.
    pub fn elapsed_s(&self) -> f64 {
        Window::from_shards(&self.shards).whole_s
    }

    /// The operations behind the score; `None` for chat.
    pub fn operations(&self, workload: &Workload, score: &Score, usage: &UsageOfBoth) -> Option<Operations> {
        self.results.parties()?;
        let window_s = match self.results.orders() {
            Some(orders) => orders.steady_s,
            None => workload.duration_s().map_or(score.elapsed_s, |window_s| window_s.min(score.elapsed_s)),
        };
        let in_window = self.results.in_window().map(|count| (count, window_s));
        Some(Operations {
            database: database(&self.shards),
            ..Operations::new(workload.kind(), in_window, score, usage)
        })
    }

    /// Parties of all shards.
    pub fn rooms(&self) -> u32 {
        self.shards.iter().fold(0, |sum, shard| sum.saturating_add(shard.rooms))
    }

    /// What the shards together have against the score. A single shard is not named.
    pub fn reasons(&self) -> Vec<Reason> {
        let shards = &self.shards;
        let announced = shards.iter().find_map(|shard| shard.gate.as_ref()).map(|gate| gate.shards as usize);
        let missing = announced.filter(|&announced| announced != shards.len()).map(|announced| {
            let there: Vec<String> = shards.iter().map(ToString::to_string).collect();
            let message =
                format!("{} of {announced} announced shards are here: {}", shards.len(), there.join(", "));
            Reason::new(Cause::MissingShards, message)
        });
        let of_shard = |shard: &Shard| {
            let name = if shards.len() > 1 { format!("{shard}: ") } else { String::new() };
            let reason = |reason: &String| Reason::new(Cause::Crowd, format!("{name}{reason}"));
            shard.reasons.iter().map(reason).collect::<Vec<_>>()
        };
        // A shard that reported nothing comes first: others may have been stopped because of it.
        let silent = |shard: &&Shard| shard.total == 0 && shard.opened.is_none();
        let (first, rest): (Vec<&Shard>, _) = shards.iter().partition(silent);
        missing.into_iter().chain(first.into_iter().chain(rest).flat_map(of_shard)).collect()
    }

    /// What the shards together warn of. A warning that several share appears once.
    pub fn warnings(&self) -> Vec<Warning> {
        let shards = &self.shards;
        let mut warnings: Vec<Warning> = Vec::new();
        for warning in shards.iter().flat_map(|shard| &shard.warnings) {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        for warning in &mut warnings {
            let names: Vec<String> = shards
                .iter()
                .filter(|shard| shard.warnings.contains(warning))
                .map(ToString::to_string)
                .collect();
            if names.len() < shards.len() {
                warning.message = format!("{}: {}", names.join(", "), warning.message);
            }
        }
        let Window { whole_s, overlap_s } = Window::from_shards(shards);
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
}

/// What all servers counted together. Shards of the same server saw nearly the same.
fn database(shards: &[Shard]) -> Option<DatabaseCounts> {
    let mut all: BTreeMap<&str, DatabaseCounts> = BTreeMap::new();
    for shard in shards {
        if let Some(counts) = &shard.database {
            let of_server = all.entry(&shard.address).or_default();
            *of_server = of_server.or_more(counts);
        }
    }
    all.into_values().reduce(|one, other| one.with(&other))
}

/// Checks the sums that are made later, which have no error.
fn check_sums(shards: &[Shard]) -> Result<(), SumError> {
    for shard in shards {
        // Shards share no room, so the rooms of all fit as well.
        sum_u32("first room and rooms of a shard", [shard.start, shard.rooms])?;
        let opened_ns = shard.opened.as_ref().map_or(0, |opened| opened.ns);
        sum("times of a shard", [opened_ns, whole_ns(shard.elapsed_s)])?;
    }
    let counts = || shards.iter().filter_map(|shard| shard.database.as_ref());
    sum("transactions", counts().map(|counts| counts.transactions))?;
    sum("repeated transactions", counts().map(|counts| counts.repeats))?;
    sum("waits for the pool", counts().map(|counts| counts.pool_wait_us))?;
    Ok(())
}

fn checks(parts: &[Part]) -> Result<Checks, SumError> {
    let count = |what, of: fn(&Checks) -> u64| sum(what, parts.iter().map(|part| of(&part.checks)));
    let all = || parts.iter().map(|part| &part.checks);
    let mut faults: Vec<_> = all().flat_map(|checks| checks.faults.clone()).collect();
    faults.sort_by_key(|fault| {
        (
            fault.connection,
            fault.reader,
            fault.room,
            fault.user,
            fault.speaker,
            fault.sequence,
            fault.kind as u8,
            fault.count,
            fault.detail.clone(),
        )
    });
    faults.truncate(EXAMPLES_MAX);
    let mut strangers: Vec<_> = all().flat_map(|checks| checks.strangers.clone()).collect();
    strangers.sort_by_key(|stranger| (stranger.room, stranger.nick.clone()));
    strangers.truncate(EXAMPLES_MAX);
    // A crowd that was stopped on request is not the cause if another one failed.
    let failure = all().filter_map(|checks| checks.failure.clone()).min_by_key(|failure| {
        (
            failure.kind == FailureKind::Stopped,
            failure.kind as u8,
            failure.connection,
            failure.room,
            failure.user,
            failure.detail.clone(),
        )
    });
    Ok(Checks {
        lost: count("lost deliveries", |checks| checks.lost)?,
        unsent: count("unsent messages", |checks| checks.unsent)?,
        duplicated: count("duplicated deliveries", |checks| checks.duplicated)?,
        reordered: count("reordered deliveries", |checks| checks.reordered)?,
        corrupted: count("corrupted deliveries", |checks| checks.corrupted)?,
        unexpected: count("unexpected replies", |checks| checks.unexpected)?,
        wrong: count("wrong replies", |checks| checks.wrong)?,
        faults,
        strangers,
        failure,
        finished: all().any(|checks| checks.finished),
    })
}
