//! The table of what server, crowd and database used, as text.

use std::fmt::Write;

use klatch_record::{Record, Usage, UsageOfBoth};

use crate::number::{grouped, megabytes, three_digits};

/// One line of the usage table: name, value of one side, formatter.
type UsageRow = (&'static str, fn(&Usage) -> Option<f64>, fn(f64) -> String);

const USAGE_ROWS: [UsageRow; 4] = [
    ("CPU µs per message", |usage| Some(usage.cpu_us_per_message), three_digits),
    ("  user", |usage| Some(usage.user_us_per_message), three_digits),
    ("  system", |usage| Some(usage.system_us_per_message), three_digits),
    ("switches per message", |usage| usage.switches_per_message, three_digits),
];

/// The usage of server and crowd, and of the database if it has a process of its own.
pub(crate) fn usage(record: &Record) -> String {
    let UsageOfBoth { server, crowd, database } = &record.usage;
    let (server, crowd, database) = (server.as_ref(), crowd.as_ref(), database.as_ref());
    let absent = || "–".to_owned();
    let measured = if record.workload.kind().has_server() { "server" } else { "readers" };
    let third = |cell: Option<String>| cell.map_or_else(String::new, |cell| format!("{cell:>11}"));
    let (title, all) = if database.is_some() { (Some("database".to_owned()), "all") } else { (None, "both") };
    let mut text = format!("\n{:<24}{measured:>11}{:>11}{}{all:>11}\n", "", "crowd", third(title));
    // An operation is two messages: a request and its reply.
    let messages = if record.operations.is_some() { 2.0 } else { 1.0 };
    for (name, of, show) in USAGE_ROWS {
        let of = |usage: &Usage| Some(of(usage)? * messages);
        let name = name.replace("message", record.unit());
        let side = |usage: Option<&Usage>| usage.and_then(of).map_or_else(absent, show);
        let both = record.usage.known_sum(record.workload.kind(), of).map_or_else(absent, show);
        let third = third(database.map(|usage| of(usage).map_or_else(absent, show)));
        let _ = writeln!(text, "{name:<24}{:>11}{:>11}{third}{both:>11}", side(server), side(crowd));
    }
    let side = |of: fn(&Usage) -> String, usage: Option<&Usage>| usage.map_or_else(absent, of);
    let memory = |usage: &Usage| usage.memory_peak_bytes.map_or_else(|| "–".to_owned(), megabytes);
    let threads = |usage: &Usage| grouped(usage.threads);
    let of_database = third(database.map(memory));
    let _ = writeln!(
        text,
        "{:<24}{:>11}{:>11}{of_database}",
        "peak memory",
        side(memory, server),
        side(memory, crowd)
    );
    let of_database = third(database.map(threads));
    let _ = writeln!(
        text,
        "{:<24}{:>11}{:>11}{of_database}",
        "threads",
        side(threads, server),
        side(threads, crowd)
    );
    if let Some(joining) = &record.joining {
        let side = |us: Option<f64>| us.map_or_else(absent, three_digits);
        let _ = writeln!(
            text,
            "{:<24}{:>11}{:>11}",
            "CPU µs per join",
            side(joining.server_cpu_us_per_connection),
            side(joining.crowd_cpu_us_per_connection)
        );
    }
    if let Some(cores) = record.score.cores_obtained {
        let environment = &record.environment;
        let quota = environment.cpu_quota.map_or(String::new(), |quota| format!(", quota {quota:.2}"));
        let (cores, cpus) = (three_digits(cores), environment.cpus);
        let _ = writeln!(text, "{:<24}{cores:>33} of {cpus}{quota}", "cores obtained");
    }
    text
}
