//! The page of a study of the lab: cost by queue length, queue lengths, and the numbers that the study shows.

use std::cmp::Ordering;
use std::path::Path;

use klatch_record::lab::{Outcome, Study, is_count};

use super::costs::{Load, answer as costs_answer, charts as cost_charts, loads};
use super::groups::{
    CostCurve, Group, Machines, by_machine, cost_curves, count_columns, count_curves, groups,
    length_distribution,
};
use crate::build::{fixed, shell_line};
use crate::model::{
    Axis, Chart, ChartKind, Command, Fact, Footnote, Mark, Place, Point, REPORT_SCHEMA_NAME, Report, Scale,
    Section, Standing, Verdict, WarningRow,
};
use crate::number::{grouped, three_digits};

/// The report of a study of the lab; `folder` is named as its source.
pub fn lab_report(folder: &Path, study: &Study, outcomes: &[Outcome]) -> Report {
    let groups = groups(outcomes);
    let machines = by_machine(outcomes);
    let curves = cost_curves(outcomes);
    let failed = outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
    let file = fixed(folder).join("study.toml").display().to_string();
    let shown = match machines.as_slice() {
        [_, _, ..] => study.show.iter().map(|name| chart_by_machine(name, &machines)).collect(),
        _ => shown_charts(study, &groups),
    };
    let mut sections = vec![section("shown", "By configuration", shown)];
    if study.fit {
        let mut charts: Vec<Chart> =
            machines.iter().map(|(label, outcomes)| cost_chart(label, &cost_curves(outcomes))).collect();
        charts
            .extend(count_columns(study).map(|column| count_chart(column, &count_curves(outcomes, column))));
        sections.insert(0, section("cost", "Cost of a decision", charts));
    }
    let loads = loads(outcomes);
    if !loads.is_empty() {
        sections.insert(0, section("operations", "What an operation costs", cost_charts(&loads)));
    }
    if study.distribution {
        sections.push(section("lengths", "Queue length", vec![length_chart(&groups)]));
    }
    sections.retain(|section| section.charts.iter().any(|chart| !chart.points.is_empty()));
    Report {
        schema: REPORT_SCHEMA_NAME.to_owned(),
        title: study.name.clone(),
        question: study.question.clone(),
        answer: answer(study, &groups, &machines, &curves, &loads),
        requirements: Vec::new(),
        verdict: Verdict {
            standing: match outcomes.len() - failed {
                0 => Standing::Nothing,
                _ if failed > 0 => Standing::Partly,
                _ => Standing::Valid,
            },
            text: match failed {
                0 => format!("{} boots, all with numbers", outcomes.len()),
                _ => format!("{failed} of {} boots failed", outcomes.len()),
            },
        },
        warnings: left_out(study, outcomes),
        cells: Vec::new(),
        percentiles: Vec::new(),
        axes: Vec::new(),
        ratios: Vec::new(),
        sections,
        rules: vec![
            "Each configuration is one boot of an emulated machine whose clock counts instructions. One ns is one \
             instruction, caches and memory cost nothing, and CPUs take turns."
                .to_owned(),
            "Intervals are 95 % (Student's t) over seeds; each seed shifts the start a little. A single seed has no \
             interval. The same boot gives the same numbers to the last digit."
                .to_owned(),
        ],
        runs: Vec::new(),
        environments: vec!["the emulated machine".to_owned()],
        facts: facts(study),
        commands: vec![Command {
            what: "repeat the study".to_owned(),
            line: shell_line(&["klatch".to_owned(), "study".to_owned(), file]),
        }],
        instruments: Vec::new(),
        footnotes: footnotes(outcomes),
        sources: vec![folder.display().to_string()],
        klatch: None,
        started_at: None,
        ended_at: None,
    }
}

fn section(id: &str, title: &str, charts: Vec<Chart>) -> Section {
    Section {
        id: id.to_owned(),
        title: title.to_owned(),
        lead: None,
        tables: Vec::new(),
        charts,
        flames: Vec::new(),
    }
}

/// What operations cost if they were counted under several kernels; the slopes if the study fits a line through a column of its own; else the ranges of its columns.
fn answer(
    study: &Study,
    groups: &[Group<'_>],
    machines: &Machines,
    curves: &[CostCurve],
    loads: &[Load<'_>],
) -> String {
    if let Some(costs) = costs_answer(loads) {
        return costs;
    }
    if study.fit && study.show.iter().any(|name| name == "cost" || is_count(name)) {
        if let Some(range) = slopes(curves) {
            return range;
        }
        let lines = curves.iter().filter_map(|curve| {
            let fit = curve.fit?;
            let r2 = fit.r2.map_or("all equal".to_owned(), |r2| format!("r² {r2:.3}"));
            let interval = format!("{:.1} to {:.1}, {r2}", fit.slope.low, fit.slope.high);
            Some(format!("{} {:.1} ns ({interval})", curve.name, fit.slope.estimate))
        });
        let lines = lines.collect::<Vec<_>>().join("; ");
        return match lines.as_str() {
            "" => "No answer: no boot produced costs.".to_owned(),
            lines => format!("Extra cost of a decision per waiting task: {lines}."),
        };
    }
    let Some(first) = study.show.first() else { return "The study shows nothing.".to_owned() };
    let medians = study.show.iter().skip(1).filter(|name| name.contains("_p50_"));
    let ranges: Vec<String> =
        std::iter::once(first).chain(medians).filter_map(|name| range(name, machines)).collect();
    match ranges.is_empty() {
        true => "No answer: no boot produced numbers.".to_owned(),
        false => format!("{}: {}.", survivors(groups), ranges.join("; ")),
    }
}

/// The lowest and the highest value of a column, on the first and the last machine.
fn range(name: &str, machines: &Machines) -> Option<String> {
    let of = |(machine, outcomes): &(String, Vec<Outcome>)| {
        let groups = groups(outcomes);
        let values = groups.iter().filter_map(|group| Some((group.mean(name)?.mean, group.name.as_str())));
        let mut values: Vec<(f64, &str)> = values.collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ((least, at_least), (most, at_most)) = (values.first()?, values.last()?);
        let on = if machine.is_empty() { String::new() } else { format!(" on {machine}") };
        let unit = unit(name);
        let space = if unit.is_empty() { "" } else { " " };
        let order = least.total_cmp(most);
        let (least, most) = (short(*least), short(*most));
        if order == Ordering::Equal {
            return Some(format!("{least}{space}{unit} in all{on}"));
        }
        Some(format!("from {least}{space}{unit} ({at_least}) to {most}{space}{unit} ({at_most}){on}"))
    };
    let ends = match machines.as_slice() {
        [first, .., last] => vec![first, last],
        few => few.iter().collect(),
    };
    let ranges: Vec<String> = ends.into_iter().filter_map(of).collect();
    (!ranges.is_empty()).then(|| format!("{} {}", title(name), ranges.join(", ")))
}

/// The ends of the slopes, if there are too many to list.
fn slopes(curves: &[CostCurve]) -> Option<String> {
    const LISTED_MAX: usize = 6;
    let mut fits: Vec<(f64, &str)> =
        curves.iter().filter_map(|curve| Some((curve.fit?.slope.estimate, curve.name.as_str()))).collect();
    fits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [(least, at_least), .., (most, at_most)] = fits.as_slice() else { return None };
    (fits.len() > LISTED_MAX).then(|| {
        format!(
            "Extra cost of a decision per waiting task: from {least:.1} ns ({at_least}) to {most:.1} ns ({at_most})."
        )
    })
}

/// How many configurations ran to the end, and which did not.
fn survivors(groups: &[Group<'_>]) -> String {
    let failed: Vec<&str> =
        groups.iter().filter(|group| group.failed() > 0).map(|group| group.name.as_str()).collect();
    match (failed.as_slice(), groups.len()) {
        ([], 1) => "The configuration ran to the end".to_owned(),
        ([], all) => format!("All {all} configurations ran to the end"),
        (failed, all) => format!("{} of {all} configurations failed ({})", failed.len(), failed.join("; ")),
    }
}

fn short(value: f64) -> String {
    match value.fract() == 0.0 && value >= 0.0 {
        true => grouped(value as u64),
        false => three_digits(value),
    }
}

/// Cost of a decision by queue length, as in the figures of the papers.
fn cost_chart(machine: &str, curves: &[CostCurve]) -> Chart {
    let (id, on) = match machine {
        "" => (String::new(), String::new()),
        machine => (format!("-{}", machine.replace(' ', "-")), format!(", {machine}")),
    };
    Chart {
        id: format!("cost-by-length{id}"),
        title: format!("Cost of a scheduling decision by queue length{on}"),
        caption: "Each point is the mean of at least 30 decisions of one boot. Lines are least-squares fits that explain half of the \
                  scatter or more."
            .to_owned(),
        kind: ChartKind::Dots,
        x: Axis::linear("waiting tasks", ""),
        y: Axis::linear("time of a decision", "ns"),
        points: points(curves),
        marks: marks(curves, " ns"),
    }
}

fn points(curves: &[CostCurve]) -> Vec<Point> {
    let of_curve = |curve: &CostCurve| {
        let point = |&(length, value): &(f64, f64)| Point::plain(&curve.name, Place::At(length), value);
        curve.points.iter().map(point).collect::<Vec<_>>()
    };
    curves.iter().flat_map(of_curve).collect()
}

/// Least share of the scatter that a line explains if it is drawn: one that fits nothing has a slope by chance.
const SHOWN_R2_MIN: f64 = 0.5;

/// The fitted lines, with their slopes in `unit` for each task.
fn marks(curves: &[CostCurve], unit: &str) -> Vec<Mark> {
    let mark = |curve: &CostCurve| {
        let fit = curve.fit.filter(|fit| fit.r2.is_none_or(|r2| r2 >= SHOWN_R2_MIN))?;
        let ends = || curve.points.iter().map(|(length, _)| *length);
        let (from, to) = (ends().reduce(f64::min)?, ends().reduce(f64::max)?);
        let at = |length: f64| (Some(length), Some(fit.intercept + fit.slope.estimate * length));
        Some(Mark {
            label: format!("{}: {:.1}{unit} a task", curve.name, fit.slope.estimate),
            line: [at(from), at(to)],
        })
    };
    curves.iter().filter_map(mark).collect()
}

/// A count per call by queue length.
fn count_chart(column: &str, curves: &[CostCurve]) -> Chart {
    Chart {
        id: format!("count-{}", column.replace(':', "-")),
        title: format!("{} by queue length", title(column)),
        caption: "Each point is the mean of a boot, of all calls of the routine. Caches and cycles are modelled, not measured."
            .to_owned(),
        kind: ChartKind::Dots,
        x: Axis::linear("waiting tasks", ""),
        y: Axis::linear(column, ""),
        points: points(curves),
        marks: marks(curves, ""),
    }
}

/// The cumulative distribution of queue lengths.
fn length_chart(groups: &[Group<'_>]) -> Chart {
    let distribution = length_distribution(groups);
    let points = distribution.shares.iter().flat_map(|(name, shares)| {
        let sums = shares.iter().scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        // Buckets 0 to n hold the lengths below 2^n.
        (0..).zip(sums).map(|(bucket, sum)| Point::plain(name, Place::At(2_f64.powi(bucket)), sum))
    });
    Chart {
        id: "queue-length".to_owned(),
        title: "Decisions with fewer waiting tasks than".to_owned(),
        caption: "Over all seeds; the running task is not counted.".to_owned(),
        kind: ChartKind::Lines,
        x: Axis::linear("waiting tasks", "").on(Scale::Log),
        y: Axis::linear("of decisions", "%"),
        points: points.collect(),
        marks: Vec::new(),
    }
}

/// A column of the study by machine, a line for each scheduler.
fn chart_by_machine(name: &str, machines: &Machines) -> Chart {
    let points = machines.iter().flat_map(|(machine, outcomes)| {
        let groups = groups(outcomes);
        let point = |group: &Group<'_>| {
            let mean = group.mean(name)?;
            Some(Point {
                low: mean.interval.map(|(low, _)| low),
                high: mean.interval.map(|(_, high)| high),
                n: Some(group.outcomes.len() as u64),
                ..Point::plain(&group.name, Place::Named(machine.clone()), mean.mean)
            })
        };
        groups.iter().filter_map(point).collect::<Vec<_>>()
    });
    Chart {
        id: shown_id(name),
        title: title(name),
        caption: String::new(),
        kind: ChartKind::Lines,
        x: Axis::words("machine"),
        y: Axis::linear(&title(name), unit(name)),
        points: points.collect(),
        marks: Vec::new(),
    }
}

fn shown_id(name: &str) -> String {
    format!("shown-{}", name.trim_matches('/').replace('/', "-"))
}

/// One chart for each column of the study.
fn shown_charts(study: &Study, groups: &[Group<'_>]) -> Vec<Chart> {
    let chart = |name: &String| {
        let points = groups.iter().filter_map(|group| {
            let mean = group.mean(name)?;
            Some(Point {
                low: mean.interval.map(|(low, _)| low),
                high: mean.interval.map(|(_, high)| high),
                n: Some(group.outcomes.len() as u64),
                ..Point::plain("", Place::Named(group.name.clone()), mean.mean)
            })
        });
        Chart {
            id: shown_id(name),
            title: title(name),
            caption: String::new(),
            kind: ChartKind::Bars,
            x: Axis::words("configuration"),
            y: Axis::linear(&title(name), unit(name)),
            points: points.collect(),
            marks: Vec::new(),
        }
    };
    study.show.iter().map(chart).filter(|chart| !chart.points.is_empty()).collect()
}

/// A heading for a number of [`Outcome::value`].
fn title(name: &str) -> String {
    match name {
        "cost" => "time of a decision".to_owned(),
        "cost_min" => "time of the cheapest decisions".to_owned(),
        "length" => "waiting tasks, mean".to_owned(),
        "length_sd" => "waiting tasks, standard deviation".to_owned(),
        "length_max" => "waiting tasks, maximum".to_owned(),
        "uptime_us" => "uptime at the end".to_owned(),
        "decision_p50_ns" => "time of a decision, median".to_owned(),
        "decision_p99_ns" => "time of a decision, 99th percentile".to_owned(),
        "wakeup_p50_us" => "run-queue latency, median".to_owned(),
        "wakeup_p90_us" => "run-queue latency, 90th percentile".to_owned(),
        "wakeup_p99_us" => "run-queue latency, 99th percentile".to_owned(),
        _ => {
            let mut parts = name.rsplit('/');
            let own = in_words(parts.next().unwrap_or(name));
            // Both sides have the same numbers.
            match parts.find(|part| ["server", "crowd", "database"].contains(part)) {
                Some(side) => format!("{side}: {own}"),
                None => own,
            }
        }
    }
}

/// The name of a number as a reader writes it: `CPU µs per message`.
fn in_words(name: &str) -> String {
    let word = |word: &str| match word {
        "cpu" => "CPU".to_owned(),
        "us" => "µs".to_owned(),
        word => word.to_owned(),
    };
    name.split('_').map(word).collect::<Vec<_>>().join(" ")
}

fn unit(name: &str) -> &'static str {
    match name {
        "cost" | "cost_min" | "decision_p50_ns" | "decision_p99_ns" => "ns",
        "uptime_us" | "wakeup_p50_us" | "wakeup_p90_us" | "wakeup_p99_us" => "µs",
        _ => "",
    }
}

/// Kernels and schedulers of the study without any boot.
fn left_out(study: &Study, outcomes: &[Outcome]) -> Vec<WarningRow> {
    let without = |all: &[String], of: fn(&Outcome) -> &String| -> Vec<String> {
        all.iter().filter(|name| !outcomes.iter().any(|outcome| of(outcome) == *name)).cloned().collect()
    };
    let missing = [
        ("kernels", without(&study.kernels, |outcome| &outcome.configuration.kernel)),
        ("schedulers", without(&study.schedulers, |outcome| &outcome.configuration.scheduler)),
    ];
    let missing = missing.into_iter().filter(|(_, names)| !names.is_empty());
    let row = |(what, names): (&str, Vec<String>)| WarningRow {
        message: format!("{what} without a boot: {}", names.join(", ")),
        advice: "get them, and resume the study".to_owned(),
        cells: Vec::new(),
    };
    missing.map(row).collect()
}

fn facts(study: &Study) -> Vec<Fact> {
    let fact =
        |name: &str, value: String| Fact { name: name.to_owned(), values: vec![value], differs: false };
    let numbers = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    vec![
        fact("kernel", format!("Linux {}", study.kernels.join(", "))),
        match study.machine.is_empty() {
            true => fact("CPUs", numbers(&study.cpus)),
            false => fact("machine", study.machine.join(", ")),
        },
        fact("memory", format!("{} MB", study.memory_mb)),
        fact("schedulers", study.schedulers.join(", ")),
        fact("seeds", numbers(&study.seeds)),
        fact("commands", study.commands.join("; ")),
    ]
}

fn footnotes(outcomes: &[Outcome]) -> Vec<Footnote> {
    let failed = outcomes.iter().filter_map(|outcome| Some((outcome, outcome.failure.as_ref()?)));
    let footnote = |(number, (outcome, why)): (u32, (&Outcome, &String))| Footnote {
        number,
        cell: outcome.configuration.id.clone(),
        text: why.clone(),
    };
    (1..).zip(failed).map(footnote).collect()
}
