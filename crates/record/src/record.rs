//! The complete machine-readable result of a run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    Audit, Database, Environment, Failure, Fault, Joining, Latency, Observation, Operations, ProtocolName,
    Results, RunOptions, Shard, StageScores, Stranger, Timeline, Transport, Usage, Verdict, Warning,
    Workload, WorkloadKind,
};

/// The schema name that every record carries in [`Record::schema`].
pub const SCHEMA_NAME: &str = "klatch-record/2";

/// The complete result of a run: what ran, where, the score, the checks, the observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// The schema of this JSON, always `klatch-record/2`.
    pub schema: String,
    /// The program that made the record.
    pub klatch: Build,
    /// When the run began, RFC 3339 in UTC.
    pub started_at: String,
    /// Whether the run counts.
    pub role: Role,
    /// Its number among the runs of its role, from 1.
    pub number: u32,
    /// The platform that was measured.
    pub platform: Platform,
    /// The crowd that measured it.
    pub crowd: CrowdInfo,
    /// What the crowd did.
    pub workload: Workload,
    /// What was asked for beside platform, crowd, workload and sysctls; absent where no `klatch run` or study started the crowd, and in
    /// merged records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<RunOptions>,
    /// Whether the score counts.
    pub verdict: Verdict,
    /// Caveats for the reader of the score.
    pub warnings: Vec<Warning>,
    /// The score; its numbers are those reached even when the verdict is `invalid`.
    pub score: Score,
    /// The operations of the workload, which are its score; absent for chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<Operations>,
    /// What is particular to the workload.
    pub results: Results,
    /// The audit of the database; absent for workloads without one, and where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// What it cost to connect the crowd; absent in merged records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joining: Option<Joining>,
    /// Delivery latency; `null` where nothing was delivered.
    pub latency: Option<Latency>,
    /// How late the crowd spoke; only under pacing `rate`.
    pub send_lag: Option<Latency>,
    /// Deliveries over the time of the run; `null` where the crowd does not report them.
    pub over_time: Option<Timeline>,
    /// Results by stage of the schedule; absent without stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<StageScores>,
    /// Every message accounted for.
    pub checks: Checks,
    /// What server and crowd used.
    pub usage: UsageOfBoth,
    /// What the instruments saw that were asked for.
    pub observations: Vec<Observation>,
    /// The machine on which it ran.
    pub environment: Environment,
    /// The crowds that made it, by their rooms; one, unless it was spread over several.
    pub shards: Vec<Shard>,
}

/// Version, commit and build profile of the program that measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// Version of the package.
    pub version: String,
    /// The commit it was built from, with `-dirty` if the tree was changed; `null` if built without git.
    pub commit: Option<String>,
    /// The cargo profile it was built with: `release`, `dist` or `debug`; `null` if unknown. What is measured is compiled alike in all.
    pub profile: Option<String>,
    /// The build id of the program, in hexadecimal, where the commit does not name its source: with `-dirty`, or without git. Absent for
    /// other builds, and if it was linked without one; two such programs may differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
}

impl Build {
    /// Whether its commit names its source, so that two builds of that commit do the same.
    pub fn has_source(&self) -> bool {
        self.commit.as_ref().is_some_and(|commit| !commit.ends_with("-dirty"))
    }

    /// Whether it is another program than `other`. Of two builds without a source and a build id, nobody knows.
    pub fn differs_from(&self, other: &Build) -> bool {
        self != other || (!self.has_source() && self.build_id.is_none())
    }
}

/// The version and the commit or build id, as texts name a build.
impl std::fmt::Display for Build {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.version, self.commit.as_deref().unwrap_or("of an unknown commit"))?;
        if let Some(profile) = &self.profile {
            write!(f, ", profile {profile}")?;
        }
        match (&self.build_id, self.has_source()) {
            (Some(id), _) => write!(f, ", build {}", id.get(..12).unwrap_or(id)),
            (None, true) => Ok(()),
            (None, false) => f.write_str(", of unknown contents"),
        }
    }
}

/// Whether a run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The run warms the server up and does not count.
    WarmUp,
    /// The run is a trial: it counts.
    Trial,
}

/// The platform that was measured, as it was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Platform {
    /// Its name in the catalog, or the address of a server that somebody else started.
    pub name: String,
    /// How it writes; `null` where unknown.
    pub class: Option<Class>,
    /// The protocol it speaks.
    pub protocol: ProtocolName,
    /// What lies between its protocol and TCP; absent if nothing.
    #[serde(default, skip_serializing_if = "Transport::is_plain")]
    pub transport: Transport,
    /// What was set about it.
    pub knobs: BTreeMap<String, String>,
    /// The server's version, if it reports one.
    pub version: Option<String>,
    /// Where the server listened; all of them, if there were several.
    pub address: String,
    /// Server processes, each with rooms of its own.
    pub servers: u32,
    /// Seconds from the start of the server's process until it accepted connections, of the first of several; absent if
    /// Klatch did not start it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_s: Option<f64>,
    /// Why this one, where Klatch chose.
    pub chosen_because: Option<String>,
    /// The exact command line (of the first server); `null` if Klatch did not start it.
    pub command: Option<Vec<String>>,
    /// Variables of the environment that its file sets for its process, with `{secret:NAME}` in place of a password; absent if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The mechanism with which it waits for its connections, if its ready line names one: `epoll`, `nio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io: Option<String>,
    /// The runtime of the server, if it reports one.
    pub runtime: Option<Runtime>,
    /// The database behind it; absent for workloads without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<Database>,
}

/// The two classes of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// One write system call per delivery.
    Classic,
    /// May put several deliveries into one write.
    Open,
}

impl Class {
    /// Its word in records and tables.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A language runtime that ran a server or a crowd.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Runtime {
    /// What it calls itself, with its full version.
    pub version: String,
    /// Its vendor, if it reports one.
    pub vendor: Option<String>,
    /// Path of its program.
    pub path: String,
    /// Options on its command line.
    pub options: Vec<String>,
    /// Variables of the environment with more options: `JAVA_TOOL_OPTIONS`, `JDK_JAVA_OPTIONS`, with the files that these name; absent if none is set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// What the running virtual machine says of itself; absent if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_force: Option<VmInForce>,
}

/// A Java virtual machine as it runs, in its own words. What was asked for is in [`Runtime`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VmInForce {
    /// Name and version of the virtual machine.
    pub version: String,
    /// The folder of its Java; a program named `java` can be a link or a script. `null` if it does not say.
    pub home: Option<String>,
    /// Execution of byte code and sharing of classes, such as `mixed mode, sharing`; `null` if it does not say.
    pub mode: Option<String>,
    /// Names of its garbage collectors.
    pub collectors: Vec<String>,
    /// Maximum size of the heap, bytes; `null` if it does not say.
    pub heap_max_bytes: Option<u64>,
    /// All options that it has, from variables, files and the command line, in this order. Of two that contradict each other the later
    /// one counts. `null` if it does not say, or not all.
    pub options: Option<String>,
}

/// The load generator and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CrowdInfo {
    /// The program.
    pub kind: CrowdProgram,
    /// What was set about it.
    pub knobs: BTreeMap<String, String>,
    /// The command line that starts the same crowd by hand. In a run the parent hands the same to it as a job on standard input.
    pub command: Vec<String>,
    /// What runs it, if it is not native.
    pub runtime: Option<Runtime>,
}

/// The programs that load a server, or read files in the place of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CrowdProgram {
    /// The native crowd, with event loops.
    Native,
    /// The native crowd, with two threads per user as in VolanoMark.
    NativeThreads,
    /// The Java crowd, with two threads per user as in VolanoMark.
    Java,
    /// The platform itself, in workload `files`.
    Readers,
}

impl CrowdProgram {
    /// Its word in records, and on command lines for those that users choose.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The score and its parts. Both a message sent and a message received count as one message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Score {
    /// Messages sent by all users.
    pub sent: u64,
    /// Deliveries that were verified.
    pub received: u64,
    /// The sum of messages sent and deliveries received.
    pub total: u64,
    /// From the opening of the gate to the last verified delivery, of all shards together, seconds.
    pub elapsed_s: f64,
    /// The score: total / elapsed, messages/s.
    pub messages_per_s: f64,
    /// CPU time of server and crowd per message, µs; `null` unless both were measured.
    pub cpu_us_per_message: Option<f64>,
    /// Context switches of server and crowd per message; `null` unless both were counted.
    pub switches_per_message: Option<f64>,
    /// CPUs that server and crowd together had on average; `null` unless both were measured.
    pub cores_obtained: Option<f64>,
    /// From the first connect to the last join, seconds.
    pub join_s: f64,
}

impl Score {
    /// The score of a number of messages in a time, seconds.
    pub fn new(
        workload: WorkloadKind,
        sent: u64,
        received: u64,
        elapsed_s: f64,
        join_s: f64,
        usage: &UsageOfBoth,
    ) -> Score {
        let total = sent + received;
        let per_elapsed = |amount: f64| if elapsed_s > 0.0 { amount / elapsed_s } else { 0.0 };
        let sum = |of: fn(&Usage) -> f64| usage.sum(workload, of);
        Score {
            sent,
            received,
            total,
            elapsed_s,
            messages_per_s: per_elapsed(total as f64),
            cpu_us_per_message: sum(|usage| usage.cpu_us_per_message),
            switches_per_message: usage.known_sum(workload, |usage| usage.switches_per_message),
            cores_obtained: sum(|usage| usage.cpu_s).map(per_elapsed),
            join_s,
        }
    }
}

/// Every message accounted for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checks {
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
    /// Replies that no request asked for; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unexpected: u64,
    /// Replies with another status, cookie or end than they must have; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong: u64,
    /// The first faults, as examples.
    pub faults: Vec<Fault>,
    /// Users in the rooms that do not belong to the crowd.
    pub strangers: Vec<Stranger>,
    /// Why the crowd gave up, if it did.
    pub failure: Option<Failure>,
    /// The run was ended in a pause of the crowd, before each user had sent the workload's count.
    pub finished: bool,
}

impl Checks {
    /// Everything that was lost, not sent, repeated, reordered, changed, unexpected or wrong.
    pub fn errors(&self) -> u64 {
        let Checks { lost, unsent, duplicated, reordered, corrupted, unexpected, wrong, .. } = self;
        [lost, unsent, duplicated, reordered, corrupted, unexpected, wrong]
            .into_iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Whether a count is left out of JSON.
pub(crate) fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

impl Record {
    /// The throughput that is the score: operations/s, or messages/s of chat.
    pub fn throughput_per_s(&self) -> f64 {
        self.operations.as_ref().map_or(self.score.messages_per_s, |operations| operations.per_s)
    }

    /// The name of one unit of the score: `message` of chat, else that of the operation.
    pub fn unit(&self) -> &str {
        self.operations.as_ref().map_or("message", |operations| operations.name.as_str())
    }

    /// The version of MQTT that its crowds spoke, or several; `None` for other protocols.
    pub fn mqtt_versions(&self) -> Option<String> {
        let spoken = self.shards.iter().filter_map(|shard| Some(shard.mqtt_version?.name()));
        let spoken: BTreeSet<&str> = spoken.collect();
        (!spoken.is_empty()).then(|| spoken.into_iter().collect::<Vec<_>>().join(", "))
    }
}

/// Usage of both sides. `null` where a side could not be measured (a server on another machine).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageOfBoth {
    /// Usage of the server's processes; `null` where it runs on another machine. Of `files`: usage of the reading processes.
    pub server: Option<Usage>,
    /// Usage of the crowd's processes; `null` where it was not measured.
    pub crowd: Option<Usage>,
    /// Usage of the processes of the database; absent where there is none, or where it is part of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<Usage>,
}

impl UsageOfBoth {
    /// A quantity of both sides and the database together; `None` unless both were measured. Without a server in the workload there is one side.
    pub fn sum(&self, workload: WorkloadKind, of: impl Fn(&Usage) -> f64) -> Option<f64> {
        self.known_sum(workload, |usage| Some(of(usage)))
    }

    /// The same of a quantity that is not known of every process; then the sum is `None`.
    pub fn known_sum(&self, workload: WorkloadKind, of: impl Fn(&Usage) -> Option<f64>) -> Option<f64> {
        let server = of(self.server.as_ref()?)?;
        let crowd = if workload.has_server() { of(self.crowd.as_ref()?)? } else { 0.0 };
        let database = match &self.database {
            Some(database) => of(database)?,
            None => 0.0,
        };
        Some(server + crowd + database)
    }
}
