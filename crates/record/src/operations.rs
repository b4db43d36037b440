//! The operations of a workload in which each request has a reply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Score, UsageOfBoth, WorkloadKind};

/// The operations of a run. One is a request with its verified reply, so two messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Operations {
    /// The name of one operation: `transaction` of `rr`, `request` of `web`, `read` of `files`.
    pub name: String,
    /// Operations that were verified.
    pub count: u64,
    /// The score, 1/s: operations / elapsed, or those in the window / its length.
    pub per_s: f64,
    /// Operations that were complete before the end of the time for which requests are sent; absent where the run ends with the
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_window: Option<u64>,
    /// CPU time of server and crowd per operation, µs; `null` unless both were measured.
    pub cpu_us_per_operation: Option<f64>,
    /// How the operations are spread over the connections.
    pub connections: PartyCounts,
}

/// How operations are spread over the parties of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartyCounts {
    /// Number of parties in all.
    pub parties: u64,
    /// Fewest operations of a party.
    pub least: u64,
    /// Most operations of a party.
    pub most: u64,
}

impl PartyCounts {
    /// The spread of these counts, one for each party; `None` if there is no party.
    pub fn from_counts(counts: impl IntoIterator<Item = u64>) -> Option<PartyCounts> {
        let one = |count| PartyCounts { parties: 1, least: count, most: count };
        counts.into_iter().map(one).reduce(PartyCounts::with)
    }

    /// The spread of both together.
    #[must_use]
    pub fn with(self, other: PartyCounts) -> PartyCounts {
        PartyCounts {
            parties: self.parties + other.parties,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

impl Operations {
    /// The operations behind a score in which each is a request and a reply. `in_window` is the number of those in the window, and
    /// its length in seconds.
    pub(crate) fn new(
        workload: WorkloadKind,
        connections: PartyCounts,
        in_window: Option<(u64, f64)>,
        score: &Score,
        usage: &UsageOfBoth,
    ) -> Operations {
        let count = score.received;
        let cpu_us = usage.sum(workload, |usage| usage.cpu_s * 1e6);
        let (counted, window_s) = in_window.unwrap_or((count, score.elapsed_s));
        Operations {
            name: workload.operation_name().to_owned(),
            count,
            per_s: if window_s > 0.0 { counted as f64 / window_s } else { 0.0 },
            in_window: in_window.map(|(counted, _)| counted),
            cpu_us_per_operation: cpu_us.filter(|_| count > 0).map(|cpu_us| cpu_us / count as f64),
            connections,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_merge_exactly() {
        let all = PartyCounts::from_counts([5, 3, 9, 4]);
        let parts = PartyCounts::from_counts([5, 3]).zip(PartyCounts::from_counts([9, 4]));
        assert_eq!(all, Some(PartyCounts { parties: 4, least: 3, most: 9 }));
        assert_eq!(all, parts.map(|(one, other)| one.with(other)));
        assert_eq!(PartyCounts::from_counts([]), None);
    }
}
