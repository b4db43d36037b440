//! What came of a boot, and the numbers in it.

use klatch_schedulers::Report;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::guest::{Answer, Step};
use crate::study::{Configuration, KERNELS_OWN, SCHEDULER_FILE};

/// What came of a boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What was booted.
    pub configuration: Configuration,
    /// Why it does not count, if so.
    pub failure: Option<String>,
    /// What the scheduler counted, during the last command; nothing for the kernel's own.
    pub scheduler: Option<Report>,
    /// What the commands printed, if that is JSON, and the records they wrote.
    pub results: Vec<Value>,
    /// The machine's own time when the last command had ended, µs.
    pub uptime_us: u64,
}

impl Outcome {
    /// Reads what a boot answered.
    pub fn read(configuration: Configuration, answer: &Answer) -> Outcome {
        let file = answer.files.get(SCHEDULER_FILE);
        let scheduler: Option<Report> = file.and_then(|text| serde_json::from_str(text).ok());
        let lines = answer.steps.iter().flat_map(|step| step.stdout.lines());
        let printed = lines.filter_map(|line| serde_json::from_str(line).ok());
        let records =
            answer.files.iter().filter(|(name, _)| name.contains("trial-") && name.ends_with(".json"));
        let records = records.filter_map(|(_, text)| serde_json::from_str(text).ok());
        let failure = failure(&configuration, answer, scheduler.as_ref());
        let results = printed.filter(Value::is_object).chain(records).collect();
        Outcome { configuration, failure, scheduler, results, uptime_us: answer.uptime_us }
    }

    /// Of a machine that gave no answer.
    pub fn without_answer(configuration: Configuration, why: String) -> Outcome {
        Outcome { configuration, failure: Some(why), scheduler: None, results: Vec::new(), uptime_us: 0 }
    }

    /// A number by its name: `cost` (ns for a decision, on average), `cost_min` (the same of the cheapest at each length: with
    /// several CPUs no other's turn is in it), `length` (tasks that waited then; `length_sd` its standard deviation), a
    /// statistic of the scheduler, a field of what the command printed, or a place in a record: `/score/messages_per_s`.
    pub fn value(&self, name: &str) -> Option<f64> {
        let observed = self.scheduler.as_ref().map(|report| &report.observed);
        let costs = || observed.into_iter().flat_map(|observed| &observed.costs);
        let decisions = || costs().map(|row| row.decisions).sum::<u64>() as f64;
        let mean = |of: &dyn Fn(f64) -> f64| {
            costs().map(|row| of(f64::from(row.length)) * row.decisions as f64).sum::<f64>() / decisions()
        };
        match name {
            "cost" => Some(costs().map(|row| row.ns).sum::<u64>() as f64 / decisions()),
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
            _ => {
                let stat = observed.and_then(|observed| observed.stat(name)).map(|value| value as f64);
                let place = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
                stat.or_else(|| self.results.iter().find_map(|result| result.pointer(&place)?.as_f64()))
            }
        }
        .filter(|value| value.is_finite())
    }

    /// How many decisions were made with so many tasks waiting.
    pub fn lengths(&self) -> impl Iterator<Item = (u32, u64)> {
        self.scheduler.iter().flat_map(|report| &report.observed.costs).map(|row| (row.length, row.decisions))
    }

    /// The cost of a decision by length of the queue, where so many decisions were made that an average means something.
    pub fn costs(&self) -> Vec<(f64, f64)> {
        const DECISIONS_MIN: u64 = 30;
        let rows = self.scheduler.iter().flat_map(|report| &report.observed.costs);
        let often = rows.filter(|row| row.decisions >= DECISIONS_MIN);
        often.map(|row| (f64::from(row.length), row.ns as f64 / row.decisions as f64)).collect()
    }
}

fn failure(configuration: &Configuration, answer: &Answer, scheduler: Option<&Report>) -> Option<String> {
    let lost = scheduler.and_then(|report| report.lost.as_ref());
    if let Some(why) = lost {
        return Some(format!("the scheduler did not stay in force: {why}"));
    }
    let failed = answer.steps.iter().find(|step| step.status != Some(0));
    if let Some(Step { command, status, stderr, .. }) = failed {
        let how = status.map_or("a signal".to_owned(), |status| format!("status {status}"));
        let said = stderr.lines().last().unwrap_or("nothing");
        return Some(format!("klatch {} ended with {how}; it said: {said}", command.join(" ")));
    }
    let told = scheduler.is_some() || configuration.scheduler == KERNELS_OWN;
    (!told).then(|| "the scheduler left no statistics".to_owned())
}
