//! What a run counted in the form of its workload: the line of a crowd, a part of a run, and its record hold the same, and it merges exactly.

use serde::{Deserialize, Serialize};

use crate::merge::MergeError;
use crate::orders::OrdersCounts;
use crate::record::is_zero;
use crate::sums::sum;
use crate::{Conforming, Latency, OperationKindScore, OrdersScore, PartyCounts, WorkloadKind};

/// Results that are particular to a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "workload", rename_all = "snake_case")]
pub enum Results {
    /// Of `chat`.
    Chat {
        /// Reconnects during the run: from the beginning of a new connection to the return of its user to the room. Absent if there was none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reconnects: Option<Latency>,
        /// Deliveries that arrived again, which QoS 1 of MQTT allows. Absent if 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        repeated: u64,
        /// Handshakes of QoS 1 and 2 of MQTT that were not complete at the end. Absent if 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        open_handshakes: u64,
    },
    /// Of `rr`.
    Rr {
        /// How transactions are spread over the connections.
        parties: PartyCounts,
        /// The transactions of each URL, sorted by method and path. Absent for fewer than two.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        kinds: Vec<OperationKindScore>,
        /// Connections that the server closed after a reply, and that were made anew within the time of the run. Absent if 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        reopened: u64,
    },
    /// Of `web`.
    Web {
        /// How requests are spread over the lines.
        parties: PartyCounts,
        /// Requests that were complete before the end of the time for which requests are sent.
        in_window: u64,
        /// The lines that conform; absent for lines without a speed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conforming: Option<Conforming>,
    },
    /// Of `files`.
    Files {
        /// How reads are spread over the readers.
        parties: PartyCounts,
    },
    /// Of `trade`.
    Trade {
        /// How operations are spread over the traders.
        parties: PartyCounts,
        /// Operations that were complete before the end of the time for which operations begin.
        in_window: u64,
        /// The operations of each kind, sorted by name.
        kinds: Vec<OperationKindScore>,
    },
    /// Of `orders`.
    Orders {
        /// How operations are spread over the districts.
        parties: PartyCounts,
        /// Order entries and work orders of the steady state.
        in_window: u64,
        /// The operations of each kind in the steady state, sorted by name.
        kinds: Vec<OperationKindScore>,
        /// The score, with its limits and its mix.
        score: OrdersScore,
    },
}

/// Those of a crowd of chat that counted nothing.
impl Default for Results {
    fn default() -> Results {
        Results::none(WorkloadKind::Chat)
    }
}

impl Results {
    /// The results of a crowd that counted nothing.
    pub fn none(workload: WorkloadKind) -> Results {
        let (parties, in_window, kinds) = (PartyCounts::default(), 0, Vec::new());
        match workload {
            WorkloadKind::Chat => Results::Chat { reconnects: None, repeated: 0, open_handshakes: 0 },
            WorkloadKind::Rr => Results::Rr { parties, kinds, reopened: 0 },
            WorkloadKind::Web => Results::Web { parties, in_window, conforming: None },
            WorkloadKind::Files => Results::Files { parties },
            WorkloadKind::Trade => Results::Trade { parties, in_window, kinds },
            WorkloadKind::Orders => {
                let score = OrdersScore::new(0, OrdersCounts::default(), &kinds);
                Results::Orders { parties, in_window, kinds, score }
            }
        }
    }

    /// The kind of the workload.
    pub fn workload(&self) -> WorkloadKind {
        match self {
            Results::Chat { .. } => WorkloadKind::Chat,
            Results::Rr { .. } => WorkloadKind::Rr,
            Results::Web { .. } => WorkloadKind::Web,
            Results::Files { .. } => WorkloadKind::Files,
            Results::Trade { .. } => WorkloadKind::Trade,
            Results::Orders { .. } => WorkloadKind::Orders,
        }
    }

    /// The results of all together, with all that is derived from counts derived anew. `None` if there are none.
    ///
    /// # Errors
    /// They are of several workloads, a histogram cannot be read, or counts are too large to be added.
    pub(crate) fn merge<'a>(
        all: impl IntoIterator<Item = &'a Results>,
    ) -> Result<Option<Results>, MergeError> {
        let mut all = all.into_iter().peekable();
        let Some(first) = all.peek() else { return Ok(None) };
        let none = Results::none(first.workload());
        all.try_fold(none, |sum, one| sum.with(one)).map(Some)
    }

    /// The results of both together.
    ///
    /// # Errors
    /// As of a merge of all.
    pub fn with(&self, other: &Results) -> Result<Results, MergeError> {
        use Results::{Chat, Files, Orders, Rr, Trade, Web};
        let in_both = |one: &u64, more: &u64| sum("operations in the window", [*one, *more]);
        Ok(match (self, other) {
            (
                Chat { reconnects, repeated, open_handshakes },
                Chat { reconnects: more, repeated: more_repeated, open_handshakes: more_open },
            ) => Chat {
                reconnects: Latency::merge(reconnects.iter().chain(more))?,
                repeated: sum("repeated deliveries", [*repeated, *more_repeated])?,
                open_handshakes: sum("open handshakes", [*open_handshakes, *more_open])?,
            },
            (
                Rr { parties, kinds, reopened },
                Rr { parties: more, kinds: more_kinds, reopened: more_reopened },
            ) => Rr {
                parties: parties.with(more)?,
                kinds: OperationKindScore::merge(&[kinds, more_kinds])?,
                reopened: sum("reopened connections", [*reopened, *more_reopened])?,
            },
            (Files { parties: one }, Files { parties: more }) => Files { parties: one.with(more)? },
            (
                Web { parties, in_window, conforming },
                Web { parties: more, in_window: more_in_window, conforming: more_conforming },
            ) => Web {
                parties: parties.with(more)?,
                in_window: in_both(in_window, more_in_window)?,
                conforming: Conforming::merge(conforming.iter().chain(more_conforming))?,
            },
            (
                Trade { parties, in_window, kinds },
                Trade { parties: more, in_window: more_in_window, kinds: more_kinds },
            ) => Trade {
                parties: parties.with(more)?,
                in_window: in_both(in_window, more_in_window)?,
                kinds: OperationKindScore::merge(&[kinds, more_kinds])?,
            },
            (
                Orders { parties, in_window, kinds, score },
                Orders { parties: more, in_window: more_in_window, kinds: more_kinds, score: more_score },
            ) => {
                let kinds = OperationKindScore::merge(&[kinds, more_kinds])?;
                Orders {
                    parties: parties.with(more)?,
                    in_window: in_both(in_window, more_in_window)?,
                    score: score.with(more_score, &kinds)?,
                    kinds,
                }
            }
            (one, other) => {
                let [one, other] = [one, other].map(|results| results.workload().name().to_owned());
                return Err(MergeError::Different { what: "the workload of the results", one, other });
            }
        })
    }

    /// How operations are spread over the parties; `None` for chat.
    pub fn parties(&self) -> Option<PartyCounts> {
        match self {
            Results::Chat { .. } => None,
            Results::Rr { parties, .. }
            | Results::Files { parties }
            | Results::Web { parties, .. }
            | Results::Trade { parties, .. }
            | Results::Orders { parties, .. } => Some(*parties),
        }
    }

    /// Operations that count for the score; `None` where all do, as the run ends with its time.
    pub fn in_window(&self) -> Option<u64> {
        match self {
            Results::Chat { .. } | Results::Rr { .. } | Results::Files { .. } => None,
            Results::Web { in_window, .. }
            | Results::Trade { in_window, .. }
            | Results::Orders { in_window, .. } => Some(*in_window),
        }
    }

    /// The operations of each kind; empty where there is only one kind.
    pub fn kinds(&self) -> &[OperationKindScore] {
        match self {
            Results::Rr { kinds, .. } | Results::Trade { kinds, .. } | Results::Orders { kinds, .. } => kinds,
            _ => &[],
        }
    }

    /// Connections of `rr` that the server closed after a reply; 0 for other workloads.
    pub fn reopened(&self) -> u64 {
        match self {
            Results::Rr { reopened, .. } => *reopened,
            _ => 0,
        }
    }

    /// The lines that conform; `None` for other workloads than `web`, and for lines without a speed.
    pub fn conforming(&self) -> Option<&Conforming> {
        match self {
            Results::Web { conforming, .. } => conforming.as_ref(),
            _ => None,
        }
    }

    /// The score of `orders`; `None` for other workloads.
    pub fn orders(&self) -> Option<&OrdersScore> {
        match self {
            Results::Orders { score, .. } => Some(score),
            _ => None,
        }
    }

    /// The reconnects of `chat`; `None` if there was none.
    pub fn reconnects(&self) -> Option<&Latency> {
        match self {
            Results::Chat { reconnects, .. } => reconnects.as_ref(),
            _ => None,
        }
    }

    /// Deliveries of `chat` that arrived again where the protocol allows it, and handshakes that were not complete.
    pub fn repeated_and_open(&self) -> (u64, u64) {
        match self {
            Results::Chat { repeated, open_handshakes, .. } => (*repeated, *open_handshakes),
            _ => (0, 0),
        }
    }
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
