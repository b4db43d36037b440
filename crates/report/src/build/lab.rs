//! What a study of the lab found: costs by length of the queue, lengths, and whatever it shows, by scheduler.

use std::path::Path;

use klatch_lab::{Costs, Group, Outcome, Study, costs, distribution, groups};

use crate::model::{
    Axis, Chart, ChartKind, Command, Fact, Footnote, Mark, Place, Point, REPORT_SCHEMA_NAME, Report, Scale,
    Section, Standing, Verdict,
};

/// The report of a study of the lab in a folder.
pub fn lab(folder: &Path, study: &Study, outcomes: &[Outcome]) -> Report {
    let groups = groups(outcomes);
    let costs = costs(outcomes);
    let failed = outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
    let mut sections = vec![section("shown", "By configuration", shown(study, &groups))];
    if study.fit {
        sections.insert(0, section("cost", "What a decision costs", vec![cost(&costs)]));
    }
    if study.distribution {
        sections.push(section("lengths", "How long the queue is", vec![lengths(&groups)]));
    }
    sections.retain(|section| section.charts.iter().any(|chart| !chart.points.is_empty()));
    Report {
        schema: REPORT_SCHEMA_NAME.to_owned(),
        title: study.name.clone(),
        question: study.question.clone(),
        answer: answer(study, &groups, &costs),
        verdict: Verdict {
            standing: match outcomes.len() - failed {
                0 => Standing::Nothing,
                _ if failed > 0 => Standing::Partly,
                _ => Standing::Valid,
            },
            text: match failed {
                0 => format!("{} boots, each gave numbers", outcomes.len()),
                _ => format!("{failed} of {} boots gave no numbers", outcomes.len()),
            },
        },
        warnings: Vec::new(),
        cells: Vec::new(),
        axes: Vec::new(),
        ratios: Vec::new(),
        sections,
        rules: vec![
            "Each configuration is a boot of an emulated machine whose clock counts instructions: a ns is an \
             instruction, caches and memory cost nothing, and several CPUs take turns."
                .to_owned(),
            "Intervals are of 95 % (Student's t), over seeds, each of which shifts the start by a moment; one seed has \
             none. The same boot twice gives the same to the last digit."
                .to_owned(),
        ],
        runs: Vec::new(),
        environments: vec!["the emulated machine".to_owned()],
        facts: facts(study),
        commands: vec![Command {
            what: "the same again".to_owned(),
            line: format!("klatch lab run {}", study.name),
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
    Section { id: id.to_owned(), title: title.to_owned(), lead: None, charts, flames: Vec::new() }
}

/// The slopes if a line was asked for, else the ends of what is shown first.
fn answer(study: &Study, groups: &[Group<'_>], costs: &[Costs]) -> String {
    if study.fit {
        let lines = costs.iter().filter_map(|costs| {
            let fit = costs.fit?;
            let r2 = fit.r2.map_or("all equal".to_owned(), |r2| format!("r² {r2:.3}"));
            let interval = format!("{:.1} to {:.1}, {r2}", fit.ns_per_task_low, fit.ns_per_task_high);
            Some(format!("{} {:.1} ns ({interval})", costs.name, fit.ns_per_task))
        });
        let lines = lines.collect::<Vec<_>>().join("; ");
        return match lines.as_str() {
            "" => "No answer: no boot gave costs.".to_owned(),
            lines => format!("Each task that waits makes a decision dearer by: {lines}."),
        };
    }
    let Some(first) = study.show.first() else { return "The study shows nothing.".to_owned() };
    let mut values: Vec<(f64, &str)> =
        groups.iter().filter_map(|group| Some((group.mean(first)?.mean, group.name.as_str()))).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    match (values.first(), values.last()) {
        (Some((least, at_least)), Some((most, at_most))) => {
            let name = words(first);
            format!("{name} from {} ({at_least}) to {} ({at_most}).", told(*least), told(*most))
        }
        _ => "No answer: no boot gave numbers.".to_owned(),
    }
}

fn told(value: f64) -> String {
    if value.abs() >= 1000.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// Cost by length: the papers' figures of it.
fn cost(all: &[Costs]) -> Chart {
    let points = all.iter().flat_map(|costs| {
        let point = |&(length, ns): &(f64, f64)| Point::plain(&costs.name, Place::At(length), ns);
        costs.points.iter().map(point)
    });
    let mark = |costs: &Costs| {
        let fit = costs.fit?;
        let ends = || costs.points.iter().map(|(length, _)| *length);
        let (from, to) = (ends().reduce(f64::min)?, ends().reduce(f64::max)?);
        let at = |length: f64| (Some(length), Some(fit.ns_at_zero + fit.ns_per_task * length));
        Some(Mark {
            label: format!("{}: {:.1} ns a task", costs.name, fit.ns_per_task),
            line: [at(from), at(to)],
        })
    };
    Chart {
        id: "cost-by-length".to_owned(),
        title: "A scheduling decision, by tasks that wait".to_owned(),
        caption: "Each point is the mean of at least 30 decisions of a boot; lines are least squares."
            .to_owned(),
        kind: ChartKind::Dots,
        x: Axis::linear("tasks that wait", ""),
        y: Axis::linear("time of a decision", "ns"),
        points: points.collect(),
        marks: all.iter().filter_map(mark).collect(),
    }
}

/// The distribution of lengths, summed up.
fn lengths(groups: &[Group<'_>]) -> Chart {
    let found = distribution(groups);
    let points = found.shares.iter().flat_map(|(name, shares)| {
        let sums = shares.iter().scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        // Place n holds the lengths below 2 to the n.
        (0..).zip(sums).map(|(place, sum)| Point::plain(name, Place::At(2_f64.powi(place)), sum))
    });
    Chart {
        id: "queue-length".to_owned(),
        title: "Decisions with fewer tasks waiting than".to_owned(),
        caption: "All seeds together; the task that runs is not counted.".to_owned(),
        kind: ChartKind::Lines,
        x: Axis::linear("tasks that wait", "").on(Scale::Log),
        y: Axis::linear("of decisions", "%"),
        points: points.collect(),
        marks: Vec::new(),
    }
}

/// A chart for each number that the study shows.
fn shown(study: &Study, groups: &[Group<'_>]) -> Vec<Chart> {
    let chart = |name: &String| {
        let points = groups.iter().filter_map(|group| {
            let of = group.mean(name)?;
            Some(Point {
                low: of.interval.map(|(low, _)| low),
                high: of.interval.map(|(_, high)| high),
                n: Some(group.outcomes.len() as u64),
                ..Point::plain("", Place::Named(group.name.clone()), of.mean)
            })
        });
        Chart {
            id: format!("shown-{}", name.trim_matches('/').replace('/', "-")),
            title: words(name),
            caption: String::new(),
            kind: ChartKind::Bars,
            x: Axis::words("configuration"),
            y: Axis::linear(&words(name), unit(name)),
            points: points.collect(),
            marks: Vec::new(),
        }
    };
    study.show.iter().map(chart).filter(|chart| !chart.points.is_empty()).collect()
}

/// What people call a number of [`Outcome::value`].
fn words(name: &str) -> String {
    match name {
        "cost" => "time of a decision".to_owned(),
        "cost_min" => "time of the cheapest decisions".to_owned(),
        "length" => "tasks that wait, on average".to_owned(),
        "length_sd" => "tasks that wait, standard deviation".to_owned(),
        "length_max" => "tasks that wait, at most".to_owned(),
        "uptime_us" => "time since the boot at the end".to_owned(),
        _ => name.rsplit('/').next().unwrap_or(name).replace('_', " "),
    }
}

fn unit(name: &str) -> &'static str {
    match name {
        "cost" | "cost_min" => "ns",
        "uptime_us" => "µs",
        _ => "",
    }
}

fn facts(study: &Study) -> Vec<Fact> {
    let fact =
        |name: &str, value: String| Fact { name: name.to_owned(), values: vec![value], differs: false };
    let numbers = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    vec![
        fact("kernel", format!("Linux {}", study.kernels.join(", "))),
        fact("CPUs", numbers(&study.cpus)),
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
