//! The numbers of a record that are estimated from several of them, by name.

use crate::{Latency, Record, Usage};

/// A number of a record.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Its name, with the unit last.
    pub name: &'static str,
    /// The number; `None` where it could not be observed.
    pub of: fn(&Record) -> Option<f64>,
}

/// Every number that is estimated.
pub const READINGS: [Reading; 15] = [
    reading("messages_per_s", |record| Some(record.score.messages_per_s)),
    reading("cpu_us_per_message", |record| record.score.cpu_us_per_message),
    reading("switches_per_message", |record| record.score.switches_per_message),
    reading("cores_obtained", |record| record.score.cores_obtained),
    reading("join_s", |record| Some(record.score.join_s)),
    reading("server_cpu_us_per_message", |record| server(record, |usage| usage.cpu_us_per_message)),
    reading("server_system_us_per_message", |record| server(record, |usage| usage.system_us_per_message)),
    reading("server_switches_per_message", |record| server(record, |usage| usage.switches_per_message)),
    reading("server_memory_peak_bytes", |record| server(record, |usage| usage.memory_peak_bytes as f64)),
    reading("crowd_cpu_us_per_message", |record| Some(record.usage.crowd.as_ref()?.cpu_us_per_message)),
    reading("latency_p50_us", |record| latency(record, |of| of.p50_us)),
    reading("latency_p90_us", |record| latency(record, |of| of.p90_us)),
    reading("latency_p99_us", |record| latency(record, |of| of.p99_us)),
    reading("latency_p999_us", |record| latency(record, |of| of.p999_us)),
    reading("latency_max_us", |record| latency(record, |of| of.max_us)),
];

const fn reading(name: &'static str, of: fn(&Record) -> Option<f64>) -> Reading {
    Reading { name, of }
}

fn server(record: &Record, of: fn(&Usage) -> f64) -> Option<f64> {
    record.usage.server.as_ref().map(of)
}

fn latency(record: &Record, of: fn(&Latency) -> f64) -> Option<f64> {
    record.latency.as_ref().map(of)
}
