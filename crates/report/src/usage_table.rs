//! The table of what server, crowd and database used, as text.

use klatch_record::{Record, Usage, UsageOfBoth};

use crate::number::{grouped, megabytes, three_digits};
use crate::table::{Column, TextTable};

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
    let all = if database.is_some() { "all" } else { "both" };
    let titles = [Some(measured), Some("crowd"), database.map(|_| "database"), Some(all)];
    let titles = titles.into_iter().flatten().map(Column::number);
    let mut table = TextTable::new([Column::name("")].into_iter().chain(titles));
    let mut row = |name: String, of: &dyn Fn(&Usage) -> String, all: String| {
        let side = |usage: Option<&Usage>| usage.map_or_else(absent, of);
        let cells = [Some(name), Some(side(server)), Some(side(crowd)), database.map(of), Some(all)];
        table.row(cells.into_iter().flatten());
    };
    // An operation is two messages: a request and its reply.
    let messages = if record.operations.is_some() { 2.0 } else { 1.0 };
    for (name, of, show) in USAGE_ROWS {
        let of = |usage: &Usage| Some(of(usage)? * messages);
        let all = record.usage.known_sum(record.workload.kind(), of).map_or_else(absent, show);
        let shown = |usage: &Usage| of(usage).map_or_else(absent, show);
        row(name.replace("message", record.unit()), &shown, all);
    }
    let memory = |usage: &Usage| usage.memory_peak_bytes.map_or_else(absent, megabytes);
    row("peak memory".to_owned(), &memory, String::new());
    row("threads".to_owned(), &|usage| grouped(usage.threads), String::new());
    let third = || database.map(|_| String::new());
    if let Some(joining) = &record.joining {
        let side = |us: Option<f64>| Some(us.map_or_else(absent, three_digits));
        let (server, crowd) = (joining.server_cpu_us_per_connection, joining.crowd_cpu_us_per_connection);
        let name = Some("CPU µs per join".to_owned());
        table.row([name, side(server), side(crowd), third(), Some(String::new())].into_iter().flatten());
    }
    if let Some(cores) = record.score.cores_obtained {
        let environment = &record.environment;
        let quota = environment.cpu_quota.map_or(String::new(), |quota| format!(", quota {quota:.2}"));
        let obtained = format!("{} of {}{quota}", three_digits(cores), environment.cpus);
        let empty = || Some(String::new());
        let name = Some("cores obtained".to_owned());
        table.row([name, empty(), empty(), third(), Some(obtained)].into_iter().flatten());
    }
    format!("\n{table}\n")
}
