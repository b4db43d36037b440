//! Whether a score counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a score counts, and if not, why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The verdict itself.
    pub status: Status,
    /// Why it is not `valid`: what, where, how often. Empty if it is.
    pub reasons: Vec<String>,
}

/// The verdict on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every message is accounted for.
    Valid,
    /// The score must not be used.
    Invalid,
    /// Every message is accounted for, and yet it cannot be told whether the score is the server's.
    Unknown,
}

/// Something to know when reading the score; it still counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Which.
    pub kind: WarningKind,
    /// What was seen.
    pub message: String,
    /// What to do about it.
    pub advice: String,
}

/// The things to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Somebody who is not of the crowd was in a room.
    Stranger,
    /// Other programs were running when the run began.
    MachineBusy,
    /// The hypervisor gave CPU time to others.
    Steal,
    /// The crowd spoke later than its schedule.
    CrowdLate,
    /// The crowd's CPU was saturated, and the server's was not.
    CrowdLimit,
    /// Throughput and latency contradict each other.
    LittlesLaw,
    /// One trial is far off the others.
    Outlier,
    /// The trials go up or down.
    Trend,
    /// A cell converged in a study in which few did.
    LuckyCell,
    /// Too few trials for an interval that says much.
    FewTrials,
    /// A Java virtual machine stood still for garbage collection for long.
    GarbageCollection,
    /// The CPUs ran faster in some trials than in others.
    CpuFrequency,
    /// All trials are of one start of the server, and starts are known to differ.
    OneStart,
    /// Some shards were active for longer than others.
    ShardsUneven,
    /// The CPU time is of another span than the messages, as the run was short.
    TooShort,
}
