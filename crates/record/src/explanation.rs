//! Why one side of a duet needs more CPU time than the other.

use serde::{Deserialize, Serialize};

use crate::RatioEstimate;
use crate::observed::Sides;

/// Where the CPU time of both sides of a duet went, and what they did. Samples by a timer and counts, of each start; method:
/// `docs/reference/method.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Samples per second on each CPU.
    pub frequency_hz: u64,
    /// Samples of both sides, servers and crowds, in all starts.
    pub samples: u64,
    /// Starts whose samples count.
    pub starts: u32,
    /// Time that taking samples used, as a share of the CPU time of what was sampled; `null` if the kernel did not tell.
    pub cost_share: Option<f64>,
    /// Where the time went, by process. `null` where a process is on another machine.
    pub time: Sides<ExplainedTime>,
    /// What was counted.
    pub counts: Vec<ExplainedCount>,
}

/// The CPU time of the servers, or of the crowds, four times: each list has all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainedTime {
    /// By what the time was used for.
    pub areas: Vec<ExplainedRow>,
    /// By the system call in which it was used, with all that it led to.
    pub calls: Vec<ExplainedRow>,
    /// By what these system calls are for, so that a side that sends by `write` can be compared with one that sends by `sendto`;
    /// a call that no other can stand for has its own name.
    pub purposes: Vec<ExplainedRow>,
    /// By routine, without those that it called.
    pub routines: Vec<ExplainedRow>,
}

/// What a system call is for, if others can stand for it.
pub fn purpose_of_call(call: &str) -> Option<&'static str> {
    match call {
        "write" | "writev" | "sendto" | "sendmsg" | "sendmmsg" | "sendfile" => Some("sending"),
        "read" | "readv" | "recvfrom" | "recvmsg" | "recvmmsg" => Some("receiving"),
        "epoll_wait" | "epoll_pwait" | "epoll_pwait2" | "poll" | "ppoll" | "select" | "pselect6" => {
            Some("waiting for events")
        }
        "accept" | "accept4" => Some("accepting"),
        _ => None,
    }
}

/// A part of the CPU time per message or other operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainedRow {
    /// The area, system call or routine; `all others` for those too small for a row.
    pub name: String,
    /// Time of side A, µs per message.
    pub a_us: f64,
    /// Time of side B, µs per message.
    pub b_us: f64,
    /// B less A, µs per message: mean over the starts.
    pub difference_us: f64,
    /// Lower end of the interval of the difference, µs.
    pub low_us: f64,
    /// Upper end of the interval of the difference, µs.
    pub high_us: f64,
    /// From this size on the difference would be more than chance, µs.
    pub shows_us: f64,
    /// Whether the difference is more than chance, among all rows of the list.
    pub is_shown: bool,
}

/// What both sides did per message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainedCount {
    /// Who did it.
    pub by: ExplainedProcess,
    /// What was counted, in the plural: `calls of write`, `context switches`.
    pub name: String,
    /// Times per message, side A.
    pub a: f64,
    /// Times per message, side B.
    pub b: f64,
    /// The ratio B / A over the starts; `null` where a side did none in one of them.
    pub ratio: Option<RatioEstimate>,
    /// Whether the difference is more than chance, among all that were counted.
    pub is_shown: bool,
}

/// Whose time or work it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExplainedProcess {
    /// The server, with all its processes.
    Server,
    /// The crowd.
    Crowd,
    /// Both, as the kernel counts for all that share a network.
    Both,
}
