//! What a crowd prints, line by line. Normative description: `docs/reference/protocol.md`.

use serde::{Deserialize, Serialize};

use crate::request_parts::RequestDigest;
use crate::{
    Build, DatabaseCounts, Environment, IntervalCounts, MqttVersion, Results, StageCounts, TlsSession, Usage,
};

/// One line of a crowd's standard output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum CrowdEvent {
    /// Some users have joined, and others have not.
    Joining {
        /// Number of users that have joined.
        joined: u64,
        /// The users that are to join.
        users: u64,
    },
    /// Every user has joined.
    Joined {
        /// From the first connect to the last join, seconds.
        join_s: f64,
    },
    /// It waits at a gate.
    Gate {
        /// Shards that are here, with this one.
        here: u32,
        /// Shards that the gate waits for in all.
        shards: u32,
    },
    /// The gate has opened: all shards are there.
    Open,
    /// How far it is.
    Progress {
        /// Messages sent so far.
        sent: u64,
        /// Deliveries verified so far.
        received: u64,
        /// Sent + received at the end.
        expected: u64,
        /// Latencies of deliveries since the last event, in the form of [`IntervalCounts`]: those of the
        /// intervals that have ended.
        #[serde(default)]
        latency_ns: Vec<(u64, u64)>,
    },
    /// The answer to `pause`: every message sent so far is delivered, and no other is sent before `resume`.
    Paused(Box<PausedCounts>),
    /// CPUs that server and crowd used lately; `null` for a side on another machine. No crowd prints it: the
    /// parent that controls the crowds adds it for progress displays.
    Cpus {
        /// CPUs that the server had, as a mean.
        server: Option<f64>,
        /// CPUs that the crowd had, as a mean.
        crowd: Option<f64>,
    },
    /// Last verified delivery, or it gave up.
    Done,
    /// The crowd's own counters, for a parent on another machine.
    SelfReport(Box<CrowdSelfReport>),
    /// The complete result; the last line.
    Result(Box<CrowdResult>),
}

/// The counts of a crowd in a pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PausedCounts {
    /// Messages sent since the gate opened.
    pub sent: u64,
    /// Deliveries verified since the gate opened.
    pub received: u64,
    /// From the opening of the gate to the last verified delivery without the time of pauses, ns.
    pub active_ns: u64,
    /// Latencies of the deliveries since the previous pause: lowest value of a bucket in ns, and how often.
    pub latency_ns: Vec<(u64, u64)>,
}

/// What a crowd counted of its own process, and the machine it runs on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrowdSelfReport {
    /// The name of the machine.
    pub host: String,
    /// The machine's clock, as in [`crate::Moment`].
    pub clock: Option<String>,
    /// The program of the crowd.
    pub klatch: Build,
    /// What it used from the opening of the gate to the last delivery.
    pub usage: Option<Usage>,
    /// Hardware, kernel and limits of its machine.
    pub environment: Environment,
}

/// The largest number of faults, and of strangers, that a result lists as examples.
pub const EXAMPLES_MAX: usize = 20;

/// The counts of one crowd at its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CrowdResult {
    /// Messages sent by all users.
    pub sent: u64,
    /// Deliveries verified, each message once a listener.
    pub received: u64,
    /// When the gate opened: ns on the machine's CLOCK_MONOTONIC; `null` if it did not open, or if the crowd does not report it.
    pub opened_ns: Option<u64>,
    /// The random number with which the shards' gate was opened, in hexadecimal; absent without such a gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_run: Option<String>,
    /// Addresses of the server to which connections were made; empty if its name has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// What requests have of files; absent without such requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestDigest>,
    /// What TLS agreed to, on one of the connections; absent without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsSession>,
    /// Version of MQTT that was spoken; absent for other protocols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mqtt_version: Option<MqttVersion>,
    /// Event loops that it had; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loops: Option<u32>,
    /// From the opening of the gate to the last verified delivery, seconds.
    pub elapsed_s: f64,
    /// From the first connect to the last join, seconds.
    pub join_s: f64,
    /// Delivery latencies: lowest value of a bucket in ns, and how often.
    pub latency_ns: Vec<(u64, u64)>,
    /// Pacing `rate`: how late a message was handed to the socket, in the same form.
    pub send_lag_ns: Vec<(u64, u64)>,
    /// Times in which the crowd itself did not run; the longest ones, in order. Empty if there was none, or if the crowd does not look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<CrowdGap>,
    /// Delivery latencies by the interval of their arrival; `null` if the crowd does not report them.
    pub over_time: Option<IntervalCounts>,
    /// Counts of each stage of the schedule; empty without stages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageCounts>,
    /// Deliveries missing for messages that were sent.
    pub lost: u64,
    /// Messages that were never sent.
    pub unsent: u64,
    /// Deliveries that arrived more than once.
    pub duplicated: u64,
    /// Deliveries that arrived after a later one of the same speaker.
    pub reordered: u64,
    /// Deliveries that were changed.
    pub corrupted: u64,
    /// Replies that no request asked for.
    #[serde(default)]
    pub unexpected: u64,
    /// Replies with another status, cookie or end than they must have.
    #[serde(default)]
    pub wrong: u64,
    /// What is particular to its workload.
    pub results: Results,
    /// What the server counted of its transactions; only where there is a database, and only servers that report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseCounts>,
    /// The first faults, as examples.
    pub faults: Vec<Fault>,
    /// Users in the rooms that do not belong to the crowd.
    pub strangers: Vec<Stranger>,
    /// Why the crowd gave up, if it did.
    pub failure: Option<Failure>,
    /// The parent ended the run in a pause, so messages that were not sent are no fault.
    #[serde(default)]
    pub finished: bool,
}

/// Length from which a crowd notes a gap, seconds. A crowd of threads notes those from [`CROWD_FROZEN_MIN_S`] alone.
pub const CROWD_GAP_MIN_S: f64 = 0.001;

/// Length of a gap from which a crowd counts as frozen, seconds.
pub const CROWD_FROZEN_MIN_S: f64 = 0.25;

/// A time in which a crowd did not run although it was due: it was stopped, it got no CPU, or it had too much to do at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CrowdGap {
    /// Its begin, seconds after the opening of the gate, without the time of pauses.
    pub from_s: f64,
    /// Its end, in the same form.
    pub to_s: f64,
}

impl CrowdGap {
    /// Its length, seconds.
    pub fn length_s(&self) -> f64 {
        self.to_s - self.from_s
    }
}

/// One fault in the deliveries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// Number of the connection, counted from 1; absent for chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<u32>,
    /// Number of the reader of `files`, counted from 1; absent for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<u32>,
    /// Room number, counted from 1; 0 for other workloads than chat.
    pub room: u32,
    /// The listener; `null` for messages that were never sent.
    pub user: Option<u32>,
    /// The speaker, where known.
    pub speaker: Option<u32>,
    /// The (first) message of that speaker, where known.
    pub sequence: Option<u32>,
    /// How many messages this stands for.
    pub count: u64,
    /// Details as text, such as the bytes received; `null` where the kind of the fault says all.
    pub detail: Option<String>,
}

/// What can be wrong with a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Sent, but never delivered.
    Lost,
    /// Never sent, because the crowd ended early.
    Unsent,
    /// Delivered again, or to its own speaker.
    Duplicated,
    /// Delivered after a later one of the same speaker.
    Reordered,
    /// Delivered with other bytes than were sent.
    Corrupted,
    /// A reply that no request asked for.
    Unexpected,
    /// A reply with another status, cookie or end than it must have.
    Wrong,
}

/// A user in a room that does not belong to the crowd.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stranger {
    /// Room number, counted from 1.
    pub room: u32,
    /// The nickname that it uses.
    pub nick: String,
    /// Number of the stranger's messages, each counted once.
    pub messages: u64,
}

/// Why a crowd gave up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// Number of the affected connection, counted from 1; absent for chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<u32>,
    /// Room of the affected user, if it affects one.
    pub room: Option<u32>,
    /// The affected user, if it affects one.
    pub user: Option<u32>,
    /// The failure as text, with its cause.
    pub detail: String,
}

/// What can end a run early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No connection could be made at all.
    Connect,
    /// A user could not register or join.
    Join,
    /// The server answered a message with an error.
    Refused,
    /// A connection was closed or broke.
    Disconnect,
    /// A file could not be read, or not from the page cache.
    Read,
    /// Nothing arrived within the time-out.
    Timeout,
    /// The parent stopped it.
    Stopped,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            FaultKind::Lost => "lost",
            FaultKind::Unsent => "unsent",
            FaultKind::Duplicated => "duplicated",
            FaultKind::Reordered => "reordered",
            FaultKind::Corrupted => "corrupted",
            FaultKind::Unexpected => "unexpected",
            FaultKind::Wrong => "wrong",
        };
        if let Some(connection) = self.connection {
            return self.show_numbered(&format!("{kind}: connection {connection}"), "request", f);
        }
        if let Some(reader) = self.reader {
            return self.show_numbered(&format!("{kind}: reader {reader}"), "read", f);
        }
        write!(f, "{kind}: room {}", self.room)?;
        if let Some(user) = self.user {
            write!(f, ", user {user}")?;
        }
        match (self.speaker, self.sequence) {
            (Some(speaker), Some(sequence)) => write!(f, ", message {sequence} of user {speaker}")?,
            (Some(speaker), None) => write!(f, ", a message of user {speaker}")?,
            (None, _) => {}
        }
        if self.count > 1 {
            write!(f, " and {} after it", self.count - 1)?;
        }
        self.detail.as_ref().map_or(Ok(()), |detail| write!(f, " ({detail})"))
    }
}

impl Fault {
    /// A fault of one request of a connection, or of the reply to it.
    pub fn of_connection(kind: FaultKind, connection: u32, sequence: u32, detail: Option<String>) -> Fault {
        Fault {
            kind,
            connection: Some(connection),
            reader: None,
            room: 0,
            user: None,
            speaker: None,
            sequence: Some(sequence),
            count: 1,
            detail,
        }
    }

    /// Writes a fault of a numbered party, of which each `operation` has a number too.
    fn show_numbered(
        &self,
        party: &str,
        operation: &str,
        f: &mut std::fmt::Formatter<'_>,
    ) -> std::fmt::Result {
        f.write_str(party)?;
        if let Some(sequence) = self.sequence {
            write!(f, ", {operation} {sequence}")?;
        }
        if self.count > 1 {
            write!(f, " and {} after it", self.count - 1)?;
        }
        self.detail.as_ref().map_or(Ok(()), |detail| write!(f, " ({detail})"))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(connection) = self.connection {
            return write!(f, "connection {connection}: {}", self.detail);
        }
        match (self.room, self.user) {
            (Some(room), Some(user)) => write!(f, "room {room}, user {user}: {}", self.detail),
            _ => write!(f, "{}", self.detail),
        }
    }
}
