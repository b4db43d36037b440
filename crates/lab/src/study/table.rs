//! What a study of the lab found, as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use klatch_schedulers::Fit;
use klatch_stats::mean_interval;

use crate::study::{Outcome, Study};

/// A table with a line for each configuration, all seeds together; and lines through costs, if the study wants them.
pub fn summary(study: &Study, outcomes: &[Outcome]) -> String {
    let mut groups: Vec<(String, Vec<&Outcome>)> = Vec::new();
    for outcome in outcomes {
        let id = &outcome.configuration.id;
        let name = id.rsplit_once("_seed-").map_or(id.as_str(), |(name, _)| name);
        match groups.iter_mut().find(|(known, _)| known == name) {
            Some((_, group)) => group.push(outcome),
            None => groups.push((name.to_owned(), vec![outcome])),
        }
    }
    let mut rows = vec![[&["configuration".to_owned()], study.show.as_slice()].concat()];
    for (name, group) in &groups {
        let failed = group.iter().filter(|outcome| outcome.failure.is_some()).count();
        let mut row = vec![name.replace('_', " ")];
        if failed > 0 {
            row.push(format!("{failed} of {} failed", group.len()));
        } else {
            row.extend(study.show.iter().map(|name| cell(group, name)));
        }
        rows.push(row);
    }
    let mut text = aligned(&rows);
    if study.fit {
        text += "\n";
        text += &aligned(&fits(outcomes));
    }
    text
}

/// Mean and half the width of its 95 % interval over the seeds.
fn cell(group: &[&Outcome], name: &str) -> String {
    let values: Option<Vec<f64>> = group.iter().map(|outcome| outcome.value(name)).collect();
    let Some(values) = values else { return "–".to_owned() };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    match mean_interval(&values, 0.95) {
        Ok(interval) => format!("{} ± {}", number(mean), number(interval.high - mean)),
        Err(_) => number(mean),
    }
}

/// A line through the costs of each scheduler, each kernel and number of CPUs by itself.
fn fits(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let mut points: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.failure.is_none()) {
        let of = &outcome.configuration;
        let name = format!("linux-{} {}-cpus {}", of.kernel, of.cpus, of.scheduler);
        points.entry(name).or_default().extend(outcome.costs());
    }
    let heads =
        ["ns a decision, by tasks that wait", "for each task", "95 % interval", "with none", "r²", "points"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for (name, points) in &points {
        let Some(fit) = Fit::through(points) else { continue };
        rows.push(vec![
            name.clone(),
            format!("{:.2}", fit.ns_per_task),
            format!("{:.2} to {:.2}", fit.ns_per_task_low, fit.ns_per_task_high),
            format!("{:.0}", fit.ns_at_zero),
            format!("{:.4}", fit.r2),
            points.len().to_string(),
        ]);
    }
    rows
}

fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let gap = widths[column] - cell.chars().count();
            let _ = match column {
                0 => write!(text, "{cell}{:gap$}", ""),
                _ => write!(text, "  {:gap$}{cell}", ""),
            };
        }
        text.push('\n');
    }
    text
}
