//! The operations of a workload in which each request has a reply.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sums::{SumError, sum};
use crate::{DatabaseCounts, Latency, LatencyError, Score, UsageOfBoth, WorkloadKind};

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
    /// CPU time of server and crowd per operation, µs; `null` unless both were measured.
    pub cpu_us_per_operation: Option<f64>,
    /// What the servers counted of their transactions; absent where they do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseCounts>,
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
    /// The kinds of these counts by name: lowest value of a bucket in ns, and how often. Sorted by name.
    ///
    /// # Errors
    /// A latency is out of the range of the histogram, or there are more operations than 64 bits count.
    pub fn from_counts(
        counts: &BTreeMap<&str, Vec<(u64, u64)>>,
    ) -> Result<Vec<OperationKindScore>, LatencyError> {
        let all = sum(OPERATIONS, counts.values().flatten().map(|(_, count)| *count))?;
        let mut kinds = Vec::new();
        for (&name, latency_ns) in counts {
            if let Some(latency) = Latency::from_counts_ns(latency_ns)? {
                let share = latency.count as f64 / all as f64;
                kinds.push(OperationKindScore {
                    name: name.to_owned(),
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartyCounts {
    /// Number of parties in all.
    pub parties: u64,
    /// Fewest operations of a party; 0 without a party.
    pub least: u64,
    /// Most operations of a party; 0 without a party.
    pub most: u64,
}

impl PartyCounts {
    /// The spread of these counts, one for each party.
    pub fn from_counts(counts: impl IntoIterator<Item = u64>) -> PartyCounts {
        counts.into_iter().fold(PartyCounts::default(), |sum, count| PartyCounts {
            parties: sum.parties + 1,
            least: if sum.parties == 0 { count } else { sum.least.min(count) },
            most: sum.most.max(count),
        })
    }

    /// The spread of both together.
    pub(crate) fn with(&self, other: &PartyCounts) -> Result<PartyCounts, SumError> {
        Ok(match (self.parties, other.parties) {
            (0, _) => *other,
            (_, 0) => *self,
            (one, more) => PartyCounts {
                parties: sum("parties", [one, more])?,
                least: self.least.min(other.least),
                most: self.most.max(other.most),
            },
        })
    }
}

impl Operations {
    /// The operations behind a score in which each is a request and a reply. `in_window` is the number of those in the window, and
    /// its length in seconds.
    pub(crate) fn new(
        workload: WorkloadKind,
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
            cpu_us_per_operation: cpu_us.filter(|_| count > 0).map(|cpu_us| cpu_us / count as f64),
            database: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_merge_exactly() {
        let all = PartyCounts::from_counts([5, 3, 9, 4]);
        assert_eq!(all, PartyCounts { parties: 4, least: 3, most: 9 });
        let [none, one, other] =
            [&[][..], &[5, 3], &[9, 4]].map(|counts| PartyCounts::from_counts(counts.to_vec()));
        assert_eq!(all, none.with(&one).unwrap().with(&other).unwrap().with(&none).unwrap());
    }
}
