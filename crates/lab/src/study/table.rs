//! What a study of the lab found, as text.

use std::fmt::Write;

use crate::study::found::{Costs, Distribution, Mean, costs, distribution, groups};
use crate::study::{Outcome, Study};

/// A table with a line for each configuration, all seeds together; and lines through costs, if the study wants them.
pub fn summary(study: &Study, outcomes: &[Outcome]) -> String {
    let groups = groups(outcomes);
    let mut rows = vec![[&["configuration".to_owned()], study.show.as_slice()].concat()];
    for group in &groups {
        let mut row = vec![group.name.clone()];
        match group.failed() {
            0 => row.extend(study.show.iter().map(|name| group.mean(name).map_or("–".to_owned(), told))),
            failed => row.push(format!("{failed} of {} failed", group.outcomes.len())),
        }
        rows.push(row);
    }
    let mut text = aligned(&rows);
    if study.distribution {
        text += "\n";
        text += &aligned(&shares(&distribution(&groups)));
    }
    if study.fit {
        text += "\n";
        text += &aligned(&fits(&costs(outcomes)));
    }
    text
}

/// Mean and half the width of its interval.
fn told(of: Mean) -> String {
    match of.interval {
        Some((_, high)) => format!("{} ± {}", number(of.mean), number(high - of.mean)),
        None => number(of.mean),
    }
}

fn shares(found: &Distribution) -> Vec<Vec<String>> {
    let mut rows = vec![vec!["% of decisions, by tasks that wait".to_owned()]];
    rows[0].extend(found.lengths.iter().cloned());
    for (name, shares) in &found.shares {
        let shares = shares.iter().map(|share| format!("{share:.1}"));
        rows.push(std::iter::once(name.clone()).chain(shares).collect());
    }
    rows
}

/// A line through the costs of each scheduler, each kernel and number of CPUs by itself.
fn fits(all: &[Costs]) -> Vec<Vec<String>> {
    let heads =
        ["ns a decision, by tasks that wait", "for each task", "95 % interval", "with none", "r²", "points"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for costs in all {
        let Some(fit) = costs.fit else { continue };
        rows.push(vec![
            costs.name.clone(),
            format!("{:.2}", fit.ns_per_task),
            format!("{:.2} to {:.2}", fit.ns_per_task_low, fit.ns_per_task_high),
            format!("{:.0}", fit.ns_at_zero),
            fit.r2.map_or("all equal".to_owned(), |r2| format!("{r2:.4}")),
            costs.points.len().to_string(),
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

#[cfg(test)]
mod tests {
    use klatch_schedulers::{CostAtLength, Observed, Report};

    use super::*;
    use crate::study::Configuration;

    fn outcome(seed: u32, lengths: &[(u32, u64)]) -> Outcome {
        let configuration = Configuration {
            id: format!("seed-{seed}"),
            kernel: "6.18".to_owned(),
            cpus: 1,
            scheduler: "fifo".to_owned(),
            varied: vec![("rooms".to_owned(), "5".to_owned())],
            seed,
            commands: Vec::new(),
        };
        let row = |&(length, decisions)| CostAtLength { length, decisions, ns: 0, ns_min: 0, ns_max: 0 };
        let observed = Observed { stats: Vec::new(), costs: lengths.iter().map(row).collect() };
        let report = Report { scheduler: "fifo".to_owned(), knobs: Vec::new(), lost: None, observed };
        Outcome { configuration, failure: None, scheduler: Some(report), results: Vec::new(), uptime_us: 0 }
    }

    #[test]
    fn lengths_are_told_as_a_distribution_of_all_seeds_together() {
        let outcomes = [outcome(1, &[(0, 10), (3, 30)]), outcome(2, &[(1, 20), (2, 30), (4, 10)])];
        let rows = shares(&distribution(&groups(&outcomes)));
        assert_eq!(rows[0][1..], ["0", "1", "2–3", "4–7"]);
        assert_eq!(rows[1], ["fifo, rooms 5", "10.0", "20.0", "60.0", "10.0"]);
    }

    #[test]
    fn a_length_has_a_mean_and_a_standard_deviation() {
        let one = outcome(1, &[(2, 50), (6, 50)]);
        assert_eq!((one.value("length"), one.value("length_sd")), (Some(4.0), Some(2.0)));
    }
}
