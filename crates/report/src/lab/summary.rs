//! Results of a study of the lab as plain text.

use klatch_record::lab::{Outcome, Study};

use super::costs::{answer, loads, tables};
use super::groups::{
    CostCurve, LengthDistribution, Mean, cost_curves, count_columns, count_curves, groups,
    length_distribution,
};
use crate::number::grouped;
use crate::table::{Column, TextTable};

/// A table with one line per configuration (mean over seeds), then queue lengths and fitted lines if the study asks for them.
pub fn lab_summary(study: &Study, outcomes: &[Outcome]) -> String {
    let groups = groups(outcomes);
    let mut rows = vec![[&["configuration".to_owned()], study.show.as_slice()].concat()];
    for group in &groups {
        let mut row = vec![group.name.clone()];
        match group.failed() {
            0 => row
                .extend(study.show.iter().map(|name| group.mean(name).map_or("–".to_owned(), with_interval))),
            failed => row.push(format!("{failed} of {} failed", group.outcomes.len())),
        }
        rows.push(row);
    }
    let mut text = aligned(&rows);
    let loads = loads(outcomes);
    if !loads.is_empty() {
        text += &format!("\n{}", tables(&loads));
        if let Some(answer) = answer(&loads) {
            text += &format!("\n{answer}\n");
        }
    }
    if study.distribution {
        text += "\n";
        text += &aligned(&shares(&length_distribution(&groups)));
    }
    if study.fit {
        text += "\n";
        text += &aligned(&fits("ns a decision", &cost_curves(outcomes)));
        for column in count_columns(study) {
            text += "\n";
            text += &aligned(&fits(column, &count_curves(outcomes, column)));
        }
    }
    text
}

/// The mean and half the width of its interval.
fn with_interval(mean: Mean) -> String {
    match mean.interval {
        Some((_, high)) => format!("{} ± {}", number(mean.mean), number(high - mean.mean)),
        None => number(mean.mean),
    }
}

fn shares(distribution: &LengthDistribution) -> Vec<Vec<String>> {
    let mut rows = vec![vec!["% of decisions, by waiting tasks".to_owned()]];
    rows[0].extend(distribution.lengths.iter().cloned());
    for (name, shares) in &distribution.shares {
        let shares = shares.iter().map(|share| format!("{share:.1}"));
        rows.push(std::iter::once(name.clone()).chain(shares).collect());
    }
    rows
}

/// A line through `what` by waiting tasks, of each scheduler, kernel and number of CPUs.
fn fits(what: &str, curves: &[CostCurve]) -> Vec<Vec<String>> {
    let heads = ["per task", "95 % interval", "with none waiting", "r²", "points"].map(str::to_owned);
    let mut rows = vec![[&[format!("{what}, by waiting tasks")], heads.as_slice()].concat()];
    for curve in curves {
        let Some(fit) = curve.fit else { continue };
        rows.push(vec![
            curve.name.clone(),
            format!("{:.2}", fit.slope.estimate),
            format!("{:.2} to {:.2}", fit.slope.low, fit.slope.high),
            format!("{:.0}", fit.intercept),
            fit.r2.map_or("all equal".to_owned(), |r2| format!("{r2:.4}")),
            curve.points.len().to_string(),
        ]);
    }
    rows
}

fn number(value: f64) -> String {
    match value.abs() {
        _ if value >= 0.0 && (value >= 1000.0 || value.fract() == 0.0) => grouped(value.round() as u64),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// A table whose first row is its head. A narrow terminal lacks its last columns.
fn aligned(rows: &[Vec<String>]) -> String {
    let Some((head, rows)) = rows.split_first() else { return String::new() };
    let column = |(at, title): (usize, &String)| match at {
        0 => Column::name(title),
        at => Column::number(title).less((at - 1).min(usize::from(u8::MAX)) as u8),
    };
    let mut table = TextTable::new(head.iter().enumerate().map(column));
    for row in rows {
        // A configuration that failed has its failures alone.
        let absent = std::iter::repeat_n(String::new(), head.len().saturating_sub(row.len()));
        table.row(row.iter().cloned().chain(absent));
    }
    format!("{table}\n")
}

#[cfg(test)]
mod tests {
    use klatch_record::lab::{Configuration, CostAtLength, SchedulerCounts, SchedulerReport};

    use super::*;

    fn outcome(seed: u32, lengths: &[(u32, u64)]) -> Outcome {
        let configuration = Configuration {
            id: format!("seed-{seed}"),
            kernel: "6.18".to_owned(),
            cpus: 1,
            machine: None,
            scheduler: "fifo".to_owned(),
            varied: vec![("rooms".to_owned(), "5".to_owned())],
            seed,
            commands: Vec::new(),
        };
        let row = |&(length, decisions)| CostAtLength { length, decisions, ns: 0, ns_min: 0, ns_max: 0 };
        let observed = SchedulerCounts { stats: Vec::new(), costs: lengths.iter().map(row).collect() };
        let report =
            SchedulerReport { scheduler: "fifo".to_owned(), knobs: Vec::new(), lost: None, observed };
        Outcome {
            configuration,
            failure: None,
            scheduler: Some(report),
            counts: Default::default(),
            costs: None,
            results: Vec::new(),
            uptime_us: 0,
        }
    }

    #[test]
    fn queue_lengths_are_a_distribution_over_all_seeds() {
        let outcomes = [outcome(1, &[(0, 10), (3, 30)]), outcome(2, &[(1, 20), (2, 30), (4, 10)])];
        let rows = shares(&length_distribution(&groups(&outcomes)));
        assert_eq!(rows[0][1..], ["0", "1", "2–3", "4–7"]);
        assert_eq!(rows[1], ["fifo, rooms 5", "10.0", "20.0", "60.0", "10.0"]);
    }

    #[test]
    fn a_summary_is_as_it_was_at_three_widths() {
        let study = serde_json::json!({
            "question": "What does a decision cost?",
            "schedulers": ["fifo"],
            "command": "run",
            "show": ["length", "length_sd", "length_max", "uptime_us"],
            "distribution": true,
        });
        let study: Study = serde_json::from_value(study).unwrap();
        let outcomes = [outcome(1, &[(0, 10), (3, 30)]), outcome(2, &[(1, 20), (2, 30), (4, 10), (80, 3)])];
        insta::assert_snapshot!(crate::golden::at_widths(|| lab_summary(&study, &outcomes)));
    }
}
