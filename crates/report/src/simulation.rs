//! Simulated results as text, for a terminal. Each text says that nothing in it is measured.

use std::fmt::Write;

use klatch_record::{MESSAGES_PER_S, Sensitivity, StudyResult};
use klatch_simulator::{Account, Outcome};

use crate::number::{grouped, three_digits};
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
    format!("Simulated, not measured: {machine} under {scheduler} carry {rate} {unit}/s{most}.")
}

/// Formats one simulated run.
pub fn simulated_run(outcome: &Outcome, unit: &str) -> String {
    let counts = &outcome.counts;
    let per_message = |count: u64| three_digits(count as f64 / counts.messages as f64);
    let mut text = format!(
        "simulated throughput       {} {unit}/s\n\nCPU time                     share        µs each\n",
        grouped(outcome.messages_per_s().round() as u64)
    );
    for account in Account::ALL {
        let (share, us) = (100.0 * outcome.share(account), outcome.us_per_message(account));
        let _ = writeln!(text, "{:<27}{share:>5.1} %{:>16}", account.to_string(), three_digits(us));
    }
    let _ = writeln!(
        text,
        "\neach                       decisions {}, yields {}, wake-ups {}, queue elements read {}, migrations {}",
        per_message(counts.decisions),
        per_message(counts.yields),
        per_message(counts.wakeups),
        per_message(counts.elements),
        per_message(counts.migrations.iter().sum()),
    );
    let _ = writeln!(
        text,
        "run-queue latency          p50 {} µs, p90 {} µs, p99 {} µs, p99.9 {} µs",
        three_digits(outcome.latency_us(0.5)),
        three_digits(outcome.latency_us(0.9)),
        three_digits(outcome.latency_us(0.99)),
        three_digits(outcome.latency_us(0.999)),
    );
    let _ = writeln!(
        text,
        "run queue                  mean {}, deviation {}, longest {}",
        three_digits(outcome.queue_length_mean()),
        three_digits(outcome.queue_length_sd()),
        counts.length_max,
    );
    let yields: u64 = counts.yields_found.iter().sum();
    if yields > 0 {
        let [only, same, higher, lower] =
            counts.yields_found.map(|found| 100.0 * found as f64 / yields as f64);
        let _ = writeln!(
            text,
            "a yield found              nothing {only:.1} %, the same priority {same:.1} %, a better one {higher:.1} %, a worse one {lower:.1} %",
        );
    }
    let us = |cycles: u64, times: u64| three_digits(cycles as f64 / times.max(1) as f64 / outcome.mhz as f64);
    let _ = writeln!(
        text,
        "run-queue locks            contended {:.1} %, held {} µs, waited {} µs",
        100.0 * counts.locks.contended as f64 / counts.locks.acquired.max(1) as f64,
        us(counts.locks.held, counts.locks.acquired),
        us(counts.locks.waited, counts.locks.contended),
    );
    text
}
