//! What a study of the lab found, as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use klatch_schedulers::Fit;
use klatch_stats::mean_interval;

use crate::study::{Outcome, Study};

/// A table with a line for each configuration, all seeds together; and lines through costs, if the study wants them.
pub fn summary(study: &Study, outcomes: &[Outcome]) -> String {
    let groups = groups(outcomes);
    let mut rows = vec![[&["configuration".to_owned()], study.show.as_slice()].concat()];
    for (name, group) in &groups {
        let failed = group.iter().filter(|outcome| outcome.failure.is_some()).count();
        let mut row = vec![name.clone()];
        if failed > 0 {
            row.push(format!("{failed} of {} failed", group.len()));
        } else {
            row.extend(study.show.iter().map(|name| cell(group, name)));
        }
        rows.push(row);
    }
    let mut text = aligned(&rows);
    if study.distribution {
        text += "\n";
        text += &aligned(&distribution(&groups));
    }
    if study.fit {
        text += "\n";
        text += &aligned(&fits(outcomes));
    }
    text
}

/// Outcomes that differ by nothing but the seed, with the name of the configuration.
fn groups(outcomes: &[Outcome]) -> Vec<(String, Vec<&Outcome>)> {
    let mut groups: Vec<(String, Vec<&Outcome>)> = Vec::new();
    for outcome in outcomes {
        let id = &outcome.configuration.id;
        let name = id.rsplit_once("_seed-").map_or(id.as_str(), |(name, _)| name).replace('_', " ");
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(outcome),
            None => groups.push((name, vec![outcome])),
        }
    }
    groups
}

/// How often so many tasks waited when a decision was made: 0, 1, 2 and 3, 4 to 7, and so on.
fn distribution(groups: &[(String, Vec<&Outcome>)]) -> Vec<Vec<String>> {
    let place = |length: u32| (u32::BITS - length.leading_zeros()) as usize;
    let lengths = |group: &Vec<&Outcome>| -> Vec<(u32, u64)> {
        group.iter().flat_map(|outcome| outcome.lengths()).collect()
    };
    let longest = groups.iter().flat_map(|(_, group)| lengths(group)).map(|(length, _)| length).max();
    let places = place(longest.unwrap_or(0)) + 1;
    let head = |at: usize| match at {
        0 | 1 => at.to_string(),
        _ => format!("{}–{}", 1 << (at - 1), (1 << at) - 1),
    };
    let mut rows = vec![vec!["% of decisions, by tasks that wait".to_owned()]];
    rows[0].extend((0..places).map(head));
    for (name, group) in groups {
        let mut decisions = vec![0; places];
        lengths(group).iter().for_each(|(length, made)| decisions[place(*length)] += made);
        let all = decisions.iter().sum::<u64>();
        if all > 0 {
            let share = |made: u64| format!("{:.1}", 100.0 * made as f64 / all as f64);
            rows.push(std::iter::once(name.clone()).chain(decisions.into_iter().map(share)).collect());
        }
    }
    rows
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

#[cfg(test)]
mod tests {
    use klatch_schedulers::{CostAtLength, Observed, Report};

    use super::*;
    use crate::study::Configuration;

    fn outcome(seed: u32, lengths: &[(u32, u64)]) -> Outcome {
        let configuration = Configuration {
            id: format!("fifo_rooms-5_seed-{seed}"),
            kernel: "6.18".to_owned(),
            cpus: 1,
            scheduler: "fifo".to_owned(),
            varied: Vec::new(),
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
        let rows = distribution(&groups(&outcomes));
        assert_eq!(rows[0][1..], ["0", "1", "2–3", "4–7"]);
        assert_eq!(rows[1], ["fifo rooms-5", "10.0", "20.0", "60.0", "10.0"]);
    }

    #[test]
    fn a_length_has_a_mean_and_a_standard_deviation() {
        let one = outcome(1, &[(2, 50), (6, 50)]);
        assert_eq!((one.value("length"), one.value("length_sd")), (Some(4.0), Some(2.0)));
    }
}
