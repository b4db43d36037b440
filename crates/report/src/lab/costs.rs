//! What an operation costs by routine, and the steps from one kernel to the next.

use std::collections::BTreeMap;
use std::fmt::Write;

use klatch_record::lab::{Configuration, OperationCosts, Outcome, RoutineCost};

use crate::model::{Axis, Chart, ChartKind, Place, Point};
use crate::table::{Column, TextTable};

/// Steps in the table of a terminal.
const STEPS: usize = 12;
/// Routines that a step names.
const NAMED: usize = 3;
/// Routines in the chart of a load.
const DRAWN: usize = 8;

/// Costs of one load under every kernel that ran it.
pub(super) struct Load<'a> {
    /// Its name: the varied values, or the command.
    pub(super) name: String,
    /// Name of one operation.
    pub(super) operation: &'a str,
    /// By kernel, in the order of the study.
    pub(super) kernels: Vec<(&'a str, &'a OperationCosts)>,
}

/// The change of a load from a kernel to the next one.
pub(super) struct Step<'a> {
    pub(super) load: &'a Load<'a>,
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    /// Instructions of an operation before and after.
    pub(super) instructions: (f64, f64),
    /// Modelled cycles of an operation before and after; 0 without caches.
    pub(super) cycles: (f64, f64),
    /// Instructions of an operation that each routine has more or fewer, largest change first.
    pub(super) routines: Vec<(String, f64)>,
}

impl Step<'_> {
    /// The change of the instructions, as a share of those before.
    pub(super) fn share(&self) -> f64 {
        self.instructions.1 / self.instructions.0 - 1.0
    }

    /// The routines that changed most.
    pub(super) fn named(&self) -> String {
        let named = self.routines.iter().take(NAMED);
        named.map(|(name, change)| format!("{} in {name}", signed(*change))).collect::<Vec<_>>().join(", ")
    }
}

/// The loads whose operations were counted, in the order of the outcomes. Of several seeds the first counts, of several schedulers and CPUs
/// each is a load of its own.
pub(super) fn loads(outcomes: &[Outcome]) -> Vec<Load<'_>> {
    let mut loads: Vec<Load<'_>> = Vec::new();
    let all = || outcomes.iter().map(|outcome| &outcome.configuration);
    let differ = |of: fn(&Configuration) -> String| {
        all().any(|one| all().next().is_some_and(|first| of(one) != of(first)))
    };
    let (schedulers, cpus) = (differ(|one| one.scheduler.clone()), differ(|one| one.cpus.to_string()));
    for outcome in outcomes.iter().filter(|outcome| outcome.failure.is_none()) {
        let Some(costs) = &outcome.costs else { continue };
        let one = &outcome.configuration;
        let mut parts: Vec<String> = one.varied.iter().map(|(_, value)| value.clone()).collect();
        if parts.is_empty() {
            parts.extend(one.commands.last().map(|words| words.join(" ")));
        }
        parts.extend(schedulers.then(|| one.scheduler.clone()));
        parts.extend(cpus.then(|| format!("{} CPUs", one.cpus)));
        let name = parts.join(", ");
        let kernel = (one.kernel.as_str(), costs);
        match loads.iter_mut().find(|load| load.name == name) {
            Some(load) if load.kernels.iter().any(|(known, _)| *known == one.kernel) => {}
            Some(load) => load.kernels.push(kernel),
            None => loads.push(Load { name, operation: &costs.operations.name, kernels: vec![kernel] }),
        }
    }
    loads
}

/// Instructions of an operation.
pub(super) fn instructions(costs: &OperationCosts) -> f64 {
    costs.instructions as f64 / costs.operations.count as f64
}

/// Modelled cycles of an operation.
fn cycles(costs: &OperationCosts) -> f64 {
    costs.modelled_cycles as f64 / costs.operations.count as f64
}

/// Every step of every load, largest share first.
pub(super) fn steps<'a>(loads: &'a [Load<'a>]) -> Vec<Step<'a>> {
    let of_load = |load: &'a Load<'a>| {
        load.kernels.windows(2).map(move |pair| {
            let [(from, before), (to, after)] = pair else { unreachable!("windows have two") };
            Step {
                load,
                from,
                to,
                instructions: (instructions(before), instructions(after)),
                cycles: (cycles(before), cycles(after)),
                routines: changes(before, after),
            }
        })
    };
    let mut steps: Vec<Step<'_>> = loads.iter().flat_map(of_load).collect();
    steps.sort_by(|a, b| b.share().abs().total_cmp(&a.share().abs()));
    steps
}

/// The change of each routine, in instructions of an operation.
fn changes(before: &OperationCosts, after: &OperationCosts) -> Vec<(String, f64)> {
    let mut all: BTreeMap<String, f64> = BTreeMap::new();
    for (costs, sign) in [(before, -1.0), (after, 1.0)] {
        for row in &costs.routines {
            *all.entry(name(row)).or_default() +=
                sign * row.instructions as f64 / costs.operations.count as f64;
        }
    }
    let mut all: Vec<_> = all.into_iter().filter(|(name, _)| name != OperationCosts::REST).collect();
    all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    all
}

/// A routine as tables show it. Routines of programs have long names, whose end is enough.
fn name(row: &RoutineCost) -> String {
    let short = row.routine.rsplit("::").next().unwrap_or(&row.routine);
    if row.kernel || row.routine == OperationCosts::REST {
        row.routine.clone()
    } else {
        format!("{short} (program)")
    }
}

fn signed(value: f64) -> String {
    format!("{}{}", if value < 0.0 { "−" } else { "+" }, whole(value.abs()))
}

fn whole(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { crate::number::grouped(value.round() as u64) }
}

/// The cheapest and the dearest kernel of the first load, and the largest step of all, in sentences.
pub(super) fn answer(loads: &[Load<'_>]) -> Option<String> {
    let first = loads.iter().find(|load| load.kernels.len() > 1)?;
    let mut sorted: Vec<_> =
        first.kernels.iter().map(|(kernel, costs)| (instructions(costs), kernel)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (least, most) = (sorted.first()?, sorted.last()?);
    let mut text = format!(
        "A {} of {} costs from {} instructions (Linux {}) to {} (Linux {}).",
        first.operation,
        first.name,
        whole(least.0),
        least.1,
        whole(most.0),
        most.1
    );
    if let Some(step) = steps(loads).first() {
        let _ = write!(
            text,
            " The largest step between two releases is that of {} from {} to {}: {:+.1} % ({}).",
            step.load.name,
            step.from,
            step.to,
            step.share() * 100.0,
            step.named()
        );
    }
    Some(text)
}

/// Tables of the costs of each load by kernel, and of the largest steps.
pub(super) fn tables(loads: &[Load<'_>]) -> String {
    let mut kernels: Vec<&str> = Vec::new();
    for (kernel, _) in loads.iter().flat_map(|load| &load.kernels) {
        if !kernels.contains(kernel) {
            kernels.push(kernel);
        }
    }
    let table = |of: fn(&OperationCosts) -> f64, title: &str| {
        let heads = kernels.iter().map(|kernel| Column::number(*kernel));
        let mut table =
            TextTable::new([Column::name(title), Column::name("operation")].into_iter().chain(heads));
        for load in loads {
            let cell = |kernel: &&str| {
                let found = load.kernels.iter().find(|(known, _)| known == kernel);
                found.map_or("–".to_owned(), |(_, costs)| whole(of(costs)))
            };
            let cells = kernels.iter().map(cell);
            table.row([load.name.clone(), load.operation.to_owned()].into_iter().chain(cells));
        }
        table
    };
    let mut text = format!("{}\n", table(instructions, "instructions an operation"));
    if loads.iter().flat_map(|load| &load.kernels).any(|(_, costs)| costs.modelled_cycles > 0) {
        let _ = write!(text, "\n{}\n", table(cycles, "modelled cycles an operation"));
    }
    let steps = steps(loads);
    if steps.is_empty() {
        return text;
    }
    let columns = [
        Column::name("largest steps"),
        Column::name("from"),
        Column::name("to"),
        Column::number("instructions"),
        Column::number("cycles"),
        Column::words("routines"),
    ];
    let mut table = TextTable::new(columns);
    for step in steps.iter().take(STEPS) {
        let percent = |(from, to): (f64, f64)| match from > 0.0 {
            true => format!("{:+.1} %", (to / from - 1.0) * 100.0),
            false => String::new(),
        };
        let (instructions, cycles) = (percent(step.instructions), percent(step.cycles));
        table.row([
            step.load.name.clone(),
            step.from.to_owned(),
            step.to.to_owned(),
            instructions,
            cycles,
            step.named(),
        ]);
    }
    let _ = write!(text, "\n{table}\n");
    text
}

/// The charts of the costs: all loads relative to their first kernel, then the routines of each.
pub(super) fn charts(loads: &[Load<'_>]) -> Vec<Chart> {
    let relative = |load: &Load<'_>| {
        let first = load.kernels.first().map_or(1.0, |(_, costs)| instructions(costs));
        let point = |(kernel, costs): &(&str, &OperationCosts)| {
            Point::plain(
                &load.name,
                Place::Named(format!("Linux {kernel}")),
                instructions(costs) / first * 100.0,
            )
        };
        load.kernels.iter().map(point).collect::<Vec<_>>()
    };
    let mut charts = vec![Chart {
        id: "cost-by-kernel".to_owned(),
        title: "Instructions of an operation, by kernel".to_owned(),
        caption: "Relative to the first kernel of each load. Instructions are exact.".to_owned(),
        kind: ChartKind::Lines,
        x: Axis::words("kernel"),
        y: Axis::linear("instructions of an operation", "%"),
        points: loads.iter().flat_map(relative).collect(),
        marks: Vec::new(),
    }];
    charts.extend(loads.iter().enumerate().map(|(number, load)| routine_chart(number, load)));
    charts
}

/// A bar for each kernel, of the routines that changed most.
fn routine_chart(number: usize, load: &Load<'_>) -> Chart {
    let each =
        |costs: &OperationCosts, row: &RoutineCost| row.instructions as f64 / costs.operations.count as f64;
    // Of each routine its instructions under each kernel; where it is not listed there are none.
    let mut under: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (at, (_, costs)) in load.kernels.iter().enumerate() {
        for row in costs.routines.iter().filter(|row| row.routine != OperationCosts::REST) {
            under.entry(name(row)).or_insert_with(|| vec![0.0; load.kernels.len()])[at] += each(costs, row);
        }
    }
    // Under one kernel nothing changes, and the largest are drawn.
    let weight = |values: &[f64]| {
        let (least, most) = values
            .iter()
            .fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(*value), most.max(*value)));
        if values.len() > 1 { most - least } else { most }
    };
    let weight = under.into_iter().map(|(name, values)| (name, weight(&values)));
    let mut drawn: Vec<(String, f64)> = weight.collect();
    drawn.sort_by(|a, b| b.1.total_cmp(&a.1));
    drawn.truncate(DRAWN);
    let mut points = Vec::new();
    for (kernel, costs) in &load.kernels {
        let at = || Place::Named((*kernel).to_owned());
        let mut rest = instructions(costs);
        for (routine, _) in &drawn {
            let rows = costs.routines.iter().filter(|row| name(row) == *routine);
            let value: f64 = rows.map(|row| each(costs, row)).sum();
            rest -= value;
            points.push(Point::plain(routine, at(), value));
        }
        points.push(Point::plain(OperationCosts::REST, at(), rest.max(0.0)));
    }
    Chart {
        id: format!("routines-{}", number + 1),
        title: format!("{}: instructions of a {}, by routine", load.name, load.operation),
        caption: "Own instructions of the routines that changed most between kernels, over all processes."
            .to_owned(),
        kind: ChartKind::Stacked,
        x: Axis::words("Linux"),
        y: Axis::linear("instructions", ""),
        points,
        marks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use klatch_record::lab::CountedOperations;

    use super::*;

    fn outcome(kernel: &str, load: &str, rows: &[(&str, u64)]) -> Outcome {
        let routine = |(name, instructions): &(&str, u64)| RoutineCost {
            routine: (*name).to_owned(),
            kernel: true,
            instructions: *instructions,
            modelled_cycles: 2 * instructions,
        };
        let instructions = rows.iter().map(|(_, count)| count).sum();
        let costs = OperationCosts {
            operations: CountedOperations { name: "message".to_owned(), count: 10 },
            instructions,
            modelled_cycles: 2 * instructions,
            routines: rows.iter().map(routine).collect(),
        };
        Outcome {
            configuration: Configuration {
                id: format!("{kernel}-{load}"),
                kernel: kernel.to_owned(),
                cpus: 1,
                machine: None,
                scheduler: "kernel".to_owned(),
                varied: vec![("load".to_owned(), load.to_owned())],
                seed: 1,
                commands: Vec::new(),
            },
            failure: None,
            scheduler: None,
            counts: BTreeMap::new(),
            costs: Some(costs),
            results: Vec::new(),
            uptime_us: 0,
        }
    }

    #[test]
    fn the_largest_step_is_named_with_its_routines() {
        let outcomes = [
            outcome("6.1", "chat", &[("schedule", 10_000), ("copy", 5_000)]),
            outcome("6.1", "pipe", &[("schedule", 1_000)]),
            outcome("6.12", "chat", &[("schedule", 10_000), ("copy", 5_100)]),
            outcome("6.12", "pipe", &[("schedule", 900), ("pick", 400)]),
        ];
        let loads = loads(&outcomes);
        assert_eq!(loads.len(), 2);
        assert_eq!(
            answer(&loads).unwrap(),
            "A message of chat costs from 1,500 instructions (Linux 6.1) to 1,510 (Linux 6.12). The largest step between two \
             releases is that of pipe from 6.1 to 6.12: +30.0 % (+40.0 in pick, −10.0 in schedule)."
        );
        let text = tables(&loads);
        let row = text.lines().find(|line| line.starts_with("chat")).unwrap();
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["chat", "message", "1,500", "1,510"]);
        assert!(text.contains("modelled cycles an operation"), "{text}");
        let charts = charts(&loads);
        let relative: Vec<f64> = charts[0].points.iter().filter_map(|point| point.y).collect();
        assert_eq!(relative.iter().map(|y| y.round()).collect::<Vec<_>>(), [100.0, 101.0, 100.0, 130.0]);
        let sum: f64 = charts[2].points.iter().take(3).filter_map(|point| point.y).sum();
        assert_eq!((charts.len(), sum), (3, 100.0));
    }
}
