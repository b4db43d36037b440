//! Workloads as one line of text.

use klatch_record::{
    ChatWorkload, DatabaseChoice, HttpVersion, Pacing, RrWorkload, Stages, TradeWorkload, Workload,
};

use crate::number::grouped;

/// The parties of a workload, what they do, and for how long.
pub(crate) fn describe(workload: &Workload) -> String {
    match workload {
        Workload::Chat(chat) => describe_chat(chat),
        Workload::Web(web) => {
            let speed = web
                .line_kbit_per_s
                .map_or("as fast as possible".to_owned(), |kbit| format!("of {kbit} kbit/s"));
            let methods = if web.static_only { "static GETs only" } else { "all methods" };
            format!(
                "{} lines {speed} for {} s, {} directories, {methods}",
                web.lines, web.duration_s, web.directories
            )
        }
        Workload::Trade(trade) => describe_trade(trade, &describe_database(workload)),
        Workload::Orders(orders) => format!(
            "injection rate {} for {} s after a ramp of {} s, population of rate {}, {}",
            orders.injection_rate,
            orders.duration_s,
            orders.ramp_s,
            orders.population,
            describe_database(workload)
        ),
        Workload::Files(files) => {
            let check = if files.verified { "every block checked" } else { "not checked" };
            format!(
                "{} readers of blocks of {} bytes, {}, for {} s, {} files of {} MiB, {check}",
                files.readers, files.block_bytes, files.order, files.duration_s, files.files, files.file_mib
            )
        }
        Workload::Rr(rr) => {
            let RrWorkload { connections, size_bytes, duration_s, .. } = rr;
            let pacing =
                scheduled(rr.rate_per_connection_per_s, rr.stages.as_ref(), "requests/s a connection")
                    .unwrap_or_else(|| "closed loop".to_owned());
            let of = match (&rr.url, &rr.urls) {
                (Some(url), _) => {
                    let usual = if rr.body_file.is_some() { "POST" } else { "GET" };
                    format!("{} {url}", rr.method.as_deref().unwrap_or(usual))
                }
                (None, Some(file)) => format!("the URLs in {file}"),
                (None, None) => format!("{size_bytes} bytes"),
            };
            let in_flight = match rr.http {
                HttpVersion::Http1 => format!("{} requests of {of}", rr.in_flight_max()),
                HttpVersion::Http2 => format!("{} streams of HTTP/2 with {of}", rr.in_flight_max()),
            };
            format!("{connections} connections × {in_flight} for {duration_s} s, {pacing}")
        }
    }
}

/// A schedule in words, with the unit of its rate; `None` without one.
fn scheduled(rate: Option<f64>, stages: Option<&Stages>, unit: &str) -> Option<String> {
    let stages = stages.map(|stages| format!("stages {stages} in {unit}"));
    stages.or(rate.map(|rate| format!("{rate} {unit}")))
}

fn describe_database(workload: &Workload) -> String {
    match workload.database() {
        Some(DatabaseChoice { name: Some(name), durable: true }) => format!("{name}, durable"),
        Some(DatabaseChoice { name: Some(name), .. }) => name.to_owned(),
        _ => "its own database".to_owned(),
    }
}

fn describe_trade(trade: &TradeWorkload, database: &str) -> String {
    let TradeWorkload { traders, users, quotes, mix, think_s, duration_s, .. } = trade;
    let pacing = match scheduled(trade.rate_per_trader_per_s, trade.stages.as_ref(), "operations/s a trader")
    {
        Some(schedule) => schedule,
        None if *think_s > 0.0 => format!("think time {think_s} s"),
        None => "no think time".to_owned(),
    };
    let mix = mix.name();
    let application = match &trade.daytrader {
        Some(_) => "DayTrader (words of its pages only, no audit)".to_owned(),
        None => database.to_owned(),
    };
    format!(
        "{traders} traders for {duration_s} s, {mix} mix, {pacing}, {users} users, {quotes} quotes, {application}"
    )
}

fn describe_chat(chat: &ChatWorkload) -> String {
    let ChatWorkload {
        rooms,
        users,
        count,
        duration_s,
        size_bytes,
        pacing,
        pause_s,
        churn_per_user_per_s: churn,
        mqtt,
        ..
    } = chat;
    let pacing = match pacing {
        Pacing::Turns => "turns".to_owned(),
        Pacing::Flood => "flood".to_owned(),
        Pacing::Rounds { window } => format!("rounds, window {window}"),
        Pacing::Rate { per_user_per_s } => {
            scheduled(*per_user_per_s, chat.stages.as_ref(), "messages/s a user").unwrap_or_default()
        }
    };
    let pause = if *pause_s > 0.0 { format!(", pause {pause_s} s") } else { String::new() };
    let churn = if *churn > 0.0 { format!(", {churn} reconnects/s a user") } else { String::new() };
    let qos = if mqtt.qos > 0 { format!(", QoS {}", mqtt.qos) } else { String::new() };
    let messages = match duration_s {
        Some(duration_s) => format!("for {duration_s} s, messages"),
        None if *count == 1 => "× 1 message".to_owned(),
        None => format!("× {} messages", grouped(u64::from(*count))),
    };
    let [rooms_text, users] = [rooms, users].map(|number| grouped(u64::from(*number)));
    let of_rooms = if *rooms == 1 { "room" } else { "rooms" };
    format!(
        "{rooms_text} {of_rooms} × {users} users {messages} of {size_bytes} bytes, {pacing}{pause}{churn}{qos}"
    )
}
