//! Simulated results as text, for a terminal. Each text says that nothing in it is measured.

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use klatch_simulator::{Account, Fit, Outcome, Role, Row, ScalingRow, Verdict};

use crate::number::three_digits;

/// Formats the published results beside the simulated ones, and how many of them are within their bands.
pub fn simulated_papers(rows: &[Row]) -> String {
    let mut table = plain_table(&["", "published", "", "band", "simulated", ""]);
    for row in rows {
        let verdict = match row.role {
            Role::Calibration => format!("{} (calibrated)", row.verdict),
            Role::Prediction => row.verdict.to_string(),
        };
        table.add_row([&row.number.to_string(), row.what, row.published, row.band, &row.simulated, &verdict]);
    }
    let count = |role: Role, verdict: Verdict| {
        rows.iter().filter(|row| row.role == role && row.verdict == verdict).count()
    };
    let number = |role: Role| rows.iter().filter(|row| row.role == role).count();
    format!(
        "{}\n\nsimulated, not measured: {} of {} calibration points and {} of {} predictions are within their bands; \
         {} predictions cannot be simulated yet\n",
        table.trim_fmt(),
        count(Role::Calibration, Verdict::Within),
        number(Role::Calibration),
        count(Role::Prediction, Verdict::Within),
        number(Role::Prediction),
        count(Role::Prediction, Verdict::NotRun),
    )
}

/// Formats fitted costs beside the results that they were fitted to.
pub fn simulated_fits(fits: &[Fit]) -> String {
    let mut table = plain_table(&["cost", "value", "published", "reached"]);
    for fit in fits {
        let edge = if fit.at_edge { "  at the end of its range: the point cannot be met" } else { "" };
        let target = format!("{} to {}", three_digits(fit.target.0), three_digits(fit.target.1));
        table.add_row([
            fit.cost,
            &fit.value.to_string(),
            &target,
            &format!("{}{edge}", three_digits(fit.reached)),
        ]);
    }
    table.trim_fmt() + "\n"
}

/// Formats the throughput of each scheduler by CPUs, and what limits it.
pub fn simulated_scaling_table(rows: &[ScalingRow]) -> String {
    let mut table =
        plain_table(&["scheduler", "CPUs", "messages/s", "seeds", "spinning", "idle", "run queue"]);
    for row in rows {
        let share = |account| format!("{:.0} %", 100.0 * row.outcome.share(account));
        table.add_row([
            row.scheduler,
            &row.cpus.to_string(),
            &format!("{:.0}", row.outcome.messages_per_s()),
            &format!("{:.0}–{:.0}", row.seeds.0, row.seeds.1),
            &share(Account::Spin),
            &share(Account::Idle),
            &three_digits(row.outcome.queue_length_mean()),
        ]);
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table.trim_fmt() + "\n\nsimulated, not measured\n"
}

/// Formats one simulated run.
pub fn simulated_run(outcome: &Outcome) -> String {
    let counts = &outcome.counts;
    let per_message = |count: u64| three_digits(count as f64 / counts.messages as f64);
    let mut text = format!(
        "simulated throughput       {:.0} messages/s\n\nCPU time                     share  µs per message\n",
        outcome.messages_per_s()
    );
    for account in Account::ALL {
        let (share, us) = (100.0 * outcome.share(account), outcome.us_per_message(account));
        let _ = writeln!(text, "{:<27}{share:>5.1} %{:>16}", account.to_string(), three_digits(us));
    }
    let _ = writeln!(
        text,
        "\nper message                decisions {}, yields {}, wake-ups {}, queue elements read {}, migrations {}",
        per_message(counts.decisions),
        per_message(counts.yields),
        per_message(counts.wakeups),
        per_message(counts.elements),
        per_message(counts.migrations.iter().sum()),
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

fn plain_table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(head);
    table
}
