//! The metrics of a record that are estimated over several trials, by name.

use crate::{Joining, Latency, Operations, Record, Usage};

/// A number that can be computed from one record.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name, with the unit last.
    pub name: &'static str,
    /// Computes it from a record; `None` if the run did not observe it.
    pub value: fn(&Record) -> Option<f64>,
}

impl Metric {
    /// The metric of [`METRICS`] with this name.
    pub fn named(name: &str) -> Option<Metric> {
        METRICS.into_iter().find(|metric| metric.name == name)
    }
}

/// All metrics for which a study makes estimates.
pub const METRICS: [Metric; 23] = [
    metric("messages_per_s", |record| Some(record.score.messages_per_s)),
    metric("operations_per_s", |record| operations(record, |operations| Some(operations.per_s))),
    metric("conforming_lines", |record| record.conforming.as_ref().map(|conforming| conforming.lines as f64)),
    metric("tops", |record| record.orders.as_ref()?.tops),
    metric("cpu_us_per_operation", |record| operations(record, |operations| operations.cpu_us_per_operation)),
    metric("server_cpu_us_per_operation", |record| {
        let server = record.usage.server.as_ref()?;
        operations(record, |operations| {
            (operations.count > 0).then(|| server.cpu_s * 1e6 / operations.count as f64)
        })
    }),
    metric("cpu_us_per_message", |record| record.score.cpu_us_per_message),
    metric("switches_per_message", |record| record.score.switches_per_message),
    metric("cores_obtained", |record| record.score.cores_obtained),
    metric("join_s", |record| Some(record.score.join_s)),
    metric("server_cpu_us_per_connection", |record| {
        joining(record, |joining| joining.server_cpu_us_per_connection)
    }),
    metric("crowd_cpu_us_per_connection", |record| {
        joining(record, |joining| joining.crowd_cpu_us_per_connection)
    }),
    metric("server_memory_bytes_per_connection", |record| {
        joining(record, |joining| joining.server_memory_bytes_per_connection)
    }),
    metric("server_cpu_us_per_message", |record| server(record, |usage| usage.cpu_us_per_message)),
    metric("server_system_us_per_message", |record| server(record, |usage| usage.system_us_per_message)),
    metric("server_switches_per_message", |record| record.usage.server.as_ref()?.switches_per_message),
    metric("server_memory_peak_bytes", |record| {
        Some(record.usage.server.as_ref()?.memory_peak_bytes? as f64)
    }),
    metric("crowd_cpu_us_per_message", |record| Some(record.usage.crowd.as_ref()?.cpu_us_per_message)),
    metric("latency_p50_us", |record| latency(record, |latency| latency.p50_us)),
    metric("latency_p90_us", |record| latency(record, |latency| latency.p90_us)),
    metric("latency_p99_us", |record| latency(record, |latency| latency.p99_us)),
    metric("latency_p999_us", |record| latency(record, |latency| latency.p999_us)),
    metric("latency_max_us", |record| latency(record, |latency| latency.max_us)),
];

const fn metric(name: &'static str, value: fn(&Record) -> Option<f64>) -> Metric {
    Metric { name, value }
}

fn operations(record: &Record, value: impl FnOnce(&Operations) -> Option<f64>) -> Option<f64> {
    record.operations.as_ref().and_then(value)
}

fn server(record: &Record, value: fn(&Usage) -> f64) -> Option<f64> {
    record.usage.server.as_ref().map(value)
}

fn joining(record: &Record, value: fn(&Joining) -> Option<f64>) -> Option<f64> {
    record.joining.as_ref().and_then(value)
}

fn latency(record: &Record, value: fn(&Latency) -> f64) -> Option<f64> {
    record.latency.as_ref().map(value)
}
