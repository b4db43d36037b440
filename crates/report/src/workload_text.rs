//! Workloads as one line of text.

use klatch_record::{ChatWorkload, Pacing, RrWorkload, TradeWorkload, Workload};

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
        Workload::Trade(trade) => describe_trade(trade),
        Workload::Files(files) => {
            let check = if files.verified { "every block checked" } else { "not checked" };
            format!(
                "{} readers of blocks of {} bytes, {}, for {} s, {} files of {} MiB, {check}",
                files.readers, files.block_bytes, files.order, files.duration_s, files.files, files.file_mib
            )
        }
        Workload::Rr(rr) => {
            let RrWorkload { connections, size_bytes, depth, duration_s, .. } = rr;
            let pacing = rr
                .rate_per_connection_per_s
                .map_or("closed loop".to_owned(), |rate| format!("{rate} requests/s a connection"));
            format!(
                "{connections} connections × {depth} requests of {size_bytes} bytes for {duration_s} s, {pacing}"
            )
        }
    }
}

fn describe_database(trade: &TradeWorkload) -> String {
    let durable = if trade.durable { ", durable" } else { "" };
    trade.database.as_ref().map_or("its own database".to_owned(), |name| format!("{name}{durable}"))
}

fn describe_trade(trade: &TradeWorkload) -> String {
    let TradeWorkload { traders, users, quotes, mix, think_s, duration_s, .. } = trade;
    let pacing = match trade.rate_per_trader_per_s {
        Some(rate) => format!("{rate} operations/s a trader"),
        None if *think_s > 0.0 => format!("think time {think_s} s"),
        None => "no think time".to_owned(),
    };
    let mix = mix.name();
    let database = describe_database(trade);
    format!(
        "{traders} traders for {duration_s} s, {mix} mix, {pacing}, {users} users, {quotes} quotes, {database}"
    )
}

fn describe_chat(chat: &ChatWorkload) -> String {
    let ChatWorkload { rooms, users, count, size_bytes, pacing, pause_s, .. } = chat;
    let pacing = match pacing {
        Pacing::Turns => "turns".to_owned(),
        Pacing::Flood => "flood".to_owned(),
        Pacing::Rounds { window } => format!("rounds, window {window}"),
        Pacing::Rate { per_user_per_s } => format!("{per_user_per_s} messages/s a user"),
    };
    let pause = if *pause_s > 0.0 { format!(", pause {pause_s} s") } else { String::new() };
    format!("{rooms} rooms × {users} users × {count} messages of {size_bytes} bytes, {pacing}{pause}")
}
