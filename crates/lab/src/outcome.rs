//! Makes the outcome of a boot from the machine's answer.

use std::collections::BTreeMap;

use klatch_record::lab::{Configuration, KERNEL_SCHEDULER, LabCounts, Outcome, SchedulerReport, is_counted};
use serde_json::Value;

use crate::job::{Answer, COUNTERS_FILE, SCHEDULER_FILE};

/// The outcome of a boot that ended with this answer, for a study with these columns.
pub fn outcome(configuration: Configuration, answer: &Answer, columns: &[String]) -> Outcome {
    let file = answer.files.get(SCHEDULER_FILE);
    let scheduler: Option<SchedulerReport> = file.and_then(|text| serde_json::from_str(text).ok());
    let counters = answer.files.get(COUNTERS_FILE);
    let counters: Option<LabCounts> = counters.and_then(|text| serde_json::from_str(text).ok());
    let count = |column: &String| Some((column.clone(), counters.as_ref()?.column(column)?));
    let counts = columns.iter().filter(|column| is_counted(column)).filter_map(count).collect();
    let costs = counters.as_ref().and_then(LabCounts::costs);
    let lines = answer.steps.iter().flat_map(|step| step.stdout.lines());
    let printed = lines.filter_map(|line| serde_json::from_str(line).ok());
    let records = answer.files.iter().filter(|(name, _)| name.contains("trial-") && name.ends_with(".json"));
    let records = records.filter_map(|(_, text)| serde_json::from_str(text).ok());
    let failure = failure(&configuration, answer, scheduler.as_ref());
    let results = printed.filter(Value::is_object).chain(records).collect();
    Outcome { configuration, failure, scheduler, counts, costs, results, uptime_us: answer.uptime_us }
}

/// The outcome of a boot that ended without an answer.
pub fn outcome_without_answer(configuration: Configuration, cause: String) -> Outcome {
    Outcome {
        configuration,
        failure: Some(cause),
        scheduler: None,
        counts: BTreeMap::new(),
        costs: None,
        results: Vec::new(),
        uptime_us: 0,
    }
}

/// Why the boot does not count; `None` if it does.
fn failure(
    configuration: &Configuration,
    answer: &Answer,
    scheduler: Option<&SchedulerReport>,
) -> Option<String> {
    if let Some(cause) = scheduler.and_then(|report| report.lost.as_ref()) {
        return Some(format!("the scheduler did not stay loaded: {cause}"));
    }
    let failed = answer.steps.iter().find(|step| step.status != Some(0));
    if let Some(step) = failed {
        let end = step.status.map_or("a signal".to_owned(), |status| format!("status {status}"));
        let command = step.command.join(" ");
        let reason = step.reason().unwrap_or("empty");
        return Some(format!("klatch {command} ended with {end}; its standard error: {reason}"));
    }
    let has_counters = scheduler.is_some() || configuration.scheduler == KERNEL_SCHEDULER;
    (!has_counters).then(|| "the scheduler wrote no statistics".to_owned())
}
