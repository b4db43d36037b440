//! The table of all runs.

use super::subject::Subject;
use crate::model::RunRow;
use crate::summary::role_and_number;

/// One row for each run; `environments` has the environment name of each run.
pub(super) fn rows(subject: &Subject, environments: &[String]) -> Vec<RunRow> {
    let row = |(order, (run, cell)): (usize, (&crate::read::Run, &Option<usize>))| {
        let record = &run.record;
        let verdict = record.verdict.status.name();
        RunRow {
            order: order as u32 + 1,
            cell: cell.map_or_else(String::new, |cell| subject.grid.labels[cell].clone()),
            name: role_and_number(record.role, record.number),
            started_at: record.started_at.clone(),
            messages_per_s: record.score.messages_per_s,
            cpu_us_per_message: record.score.cpu_us_per_message,
            latency_p99_us: record.latency.as_ref().map(|latency| latency.p99_us),
            verdict: verdict.to_owned(),
            reasons: record.verdict.reasons.iter().map(ToString::to_string).collect(),
            environment: environments[order].clone(),
            record: run.file.display().to_string(),
        }
    };
    subject.runs.iter().zip(&subject.cell_of).enumerate().map(row).collect()
}
