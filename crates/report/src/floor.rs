//! The result of `klatch floor` as text, for a terminal.

use std::collections::BTreeSet;
use std::fmt::Write;

use klatch_record::{Class, FloorLoad, FloorResult, FloorRow, RatioEstimate};
use klatch_stats::median;

use crate::number::three_digits;
use crate::table::{Column, TextTable};

/// Formats the loopback costs, and one line for each server and pacing.
pub fn floor(result: &FloorResult) -> String {
    let cost = &result.floor;
    let mut text = format!(
        "loopback, CPU µs a call: null call {:.2}; a line said {} + {} (send + receive); a delivery {} + {}; {} deliveries \
         {} + {}\n",
        cost.null_call_us,
        three_digits(cost.line_send_us),
        three_digits(cost.line_receive_us),
        three_digits(cost.delivery_send_us),
        three_digits(cost.delivery_receive_us),
        cost.batch_lines,
        three_digits(cost.batch_send_us),
        three_digits(cost.batch_receive_us),
    );
    if let Some(exchange) = &result.exchange {
        let _ = writeln!(
            text,
            "{} connections: a request of {} bytes {} + {} (send + receive); a reply of {} bytes {} + {}",
            exchange.connections,
            exchange.request_bytes,
            three_digits(exchange.request_send_us),
            three_digits(exchange.request_receive_us),
            exchange.reply_bytes,
            three_digits(exchange.reply_send_us),
            three_digits(exchange.reply_receive_us)
        );
    }
    for load in FloorLoad::ALL {
        let rows: Vec<&FloorRow> = result.rows.iter().filter(|row| row.pacing == load).collect();
        if rows.is_empty() {
            continue;
        }
        let (server_us, crowd_us) = result.least_us(load);
        let (how, unit) = match load {
            FloorLoad::Turns => ("a call for each delivery", "message"),
            FloorLoad::Rounds => ("a round of deliveries in a call", "message"),
            FloorLoad::Rr | FloorLoad::Web => {
                ("a call for the request and one for the reply on each side", "request")
            }
        };
        let _ = writeln!(
            text,
            "\n{}: the least, {how}: server {}, crowd {} µs a {unit}\n{}",
            load.name(),
            three_digits(server_us),
            three_digits(crowd_us),
            table(&rows)
        );
    }
    text
}

fn table(rows: &[&FloorRow]) -> String {
    let peers: BTreeSet<&str> = rows.iter().flat_map(|row| row.to_peers.keys().map(String::as_str)).collect();
    let head = [
        Column::name("platform"),
        Column::name("class").less(1),
        Column::number("server µs"),
        Column::number("to the floor"),
        Column::number("crowd µs"),
        Column::number("to the floor").less(2),
    ];
    let to_peers = peers.iter().map(|peer| Column::number(format!("to {peer}")).less(3));
    let mut table = TextTable::new(head.into_iter().chain(to_peers));
    for row in rows {
        let class = row.class.map_or("", Class::name);
        let middle = |values: &[f64]| median(values).map_or(String::new(), three_digits);
        let own = [
            row.platform.clone(),
            class.to_owned(),
            middle(&row.server_us),
            ratio(row.server_to_floor.as_ref()),
            middle(&row.crowd_us),
            ratio(row.crowd_to_floor.as_ref()),
        ];
        table.row(own.into_iter().chain(peers.iter().map(|&peer| ratio(row.to_peers.get(peer)))));
    }
    table.to_string()
}

/// Formats a ratio with its interval as `1.21 (1.10–1.33)`.
fn ratio(of: Option<&RatioEstimate>) -> String {
    of.map_or(String::new(), |ratio| format!("{:.2} ({:.2}–{:.2})", ratio.estimate, ratio.low, ratio.high))
}
