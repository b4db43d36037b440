//! The outcome of one boot, and the numbers in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::saturating_sum;

use super::{Configuration, OperationCosts, SchedulerReport, is_counted};

/// The outcome of one boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The boot of the study that this is.
    pub configuration: Configuration,
    /// Why the boot does not count; `None` if it does.
    pub failure: Option<String>,
    /// Counters of the scheduler during the last command; `None` under the kernel's own.
    pub scheduler: Option<SchedulerReport>,
    /// The columns of the study that the counters counted, of the last command: `ROUTINE:EVENT`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, f64>,
    /// What the operations of the last command cost, if those were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<OperationCosts>,
    /// JSON objects that the commands printed, then the records of their trials.
    pub results: Vec<Value>,
    /// The machine's own clock when the last command had ended, µs.
    pub uptime_us: u64,
}

impl Outcome {
    /// A number of the outcome by its name; `None` if the outcome does not have it.
    ///
    /// * `cost`: mean time of a decision, ns
    /// * `cost_min`: mean over decisions of the cheapest at their length, ns; it excludes the turns of other CPUs
    /// * `length`, `length_sd`, `length_max`: waiting tasks at a decision
    /// * `uptime_us`
    /// * `ROUTINE:EVENT`: events per call of a routine of the kernel, with what it called, by the counters: `dispatch:l1d_misses`;
    ///   `ROUTINE:own_EVENT` without what it called
    /// * `EVENT_per_operation`: events of the machine for each operation, such as `instructions_per_operation`;
    ///   `kernel_EVENT_per_operation` without those of programs
    /// * of the last record's instruments: `decision_p50_ns`, `decision_p99_ns`, the time of a decision, and `wakeup_p50_us`,
    ///   `wakeup_p90_us`, `wakeup_p99_us`, from waking to running, of the side where it is longer
    /// * `migrations_per_message`, by the same instrument of wake-ups
    /// * a statistic of the scheduler
    /// * a field of what a command printed, or a JSON pointer into a record: `/score/messages_per_s`
    pub fn value(&self, name: &str) -> Option<f64> {
        let observed = self.scheduler.as_ref().map(|report| &report.observed);
        let costs = || observed.into_iter().flat_map(|observed| &observed.costs);
        let decisions = || saturating_sum(costs().map(|row| row.decisions)) as f64;
        let mean = |of: &dyn Fn(f64) -> f64| {
            costs().map(|row| of(f64::from(row.length)) * row.decisions as f64).sum::<f64>() / decisions()
        };
        match name {
            "cost" => Some(saturating_sum(costs().map(|row| row.ns)) as f64 / decisions()),
            "cost_min" => {
                Some(costs().map(|row| row.ns_min as f64 * row.decisions as f64).sum::<f64>() / decisions())
            }
            "length" => Some(mean(&|length| length)),
            "length_sd" => {
                let center = mean(&|length| length);
                Some(mean(&|length| (length - center).powi(2)).sqrt())
            }
            "length_max" => costs().map(|row| f64::from(row.length)).reduce(f64::max),
            "uptime_us" => Some(self.uptime_us as f64),
            _ if is_counted(name) => self.counts.get(name).copied(),
            _ => {
                let stat = observed.and_then(|observed| observed.stat(name)).map(|value| value as f64);
                let pointer = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
                let seen = self.observed(name).or(stat);
                seen.or_else(|| self.results.iter().find_map(|result| result.pointer(&pointer)?.as_f64()))
            }
        }
        .filter(|value| value.is_finite())
    }

    /// A number that instruments saw in the last run with a record.
    fn observed(&self, name: &str) -> Option<f64> {
        let record = self.record()?;
        let in_decision = |at: &str| number(self.observation("decision")?.pointer(at)?);
        let of_sides = |at: &str| {
            let wakeups = self.observation("wakeups")?;
            let side = |name: &str| number(wakeups.get(name)?.pointer(at)?);
            Some(["server", "crowd"].map(side))
        };
        let longest = |at: &str| of_sides(at)?.into_iter().flatten().reduce(f64::max);
        match name {
            "decision_p50_ns" => in_decision("/decision/all_ns/p50"),
            "decision_p99_ns" => in_decision("/decision/all_ns/p99"),
            "wakeup_p50_us" => longest("/latency_us/p50"),
            "wakeup_p90_us" => longest("/latency_us/p90"),
            "wakeup_p99_us" => longest("/latency_us/p99"),
            "migrations_per_message" => {
                let [server, crowd] = of_sides("/migrations")?;
                Some((server? + crowd?) / number(record.pointer("/score/total")?)?)
            }
            _ => None,
        }
    }

    /// The last record of the boot.
    fn record(&self) -> Option<&Value> {
        self.results.iter().rev().find(|result| result.get("observations").is_some())
    }

    /// What an instrument saw in it.
    fn observation(&self, name: &str) -> Option<&Value> {
        let all = self.record()?.get("observations")?.as_array()?;
        all.iter().find_map(|one| one.get("data")?.get(name))
    }

    /// Queue lengths, each with the number of decisions at that length.
    pub fn decisions_by_length(&self) -> impl Iterator<Item = (u32, u64)> {
        self.scheduler.iter().flat_map(|report| &report.observed.costs).map(|row| (row.length, row.decisions))
    }

    /// (queue length, mean time of a decision in ns) for every length with at least 30 decisions: by the instrument `decision` if a run had
    /// it, which all schedulers can have, else by the scheduler itself.
    pub fn cost_by_length(&self) -> Vec<(f64, f64)> {
        const DECISIONS_MIN: u64 = 30;
        if let Some(rows) =
            self.observation("decision").and_then(|data| data.pointer("/decision/by_length")?.as_array())
        {
            let row = |row: &Value| {
                let number = |name: &str| number(row.get(name)?);
                let length = (number("length_min")? + number("length_max")?) / 2.0;
                (number("decisions")? >= DECISIONS_MIN as f64).then_some((length, number("mean_ns")?))
            };
            return rows.iter().filter_map(row).collect();
        }
        let rows = self.scheduler.iter().flat_map(|report| &report.observed.costs);
        let frequent = rows.filter(|row| row.decisions >= DECISIONS_MIN);
        frequent.map(|row| (f64::from(row.length), row.ns as f64 / row.decisions as f64)).collect()
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

#[cfg(test)]
mod tests {
    use super::super::{CostAtLength, SchedulerCounts};
    use super::*;

    #[test]
    fn queue_length_has_a_mean_and_a_standard_deviation() {
        let row = |length, decisions| CostAtLength { length, decisions, ns: 0, ns_min: 0, ns_max: 0 };
        let observed = SchedulerCounts { stats: Vec::new(), costs: vec![row(2, 50), row(6, 50)] };
        let scheduler =
            SchedulerReport { scheduler: "fifo".to_owned(), knobs: Vec::new(), lost: None, observed };
        let configuration = Configuration {
            id: String::new(),
            kernel: String::new(),
            cpus: 1,
            machine: None,
            scheduler: "fifo".to_owned(),
            varied: Vec::new(),
            seed: 1,
            commands: Vec::new(),
        };
        let outcome = Outcome {
            configuration,
            failure: None,
            scheduler: Some(scheduler),
            counts: BTreeMap::new(),
            costs: None,
            results: Vec::new(),
            uptime_us: 0,
        };
        assert_eq!((outcome.value("length"), outcome.value("length_sd")), (Some(4.0), Some(2.0)));
        let row = |length, decisions| serde_json::json!({ "length_min": length, "length_max": length + 1, "decisions": decisions, "mean_ns": 700.0 });
        let side =
            |p99, migrations| serde_json::json!({ "latency_us": { "p99": p99 }, "migrations": migrations });
        let record = serde_json::json!({
            "score": { "total": 40 },
            "observations": [
                { "data": { "decision": { "decision": { "all_ns": { "p50": 650.0 }, "by_length": [row(4, 30), row(6, 29)] } } } },
                { "data": null },
                { "data": { "wakeups": { "server": side(9.0, 3), "crowd": side(12.0, 7) } } },
            ],
        });
        let observed = Outcome { results: vec![record], ..outcome };
        assert_eq!(observed.value("decision_p50_ns"), Some(650.0));
        assert_eq!((observed.value("wakeup_p99_us"), observed.value("wakeup_p50_us")), (Some(12.0), None));
        assert_eq!(observed.value("migrations_per_message"), Some(0.25));
        assert_eq!(observed.cost_by_length(), [(4.5, 700.0)]);
    }
}
