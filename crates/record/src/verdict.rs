//! Whether a score counts.

use serde::{Deserialize, Serialize};

/// Whether a score counts, and if not, why. The status follows from the reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "VerdictJson", into = "VerdictJson")]
#[cfg_attr(feature = "schema", schemars(with = "VerdictJson", rename = "Verdict"))]
pub struct Verdict {
    /// Whether the score counts.
    pub status: Status,
    /// Why it is not `valid`. Empty if it is.
    pub reasons: Vec<Reason>,
}

/// One reason why a score does not count, or may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The cause, which decides the status and how records merge; the message decides nothing.
    pub cause: Cause,
    /// What, where, how often.
    pub message: String,
}

/// The part of a run that a reason is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A crowd gave up, died, or missed deliveries.
    Crowd,
    /// Fewer shards are here than the gate announced.
    MissingShards,
    /// A server ended before the crowd.
    Server,
    /// The scheduler did not stay in force.
    Scheduler,
    /// The database after the run is not what the replies confirmed.
    Audit,
    /// The database was not audited, so what the replies confirmed may not be stored.
    Unaudited,
    /// Every message is accounted for, but the numbers contradict each other.
    Contradiction,
}

/// The verdict on a run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every message is accounted for.
    Valid,
    /// The score must not be used.
    Invalid,
    /// Every message is accounted for, but the server may not have been what limited the score.
    Unknown,
}

impl Status {
    /// All, in the order of their numbers.
    pub const ALL: [Status; 3] = crate::variants();

    /// Its name, as in records.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Cause {
    /// Whether the score may still be right.
    fn leaves_open(self) -> bool {
        matches!(self, Cause::Contradiction | Cause::Unaudited)
    }
}

impl Reason {
    /// A reason with its message.
    pub fn new(cause: Cause, message: impl Into<String>) -> Reason {
        Reason { cause, message: message.into() }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Verdict {
    /// The verdict for these reasons: `valid` without any, `unknown` if all leave it open, else `invalid`.
    pub fn from_reasons(reasons: Vec<Reason>) -> Verdict {
        let status = match reasons.as_slice() {
            [] => Status::Valid,
            all if all.iter().all(|reason| reason.cause.leaves_open()) => Status::Unknown,
            _ => Status::Invalid,
        };
        Verdict { status, reasons }
    }

    /// The messages of all reasons on one line.
    pub fn messages(&self) -> String {
        self.reasons.iter().map(|reason| reason.message.as_str()).collect::<Vec<_>>().join("; ")
    }
}

/// Whether a score counts, and if not, why.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct VerdictJson {
    /// Whether the score counts.
    status: Status,
    /// Why it is not `valid`: what, where, how often. Empty if it is.
    reasons: Vec<String>,
    /// The cause of each reason, in the same order.
    causes: Vec<Cause>,
}

impl From<Verdict> for VerdictJson {
    fn from(Verdict { status, reasons }: Verdict) -> VerdictJson {
        let causes = reasons.iter().map(|reason| reason.cause).collect();
        VerdictJson { status, reasons: reasons.into_iter().map(|reason| reason.message).collect(), causes }
    }
}

impl TryFrom<VerdictJson> for Verdict {
    type Error = &'static str;

    fn try_from(VerdictJson { status, reasons, causes }: VerdictJson) -> Result<Verdict, Self::Error> {
        if reasons.len() != causes.len() {
            return Err("a verdict has one cause for each reason");
        }
        let reasons = reasons.into_iter().zip(causes).map(|(message, cause)| Reason { cause, message });
        Ok(Verdict { status, reasons: reasons.collect() })
    }
}

/// A caveat for the reader of the score; the score still counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// The kind of the warning.
    pub kind: WarningKind,
    /// What was observed, as a sentence.
    pub message: String,
    /// What to do about it.
    pub advice: String,
}

/// The kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A user who does not belong to the crowd was in a room.
    Stranger,
    /// Other programs were running when the run began.
    MachineBusy,
    /// The hypervisor gave CPU time to others.
    Steal,
    /// The CPU quota of a control group kept server or crowd from running.
    Throttled,
    /// The crowd spoke later than its schedule.
    CrowdLate,
    /// The crowd was stopped, or got no CPU, for a part of the run.
    CrowdFrozen,
    /// The crowd's CPU was saturated, and the server's was not.
    CrowdLimit,
    /// Requests waited for a connection of the pool to the database.
    PoolWait,
    /// The server seems to delay users who send much.
    FloodControl,
    /// Throughput and latency contradict each other.
    LittlesLaw,
    /// One trial is far off the others.
    Outlier,
    /// The trials go up or down.
    Trend,
    /// A cell converged in a study in which few did.
    LuckyCell,
    /// Too few trials for a useful interval.
    FewTrials,
    /// A Java virtual machine stood still for garbage collection for long.
    GarbageCollection,
    /// A side could use cores that are not equally fast.
    UnlikeCores,
    /// The CPUs ran faster in some trials than in others.
    CpuFrequency,
    /// All trials are of one start of the server, and starts are known to differ.
    OneStart,
    /// Some shards were active for longer than others.
    ShardsUneven,
    /// The CPU time is of another span than the messages, as the run was short.
    TooShort,
    /// The program, with its native servers and crowd, was compiled without optimisation.
    Unoptimised,
    /// Commits were to be durable, and a crash of the machine would lose them.
    NotDurable,
    /// A host ran its crowd with another build of Klatch.
    OtherBuild,
    /// Knobs of a Java were set, and its virtual machine does not say what is in force.
    Unverified,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_causes_decide_the_status() {
        let status = |causes: &[Cause]| {
            Verdict::from_reasons(causes.iter().map(|&cause| Reason::new(cause, "the same words")).collect())
                .status
        };
        assert_eq!(status(&[]), Status::Valid);
        assert_eq!(status(&[Cause::Contradiction]), Status::Unknown);
        assert_eq!(status(&[Cause::Contradiction, Cause::Server]), Status::Invalid);
    }

    #[test]
    fn a_verdict_survives_json_and_reasons_stay_text() {
        let verdict = Verdict::from_reasons(vec![Reason::new(Cause::Server, "the server died")]);
        let json = serde_json::to_string(&verdict).unwrap();
        assert_eq!(json, r#"{"status":"invalid","reasons":["the server died"],"causes":["server"]}"#);
        assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
    }

    #[test]
    fn a_verdict_with_a_reason_and_no_cause_is_refused() {
        let json = r#"{"status":"unknown","reasons":["a turn took 2000 µs"],"causes":[]}"#;
        let error = serde_json::from_str::<Verdict>(json).unwrap_err().to_string();
        assert!(error.starts_with("a verdict has one cause for each reason"), "{error}");
    }
}
