//! A run, or the trials of one call, as text for a terminal.

use std::fmt::Write;

use klatch_record::{
    Class, Conforming, CrowdResult, Latency, LatencyError, Operations, PartyCounts, Platform, Record, Role,
    Status, Warning, Workload,
};

use crate::number::{grouped, three_digits, time};
use crate::observations::observations;
use crate::orders_text::{limits_and_mix, tops};
use crate::strokes::spark;
use crate::usage_table::usage;
use crate::workload_text::describe;

/// The platform, the crowd and the workload.
pub fn headline(platform: &Platform, crowd: &str, workload: &Workload) -> String {
    let class = match platform.class {
        Some(Class::Classic) => " (classic: one write per delivery)",
        Some(Class::Open) => " (open: may put deliveries together)",
        None => "",
    };
    let mut text = format!("platform  {}{class} on {}\n", platform.name, platform.address);
    if let Some(because) = &platform.chosen_because {
        let _ = writeln!(text, "          {because}");
    }
    if let Some(runtime) = &platform.runtime {
        let _ = writeln!(text, "runtime   {}", runtime.version);
    }
    if !platform.knobs.is_empty() {
        let set: Vec<String> = platform.knobs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let _ = writeln!(text, "knobs     {}", set.join(", "));
    }
    let _ = match workload.kind().has_server() {
        true => writeln!(text, "crowd     {crowd}; {}", describe(workload)),
        false => writeln!(text, "workload  {}", describe(workload)),
    };
    text
}

/// The name of a run, such as `trial 2`.
pub fn role_and_number(role: Role, number: u32) -> String {
    match role {
        Role::WarmUp => format!("warm-up {number}"),
        Role::Trial => format!("trial {number}"),
    }
}

/// The main results of a run in one line.
pub fn one_line(record: &Record) -> String {
    let (score, unit) = (grouped(record.throughput_per_s().round() as u64), record.unit());
    let mut text = format!("{}: {score} {unit}s/s", role_and_number(record.role, record.number));
    let cpu = match &record.operations {
        Some(operations) => operations.cpu_us_per_operation,
        None => record.score.cpu_us_per_message,
    };
    if let Some(cpu) = cpu {
        let _ = write!(text, ", {} µs CPU per {unit}", three_digits(cpu));
    }
    if let Some(latency) = &record.latency {
        let _ = write!(text, ", p99 {}", time(latency.p99_us));
    }
    let verdict = match record.verdict.status {
        Status::Valid => "valid",
        Status::Invalid => "invalid",
        Status::Unknown => "unknown",
    };
    if let Some(score) = &record.orders {
        let _ = write!(text, ", TOPS {}", tops(score));
    }
    let _ = write!(text, ", {verdict}");
    for reason in &record.verdict.reasons {
        let _ = write!(text, "\n  {verdict}: {reason}");
    }
    text
}

/// The trials of one call: the median trial in full, and the spread of the others.
pub fn trials(records: &[Record]) -> String {
    let mut trials: Vec<&Record> = records.iter().filter(|record| record.role == Role::Trial).collect();
    let in_turn: Vec<f64> = trials.iter().map(|record| record.throughput_per_s()).collect();
    trials.sort_by(|a, b| a.throughput_per_s().total_cmp(&b.throughput_per_s()));
    let Some(middle) = trials.get(trials.len() / 2) else { return String::new() };
    let mut text = full(middle);
    if let [lowest, .., highest] = trials.as_slice() {
        let score = |record: &Record| grouped(record.throughput_per_s().round() as u64);
        let _ = writeln!(
            text,
            "\nThis was the middle one of {} trials; their throughput was {} to {} {}s/s, in turn {}.",
            trials.len(),
            score(lowest),
            score(highest),
            middle.unit(),
            spark(&in_turn)
        );
    }
    text + &warnings(&middle.warnings)
}

/// The warnings with their advice, one line each.
pub fn warnings(warnings: &[Warning]) -> String {
    warnings.iter().map(|warning| format!("warning: {}; {}\n", warning.message, warning.advice)).collect()
}

/// The result of a crowd that was started by hand.
///
/// # Errors
/// A latency is too large for a histogram.
pub fn crowd(result: &CrowdResult) -> Result<String, LatencyError> {
    let throughput = (result.sent + result.received) as f64 / result.elapsed_s.max(1e-9);
    let text = volano_lines(result.sent, result.received, result.elapsed_s, throughput, result.join_s);
    Ok(text + &percentiles("delivery latency", Latency::from_counts_ns(&result.latency_ns)?.as_ref()))
}

fn full(record: &Record) -> String {
    let score = &record.score;
    let text = match &record.operations {
        None => {
            volano_lines(score.sent, score.received, score.elapsed_s, score.messages_per_s, score.join_s)
                + &start_line(record, 18)
        }
        Some(operations) => operation_lines(operations, record) + &start_line(record, 26),
    };
    let latency = match &record.operations {
        Some(operations) if operations.name == "read" => "read latency",
        Some(_) => "reply latency",
        None => "delivery latency",
    };
    text + &percentiles(latency, record.latency.as_ref())
        + &reconnects(record)
        + &record.orders.as_ref().map_or_else(String::new, limits_and_mix)
        + &record.operations.as_ref().map_or_else(String::new, kinds)
        + &usage(record)
        + &observations(record)
}

/// The reconnects during a run; nothing where there was none.
fn reconnects(record: &Record) -> String {
    let Some(times) = &record.reconnects else { return String::new() };
    let per_s = times.count as f64 / record.score.elapsed_s;
    let count = format!("{} ({per_s:.1}/s)", grouped(times.count));
    format!("\n{:<24}{count:>18}\n", "reconnects") + &percentiles("time to reconnect", Some(times))
}

/// The score of a workload in which each request has a reply.
fn operation_lines(operations: &Operations, record: &Record) -> String {
    let score = &record.score;
    let Operations { name, count, per_s, connections, .. } = operations;
    let PartyCounts { parties, least, most } = connections;
    let rows = [
        (format!("{name}s"), grouped(*count)),
        ("elapsed time".to_owned(), format!("{:.2} s", score.elapsed_s)),
        ("average throughput".to_owned(), format!("{} {name}s/s", grouped(per_s.round() as u64))),
        (format!("{}s", record.workload.kind().party_name()), grouped(*parties)),
        (format!("{name}s of one"), format!("{} to {}", grouped(*least), grouped(*most))),
        ("join time".to_owned(), format!("{:.2} s", score.join_s)),
    ];
    let conforming = record.conforming.as_ref().map(|conforming| {
        let Conforming { lines, of, kbit_per_s_p5, kbit_per_s_p50, .. } = conforming;
        [
            ("conforming lines".to_owned(), format!("{} of {}", grouped(*lines), grouped(*of))),
            ("a line received".to_owned(), format!("p5 {kbit_per_s_p5}, p50 {kbit_per_s_p50} kbit/s")),
        ]
    });
    let orders = record.orders.as_ref().map(|score| ("TOPS".to_owned(), tops(score)));
    let audit = record.audit.as_ref().map(|audit| {
        let result = if audit.broken.is_empty() { "clean" } else { "broken" };
        ("audit".to_owned(), format!("{result}, {} orders", grouped(audit.orders)))
    });
    let rows = conforming.into_iter().flatten().chain(orders).chain(rows).chain(audit);
    rows.map(|(name, value)| format!("{name:<24}{value:>26}\n")).collect()
}

/// The operations of each kind; nothing where there is only one.
fn kinds(operations: &Operations) -> String {
    if operations.kinds.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{:<24}{:>11}{:>11}{:>11}{:>11}\n", "", "count", "share", "p50", "p99");
    for kind in &operations.kinds {
        let (count, share) = (grouped(kind.count), format!("{:.1} %", kind.share * 100.0));
        let (p50, p99) = (time(kind.latency.p50_us), time(kind.latency.p99_us));
        let _ = writeln!(text, "{:<24}{count:>11}{share:>11}{p50:>11}{p99:>11}", kind.name);
    }
    text
}

/// The score in the format of VolanoMark.
fn volano_lines(sent: u64, received: u64, elapsed_s: f64, messages_per_s: f64, join_s: f64) -> String {
    let rows = [
        ("messages sent", grouped(sent)),
        ("messages received", grouped(received)),
        ("total messages", grouped(sent + received)),
        ("elapsed time", format!("{elapsed_s:.2} s")),
        ("average throughput", format!("{} messages/s", grouped(messages_per_s.round() as u64))),
        ("join time", format!("{join_s:.2} s")),
    ];
    rows.iter().map(|(name, value)| format!("{name:<24}{value:>18}\n")).collect()
}

/// How long the server took to start, in a column of this width; nothing if Klatch did not start it.
fn start_line(record: &Record, width: usize) -> String {
    let line = |start_s: f64| format!("{:<24}{:>width$}\n", "start of the server", format!("{start_s:.2} s"));
    record.platform.start_s.map_or_else(String::new, line)
}

fn percentiles(title: &str, latency: Option<&Latency>) -> String {
    let mut text = String::new();
    if let Some(latency) = latency {
        text.push('\n');
        let columns = [
            ("p50", latency.p50_us),
            ("p90", latency.p90_us),
            ("p99", latency.p99_us),
            ("p99.9", latency.p999_us),
            ("max", latency.max_us),
        ];
        let name = |(name, _): &(&str, f64)| format!("{name:>11}");
        let value = |(_, us): &(&str, f64)| format!("{:>11}", time(*us));
        let _ = writeln!(text, "{:<24}{}", "", columns.iter().map(name).collect::<String>());
        let _ = writeln!(text, "{title:<24}{}", columns.iter().map(value).collect::<String>());
    }
    text
}
