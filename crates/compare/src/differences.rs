//! Differences between two sides other than the platform, which would distort a ratio.

use klatch_record::{ChatWorkload, Class, Record, Workload};

/// The platform of a record with its version, runtime and knobs.
pub(crate) fn describe_platform(record: &Record) -> String {
    let platform = &record.platform;
    let mut text = platform.name.clone();
    for part in platform.version.iter().chain(platform.runtime.iter().map(|runtime| &runtime.version)) {
        text = format!("{text}, {part}");
    }
    platform.knobs.iter().fold(text, |text, (name, value)| format!("{text}, {name}={value}"))
}

/// A text that is equal for equal workloads only, apart from the number of the first room.
pub(crate) fn describe_workload(workload: &Workload) -> String {
    match workload {
        Workload::Chat(chat) => describe_chat(chat),
        Workload::Web(web) => {
            let speed = web.line_kbit_per_s.map_or("no limit".to_owned(), |kbit| format!("{kbit} kbit/s"));
            let methods = if web.static_only { "static only" } else { "all methods" };
            format!(
                "{} lines of {speed}, {} directories, {methods}, for {} s",
                web.lines, web.directories, web.duration_s
            )
        }
        Workload::Trade(trade) => {
            let rate = trade
                .rate_per_trader_per_s
                .map_or_else(|| format!("think time {} s", trade.think_s), |rate| format!("rate {rate}/s"));
            format!(
                "{} traders, {} mix, {rate}, {} users, {} quotes, {} ({}), for {} s",
                trade.traders,
                trade.mix.name(),
                trade.users,
                trade.quotes,
                match trade.daytrader {
                    Some(_) => "DayTrader",
                    None => trade.database.as_deref().unwrap_or("unknown database"),
                },
                if trade.durable { "durable" } else { "not durable" },
                trade.duration_s
            )
        }
        Workload::Orders(orders) => format!(
            "injection rate {}, population of {}, {} ({}), ramp {} s, for {} s",
            orders.injection_rate,
            orders.population,
            orders.database.as_deref().unwrap_or("unknown database"),
            if orders.durable { "durable" } else { "not durable" },
            orders.ramp_s,
            orders.duration_s
        ),
        Workload::Files(files) => {
            let check = if files.verified { "checked" } else { "not checked" };
            format!(
                "{} readers, {} blocks of {} bytes, {check}, of {} files of {} MiB, for {} s",
                files.readers, files.order, files.block_bytes, files.files, files.file_mib, files.duration_s
            )
        }
        Workload::Rr(rr) => {
            let rate = rr
                .rate_per_connection_per_s
                .map_or("closed loop".to_owned(), |rate| format!("rate {rate}/s"));
            format!(
                "{} connections, {} requests of {} bytes in flight for {} s, {rate}",
                rr.connections, rr.depth, rr.size_bytes, rr.duration_s
            )
        }
    }
}

fn describe_chat(chat: &ChatWorkload) -> String {
    let pacing = serde_json::to_value(chat.pacing).expect("a pacing is plain JSON");
    let words = pacing.as_object().into_iter().flatten().map(|(name, value)| format!("{name} {value}"));
    let pacing = words.collect::<Vec<_>>().join(" ").replace('"', "");
    format!(
        "{} rooms of {} users, {} messages of {} bytes, pacing {}, pause {} s, {} reconnects/s a user",
        chat.rooms,
        chat.users,
        chat.count,
        chat.size_bytes,
        pacing.trim_start_matches("kind "),
        chat.pause_s,
        chat.churn_per_user_per_s
    )
}

/// The message for one kind of difference, and the property of a record that it is about.
type Property = (&'static str, fn(&Record) -> String);

/// One sentence for each property in which the records of the two sides differ.
pub(crate) fn differences(a: &[Record], b: &[Record]) -> Vec<String> {
    let properties: [Property; 9] = [
        ("workloads differ", |record| describe_workload(&record.workload)),
        ("classes differ, so the scores are not comparable", |record| {
            class(record.platform.class).to_owned()
        }),
        ("crowds differ", |record| crowd(record)),
        ("versions of Klatch differ", |record| build(record)),
        ("machines differ", |record| machine(record)),
        ("numbers of CPUs differ", |record| record.environment.cpus.to_string()),
        ("kernels differ", |record| {
            format!("{} {}", record.environment.kernel, record.environment.kernel_build)
        }),
        ("protocols differ", |record| record.platform.protocol.name().to_owned()),
        ("transports differ", |record| record.platform.transport.name().to_owned()),
    ];
    let values = |side: &[Record], property: fn(&Record) -> String| {
        let mut values: Vec<String> = side.iter().map(property).collect();
        values.sort();
        values.dedup();
        values.join(" and ")
    };
    let differ = |(message, property): &Property| {
        let (in_a, in_b) = (values(a, *property), values(b, *property));
        (in_a != in_b).then(|| format!("{message}: A {in_a}; B {in_b}"))
    };
    properties.iter().filter_map(differ).collect()
}

fn class(class: Option<Class>) -> &'static str {
    match class {
        Some(Class::Classic) => "classic (one write per delivery)",
        Some(Class::Open) => "open (may batch deliveries)",
        None => "unknown",
    }
}

fn crowd(record: &Record) -> String {
    let runtime = record.crowd.runtime.as_ref().map(|runtime| format!(" on {}", runtime.version));
    let knobs = record.crowd.knobs.iter().map(|(name, value)| format!(", {name}={value}"));
    format!("{}{}{}", record.crowd.kind, runtime.unwrap_or_default(), knobs.collect::<String>())
}

fn build(record: &Record) -> String {
    let commit = record.klatch.commit.as_ref().map(|commit| format!(" {commit}"));
    format!("{}{}", record.klatch.version, commit.unwrap_or_default())
}

fn machine(record: &Record) -> String {
    let environment = &record.environment;
    let memory = environment.memory_bytes.map(|bytes| format!(", {:.1} GB", bytes as f64 / 1e9));
    format!("{}{}", environment.cpu_model.as_deref().unwrap_or("unknown CPU"), memory.unwrap_or_default())
}
