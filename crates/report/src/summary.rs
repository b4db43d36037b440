//! A run, or the trials of one call, as text for a terminal.

use std::fmt::Write;

use klatch_record::{
    Class, Conforming, CrowdResult, Latency, LatencyError, MqttVersion, OperationKindScore, Operations,
    PartyCounts, Percentiles, Platform, Record, Results, Role, Warning, Workload, latencies_at,
    samples_needed,
};

use crate::model::percentile_value;
use crate::number::{grouped, three_digits, time};
use crate::observations::observations;
use crate::orders_text::{limits_and_mix, tops};
use crate::stages_text::stages;
use crate::strokes::spark;
use crate::table::{Column, TextTable};
use crate::usage_table::usage;
use crate::workload_text::describe;

/// The platform, the crowd and the workload.
pub fn headline(platform: &Platform, crowd: &str, workload: &Workload) -> String {
    let class = match platform.class {
        Some(Class::Classic) => " (classic: one write per delivery)",
        Some(Class::Open) => " (open: may put deliveries together)",
        None => "",
    };
    let mut table = TextTable::new([Column::name(""), Column::words("")]);
    table.row(["platform", &format!("{}{class} on {}", platform.name, platform.address)]);
    if let Some(because) = &platform.chosen_because {
        table.row(["", because]);
    }
    if let Some(runtime) = &platform.runtime {
        table.row(["runtime", &runtime.version]);
    }
    if !platform.knobs.is_empty() {
        let set: Vec<String> = platform.knobs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        table.row(["knobs", &set.join(", ")]);
    }
    match workload.kind().has_server() {
        true => table.row(["crowd", &format!("{crowd}; {}", describe(workload))]),
        false => table.row(["workload", &describe(workload)]),
    }
    format!("{table}\n")
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
    let verdict = record.verdict.status.name();
    if let Some(score) = record.results.orders() {
        let _ = write!(text, ", TOPS {}", tops(score));
    }
    if let Some(stage) = record.stages.as_ref().and_then(|stages| stages.first_behind) {
        let _ = write!(text, ", stage {stage} does not keep up");
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

/// A table of these percentiles of the latency in all trials together.
///
/// # Errors
/// A histogram cannot be read.
pub fn percentile_table(records: &[Record], percentiles: &Percentiles) -> Result<TextTable, LatencyError> {
    let trials = records.iter().filter(|record| record.role == Role::Trial);
    let (values, count) = latencies_at(percentiles, trials.filter_map(|record| record.latency.as_ref()))?;
    let mut table = TextTable::new([Column::name("percentile"), Column::number("latency, all trials")]);
    for (latency_us, percentile) in values.iter().zip(percentiles.all()) {
        let value = percentile_value(*latency_us, count, samples_needed(*percentile));
        table.row([format!("p{percentile}"), value]);
    }
    Ok(table)
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
    let text = values(volano_rows(result.sent, result.received, result.elapsed_s, throughput, result.join_s));
    let latency = percentiles("delivery latency", Latency::from_counts_ns(&result.latency_ns)?.as_ref());
    Ok(text + &latency + &of_mqtt(result.mqtt_version.map(MqttVersion::name), &result.results))
}

fn full(record: &Record) -> String {
    let score = &record.score;
    let mut rows = match &record.operations {
        None => volano_rows(score.sent, score.received, score.elapsed_s, score.messages_per_s, score.join_s),
        Some(operations) => operation_rows(operations, record),
    };
    // Nothing if Klatch did not start it.
    let start = record.platform.start_s.map(|start_s| row("start of the server", format!("{start_s:.2} s")));
    rows.extend(start);
    let latency = match &record.operations {
        Some(operations) if operations.name == "read" => "read latency",
        Some(_) => "reply latency",
        None => "delivery latency",
    };
    values(rows)
        + &percentiles(latency, record.latency.as_ref())
        + &stages(record)
        + &reconnects(record)
        + &of_mqtt(record.mqtt_versions().as_deref(), &record.results)
        + &reopened(record)
        + &record.results.orders().map_or_else(String::new, limits_and_mix)
        + &kinds(record.results.kinds())
        + &usage(record)
        + &observations(record)
}

/// A value and what it is.
type Row = [String; 2];

fn row(name: impl Into<String>, value: impl Into<String>) -> Row {
    [name.into(), value.into()]
}

/// A table of values.
fn values(rows: Vec<Row>) -> String {
    let mut table = TextTable::new([Column::name(""), Column::number("")]);
    rows.into_iter().for_each(|row| table.row(row));
    format!("{table}\n")
}

/// The connections that a server closed after a reply; nothing where it kept them.
fn reopened(record: &Record) -> String {
    match record.results.reopened() {
        0 => String::new(),
        count => format!(
            "\nThe server closed connections {} times after a reply. Each was opened anew, in the time of the run.\n",
            grouped(count)
        ),
    }
}

/// The reconnects during a run; nothing where there was none.
fn reconnects(record: &Record) -> String {
    let Some(times) = record.results.reconnects() else { return String::new() };
    let per_s = times.count as f64 / record.score.elapsed_s;
    let count = format!("{} ({per_s:.1}/s)", grouped(times.count));
    format!("\n{}", values(vec![row("reconnects", count)])) + &percentiles("time to reconnect", Some(times))
}

/// The version of MQTT that was spoken, and what its handshakes counted; nothing for other protocols.
fn of_mqtt(version: Option<&str>, results: &Results) -> String {
    let Some(version) = version else { return String::new() };
    let (repeated, open) = results.repeated_and_open();
    let counts =
        [("deliveries repeated, as QoS 1 allows", repeated), ("handshakes of messages not complete", open)];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let mut rows = vec![row("version of MQTT", version)];
    rows.extend(counts.map(|(name, count)| row(name, grouped(count))));
    format!("\n{}", values(rows))
}

/// The score of a workload in which each request has a reply.
fn operation_rows(operations: &Operations, record: &Record) -> Vec<Row> {
    let score = &record.score;
    let Operations { name, count, per_s, .. } = operations;
    let PartyCounts { parties, least, most } = record.results.parties().unwrap_or_default();
    let rows = [
        row(format!("{name}s"), grouped(*count)),
        row("elapsed time", format!("{:.2} s", score.elapsed_s)),
        row("average throughput", format!("{} {name}s/s", grouped(per_s.round() as u64))),
        row(format!("{}s", record.workload.kind().party_name()), grouped(parties)),
        row(format!("{name}s of one"), format!("{} to {}", grouped(least), grouped(most))),
        row("join time", format!("{:.2} s", score.join_s)),
    ];
    let conforming = record.results.conforming().map(|conforming| {
        let Conforming { lines, of, kbit_per_s_p5, kbit_per_s_p50, .. } = conforming;
        [
            row("conforming lines", format!("{} of {}", grouped(*lines), grouped(*of))),
            row("a line received", format!("p5 {kbit_per_s_p5}, p50 {kbit_per_s_p50} kbit/s")),
        ]
    });
    let orders = record.results.orders().map(|score| row("TOPS", tops(score)));
    let audit = record.audit.as_ref().map(|audit| {
        let result = if audit.broken.is_empty() { "clean" } else { "broken" };
        row("audit", format!("{result}, {} orders", grouped(audit.orders)))
    });
    conforming.into_iter().flatten().chain(orders).chain(rows).chain(audit).collect()
}

/// The operations of each kind; nothing where there is only one.
fn kinds(kinds: &[OperationKindScore]) -> String {
    if kinds.is_empty() {
        return String::new();
    }
    let numbers = ["count", "share", "p50", "p99"].map(Column::number);
    let mut table = TextTable::new([Column::name("")].into_iter().chain(numbers));
    for kind in kinds {
        let (count, share) = (grouped(kind.count), format!("{:.1} %", kind.share * 100.0));
        table.row([kind.name.clone(), count, share, time(kind.latency.p50_us), time(kind.latency.p99_us)]);
    }
    format!("\n{table}\n")
}

/// The score in the words of VolanoMark.
fn volano_rows(sent: u64, received: u64, elapsed_s: f64, messages_per_s: f64, join_s: f64) -> Vec<Row> {
    vec![
        row("messages sent", grouped(sent)),
        row("messages received", grouped(received)),
        row("total messages", grouped(sent + received)),
        row("elapsed time", format!("{elapsed_s:.2} s")),
        row("average throughput", format!("{} messages/s", grouped(messages_per_s.round() as u64))),
        row("join time", format!("{join_s:.2} s")),
    ]
}

fn percentiles(title: &str, latency: Option<&Latency>) -> String {
    let Some(latency) = latency else { return String::new() };
    let mut table = TextTable::new([
        Column::name(""),
        Column::number("p50"),
        Column::number("p90").less(2),
        Column::number("p99"),
        Column::number("p99.9").less(1),
        Column::number("max"),
    ]);
    let Latency { p50_us, p90_us, p99_us, p999_us, max_us, .. } = latency;
    let values = [p50_us, p90_us, p99_us, p999_us, max_us].map(|us| time(*us));
    table.row([title.to_owned()].into_iter().chain(values));
    format!("\n{table}\n")
}
