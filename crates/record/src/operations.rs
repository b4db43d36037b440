//! The operations of a workload in which each request has a reply.

use serde::{Deserialize, Serialize};

use crate::sums::sum;
use crate::{DatabaseCounts, Latency, LatencyError, NamedCounts, Score, UsageOfBoth, WorkloadKind};

/// Operations, in errors.
const OPERATIONS: &str = "operations";

/// The operations of a run. One is a request with its verified reply, so two messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Operations {
    /// The name of one operation: `transaction` of `rr`, `request` of `web`, `operation` of `trade` and `orders`,
    /// `read` of `files`.
    pub name: String,
    /// Operations that were verified.
    pub count: u64,
    /// The score, 1/s: operations / elapsed, or those in the window / its length.
    pub per_s: f64,
    /// Operations that were complete before the end of the time for which requests are sent; of `orders`, order entries and work
    /// orders of the steady state. Absent where the run ends with the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_window: Option<u64>,
    /// CPU time of server and crowd per operation, µs; `null` unless both were measured.
    pub cpu_us_per_operation: Option<f64>,
    /// How the operations are spread over the connections.
    pub connections: PartyCounts,
    /// What the servers counted of their transactions; absent where they do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseCounts>,
    /// The operations of each kind, sorted by name; of `orders`, those of the steady state. Absent where there is only one kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<OperationKindScore>,
}

/// The operations of one kind, such as `buy` of `trade`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationKindScore {
    /// The name of the kind.
    pub name: String,
    /// Operations that were verified.
    pub count: u64,
    /// Their share of all operations, 0 to 1.
    pub share: f64,
    /// Latency of these operations.
    pub latency: Latency,
}

impl OperationKindScore {
    /// The kinds of these latencies.
    ///
    /// # Errors
    /// A latency is out of the range of the histogram, or there are more operations than 64 bits count.
    pub fn from_counts(counts: &[NamedCounts]) -> Result<Vec<OperationKindScore>, LatencyError> {
        let all = sum(OPERATIONS, counts.iter().flat_map(|one| &one.latency_ns).map(|(_, count)| *count))?;
        let mut kinds = Vec::new();
        for one in counts {
            if let Some(latency) = Latency::from_counts_ns(&one.latency_ns)? {
                let share = latency.count as f64 / all as f64;
                kinds.push(OperationKindScore {
                    name: one.name.clone(),
                    count: latency.count,
                    share,
                    latency,
                });
            }
        }
        Ok(kinds)
    }

    /// The kinds of all together, sorted by name.
    ///
    /// # Errors
    /// A histogram cannot be read, or there are more operations than 64 bits count.
    pub(crate) fn merge(parts: &[&[OperationKindScore]]) -> Result<Vec<OperationKindScore>, LatencyError> {
        let mut names: Vec<&str> = parts.iter().copied().flatten().map(|kind| kind.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let all = sum(OPERATIONS, parts.iter().copied().flatten().map(|kind| kind.count))?;
        let mut merged = Vec::new();
        for name in names {
            let same = || parts.iter().copied().flatten().filter(|kind| kind.name == name);
            let count = sum(OPERATIONS, same().map(|kind| kind.count))?;
            if let Some(latency) = Latency::merge(same().map(|kind| &kind.latency))? {
                let share = count as f64 / all as f64;
                merged.push(OperationKindScore { name: name.to_owned(), count, share, latency });
            }
        }
        Ok(merged)
    }
}

/// How operations are spread over the parties of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

    /// The spread of both together. Parties beyond 64 bits are not counted.
    #[must_use]
    pub fn with(self, other: PartyCounts) -> PartyCounts {
        PartyCounts {
            parties: self.parties.saturating_add(other.parties),
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
            database: None,
            kinds: Vec::new(),
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
