//! Simulated results as text, for a terminal. Each text says that nothing in it is measured.

use klatch_record::{MESSAGES_PER_S, Sensitivity, StudyResult};
use klatch_simulator::{Account, Outcome};

use crate::number::{grouped, three_digits, time};
use crate::study::half_width;
use crate::table::{Column, TextTable};

/// Formats the cells of a simulated study: the metric, and what limits it.
pub fn simulated_study(result: &StudyResult) -> String {
    let columns = [
        Column::number("seeds").less(3),
        Column::number("/s"),
        Column::number("").less(4),
        Column::number("queue").less(2),
        Column::number("p99 µs"),
        Column::number("spinning").less(1),
        Column::number("idle").less(1),
        Column::words("verdict"),
    ];
    let axes = result.axes.iter().map(|axis| Column::name(axis.name.as_str()));
    let mut table = TextTable::new(axes.chain(columns));
    for cell in &result.cells {
        let mut row: Vec<String> =
            result.axes.iter().map(|axis| cell.at.get(&axis.name).cloned().unwrap_or_default()).collect();
        let mean = |name: &str| cell.estimates.get(name).map(|estimate| estimate.mean);
        let number = |name: &str| mean(name).map(three_digits).unwrap_or_default();
        let share =
            |name: &str| mean(name).map(|share| format!("{:.0} %", 100.0 * share)).unwrap_or_default();
        row.push(cell.trials.to_string());
        row.push(mean(MESSAGES_PER_S).map(|rate| grouped(rate.round() as u64)).unwrap_or_default());
        row.push(cell.estimates.get(MESSAGES_PER_S).map(half_width).unwrap_or_default());
        row.extend([number("run_queue_length"), number("run_queue_latency_p99_us")]);
        row.extend([share("spin_share"), share("idle_share"), cell.verdict.clone()]);
        table.row(row);
    }
    format!("{table}\n\nsimulated, not measured; rules: {}\n", result.rules)
}

/// Formats the claims of a simulated study with the range of each over all costs.
pub fn simulated_claims(found: &Sensitivity) -> String {
    let mut table = TextTable::new([
        Column::words("claim"),
        Column::number("ratio"),
        Column::number("lowest"),
        Column::name("").less(1),
        Column::number("highest"),
        Column::name("").less(1),
        Column::name(""),
    ]);
    for claim in &found.claims {
        let verdict = if claim.is_shown() { "" } else { "not shown" };
        let number = |ratio: f64| format!("{ratio:.2}");
        table.row([
            claim.name(),
            number(claim.ratio),
            number(claim.low),
            claim.low_with.clone(),
            number(claim.high),
            claim.high_with.clone(),
            verdict.to_owned(),
        ]);
    }
    let shown = found.claims.iter().filter(|claim| claim.is_shown()).count();
    format!(
        "{}\n\nsimulated, not measured; each of {} costs at both ends of its range, one at a time: {shown} of {} claims keep their sign\n",
        table,
        found.costs,
        found.claims.len()
    )
}

/// What a simulated run shows, in a sentence: the throughput, and the account with most of the CPU time.
pub fn simulated_answer(outcome: &Outcome, unit: &str, scheduler: &str, machine: &str) -> String {
    let most = Account::ALL.into_iter().max_by(|a, b| outcome.share(*a).total_cmp(&outcome.share(*b)));
    let most = most.map_or_else(String::new, |account| {
        let share = 100.0 * outcome.share(account);
        match account {
            Account::Idle => format!("; the CPUs are idle for {share:.0} % of the time"),
            account => format!("; the largest part of the CPU time, {share:.0} %, is {account}"),
        }
    });
    let rate = grouped(outcome.messages_per_s().round() as u64);
    format!("Simulated, not measured: {rate} {unit}/s on {machine} under {scheduler}{most}.")
}

/// Values with what they are, one a line, and without a head.
pub fn described<S: Into<String>>(rows: impl IntoIterator<Item = (&'static str, S)>) -> String {
    let mut table = TextTable::new([Column::name(""), Column::words("")]);
    for (name, value) in rows {
        table.row([name.to_owned(), value.into()]);
    }
    format!("{table}\n")
}

/// Run-queue latency in the trace that a simulated run replays.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredWaits {
    /// CPUs of the machine that was traced.
    pub cpus: u32,
    /// The 50th, 90th, 99th and 99.9th percentile, µs.
    pub us: [Option<f64>; 4],
}

/// Formats one simulated run; `measured`: what the trace has that it replays.
pub fn simulated_run(outcome: &Outcome, unit: &str, measured: Option<&MeasuredWaits>) -> String {
    let throughput = grouped(outcome.messages_per_s().round() as u64);
    [
        described([("simulated throughput", format!("{throughput} {unit}/s"))]),
        accounts(outcome, unit),
        latencies(outcome, measured),
        counts(outcome, unit),
    ]
    .join("\n")
}

/// Where the CPU time went.
fn accounts(outcome: &Outcome, unit: &str) -> String {
    let each = format!("µs per {}", unit.strip_suffix('s').unwrap_or(unit));
    let mut table = TextTable::new([Column::name("CPU time"), Column::number("share"), Column::number(each)]);
    for account in Account::ALL {
        let share = format!("{:.1} %", 100.0 * outcome.share(account));
        table.row([account.to_string(), share, three_digits(outcome.us_per_message(account))]);
    }
    format!("{table}\n")
}

fn latencies(outcome: &Outcome, measured: Option<&MeasuredWaits>) -> String {
    let numbers = ["p50", "p90", "p99", "p99.9"].map(Column::number);
    let mut table = TextTable::new([Column::name("")].into_iter().chain(numbers));
    let mut row = |name: &str, values: [Option<f64>; 4]| {
        let values = values.map(|us| us.map_or_else(|| "–".to_owned(), time));
        table.row([name.to_owned()].into_iter().chain(values));
    };
    row("run-queue latency", [0.5, 0.9, 0.99, 0.999].map(|share| Some(outcome.latency_us(share))));
    if let Some(measured) = measured {
        row(&format!("in the trace, measured on {} CPUs", measured.cpus), measured.us);
    }
    format!("{table}\n")
}

/// What was counted: by operation, of the run queue, of yields, and of locks.
fn counts(outcome: &Outcome, unit: &str) -> String {
    let counts = &outcome.counts;
    let each = |count: u64| three_digits(count as f64 / counts.messages as f64);
    let operations = format!(
        "decisions {}, switches {}, yields {}, wake-ups {}, queue elements read {}, migrations {}; each per {}",
        each(counts.decisions),
        each(counts.switches),
        each(counts.yields),
        each(counts.wakeups),
        each(counts.elements),
        each(counts.migrations.iter().sum()),
        unit.strip_suffix('s').unwrap_or(unit),
    );
    let queue = format!(
        "mean {}, deviation {}, longest {}",
        three_digits(outcome.queue_length_mean()),
        three_digits(outcome.queue_length_sd()),
        counts.length_max,
    );
    let yields: u64 = counts.yields_found.iter().sum();
    let found = (yields > 0).then(|| {
        let [only, same, higher, lower] =
            counts.yields_found.map(|found| 100.0 * found as f64 / yields as f64);
        let found = format!(
            "nothing {only:.1} %, the same priority {same:.1} %, a better one {higher:.1} %, a worse one {lower:.1} %"
        );
        ("a yield found", found)
    });
    let us = |cycles: u64, times: u64| time(cycles as f64 / times.max(1) as f64 / outcome.mhz as f64);
    let locks = format!(
        "contended {:.1} %, held {}, waited {}",
        100.0 * counts.locks.contended as f64 / counts.locks.acquired.max(1) as f64,
        us(counts.locks.held, counts.locks.acquired),
        us(counts.locks.waited, counts.locks.contended),
    );
    let rows = [Some(("operations", operations)), Some(("run queue", queue)), found];
    described(rows.into_iter().flatten().chain([("run-queue locks", locks)]))
}
