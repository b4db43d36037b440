//! Metrics with their titles and display units.

use klatch_record::{CellResult, Estimate, StudyResult};

/// A metric of the cells' estimates, and how it is shown.
#[derive(Clone, Copy)]
pub(super) struct Metric {
    /// Its name in results, with the unit last.
    pub(super) name: &'static str,
    /// Its title in charts and sentences.
    pub(super) title: &'static str,
    /// The unit in charts and sentences.
    pub(super) unit: &'static str,
    /// Factor from the unit in results to the display unit.
    pub(super) scale: f64,
    /// Whether a larger value is better.
    pub(super) more_is_better: bool,
}

pub(super) const fn metric(
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    scale: f64,
) -> Metric {
    Metric { name, title, unit, scale, more_is_better: false }
}

pub(super) const THROUGHPUT: Metric =
    Metric { more_is_better: true, ..metric("messages_per_s", "Throughput", "messages/s", 1.0) };
pub(super) const CPU: Metric = metric("cpu_us_per_message", "CPU time per message", "µs", 1.0);
/// The throughput of other workloads than chat.
const OPERATIONS: Metric =
    Metric { more_is_better: true, ..metric("operations_per_s", "Throughput", "operations/s", 1.0) };
const OPERATION_CPU: Metric = metric("cpu_us_per_operation", "CPU time per operation", "µs", 1.0);
pub(super) const P99: Metric = metric("latency_p99_us", "Latency, 99th percentile", "ms", 1e-3);

/// The metrics of the resources section.
pub(super) const RESOURCES: [Metric; 4] = [
    metric("server_cpu_us_per_message", "CPU time of the server per message", "µs", 1.0),
    metric("switches_per_message", "Context switches per message", "", 1.0),
    metric("server_memory_peak_bytes", "Peak memory of the server", "MB", 1e-6),
    metric("join_s", "Time until all had joined", "s", 1.0),
];

/// The metric that a study optimises its trials for; throughput in messages/s unless it is another one that is known.
pub(super) fn study_metric(name: &str) -> Metric {
    let others = [CPU, OPERATIONS, OPERATION_CPU];
    others.into_iter().find(|metric| metric.name == name).unwrap_or(THROUGHPUT)
}

/// Throughput and CPU time in the unit of the workload.
pub(super) fn throughput_and_cpu(result: &StudyResult) -> [Metric; 2] {
    let has_operations = |cell: &CellResult| cell.estimates.contains_key(OPERATIONS.name);
    if result.cells.iter().any(has_operations) { [OPERATIONS, OPERATION_CPU] } else { [THROUGHPUT, CPU] }
}

impl Metric {
    /// Formats a value with its unit.
    pub(super) fn show(&self, value: f64) -> String {
        format!("{} {}", self.number(value), self.unit).trim_end().to_owned()
    }

    fn number(&self, value: f64) -> String {
        let shown = value * self.scale;
        if shown.abs() >= 1000.0 {
            crate::number::grouped(shown.round() as u64)
        } else {
            crate::number::three_digits(shown)
        }
    }

    /// Formats an estimate with its interval: `37,750 messages/s (36,900–38,600)`.
    pub(super) fn with_interval(&self, estimate: &Estimate) -> String {
        let interval = estimate.low.zip(estimate.high).map_or(String::new(), |(low, high)| {
            format!(" ({}–{})", self.number(low.max(0.0)), self.number(high))
        });
        self.show(estimate.mean) + &interval
    }
}
