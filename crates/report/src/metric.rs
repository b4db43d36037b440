//! How a metric is shown: title, unit and numbers, which follow from its declaration.

use klatch_record::{Better, CellResult, Estimate, Metric, Quantity, StudyResult};

use crate::number::{grouped, megabytes, three_digits, time};

/// The texts of a metric.
pub(crate) trait ShownMetric {
    /// Whether a larger value is better.
    fn more_is_better(&self) -> bool;
    /// Its title at the beginning of a line. What is only simulated says so.
    fn heading(&self) -> String;
    /// The unit of charts and sentences, and the factor to it from the unit of results.
    fn display(&self) -> (&'static str, f64);
    /// Formats a value for a table, with its unit: `109,510/s`, `16.9 µs`.
    fn cell(&self, value: f64) -> String;
    /// Formats a value for a table whose head has the unit of rates and CPU times.
    fn cell_below_unit(&self, value: f64) -> String;
    /// Formats a value for a sentence: `37,750 messages/s`.
    fn show(&self, value: f64) -> String;
    /// Formats an estimate with its interval: `37,750 messages/s (36,900–38,600)`.
    fn with_interval(&self, estimate: &Estimate) -> String;
}

impl ShownMetric for Metric {
    fn more_is_better(&self) -> bool {
        self.better == Better::More
    }

    fn heading(&self) -> String {
        if self.value.is_none() {
            return format!("Simulated {}", self.title);
        }
        let mut letters = self.title.chars();
        let first =
            letters.next().filter(|_| !letters.as_str().starts_with(|second: char| second.is_ascii_digit()));
        first.map_or_else(|| self.title.to_owned(), |first| first.to_uppercase().chain(letters).collect())
    }

    fn display(&self) -> (&'static str, f64) {
        match self.quantity {
            Quantity::Latency => ("ms", 1e-3),
            Quantity::Bytes => ("MB", 1e-6),
            Quantity::Share => ("%", 100.0),
            _ => (self.unit(), 1.0),
        }
    }

    fn cell(&self, value: f64) -> String {
        match self.quantity {
            Quantity::Rate => format!("{}/s", grouped(value.round() as u64)),
            Quantity::CpuTime | Quantity::Latency | Quantity::QueueTime => time(value),
            Quantity::Seconds => time(value * 1e6),
            Quantity::Bytes => megabytes(value as u64),
            Quantity::Share => crate::difference::percent(value),
            Quantity::Number => three_digits(value),
        }
    }

    fn cell_below_unit(&self, value: f64) -> String {
        match self.quantity {
            Quantity::Rate => grouped(value.round() as u64),
            Quantity::CpuTime => three_digits(value),
            _ => self.cell(value),
        }
    }

    fn show(&self, value: f64) -> String {
        format!("{} {}", number(self, value), self.display().0).trim_end().to_owned()
    }

    fn with_interval(&self, estimate: &Estimate) -> String {
        let interval = estimate.low.zip(estimate.high).map_or(String::new(), |(low, high)| {
            let low = if low > 0.0 { number(self, low) } else { "0".to_owned() };
            format!(" ({low}–{})", number(self, high))
        });
        self.show(estimate.mean) + &interval
    }
}

/// A value in the unit of sentences.
fn number(metric: &Metric, value: f64) -> String {
    let shown = value * metric.display().1;
    if shown.abs() >= 1000.0 { grouped(shown.round() as u64) } else { three_digits(shown) }
}

/// Formats a value of the metric with this name for a table; a number with three digits if no metric has the name.
pub(crate) fn cell(name: &str, value: f64) -> String {
    Metric::named(name).map_or_else(|| three_digits(value), |metric| metric.cell(value))
}

/// The title of the metric with this name; the name if no metric has it.
pub(crate) fn title(name: &str) -> &str {
    Metric::named(name).map_or(name, |metric| metric.title)
}

/// The metric that a study optimises its trials for; the throughput in messages/s if it is none of the list.
pub(crate) fn study_metric(name: &str) -> &'static Metric {
    Metric::named(name).unwrap_or(Metric::of_score(false)[0])
}

/// Throughput and CPU time in the unit of the workload of these cells.
pub(crate) fn score_of(cells: &[CellResult]) -> [&'static Metric; 2] {
    let [operations, _] = Metric::of_score(true);
    Metric::of_score(cells.iter().any(|cell| cell.estimates.contains_key(operations.name)))
}

/// Throughput and CPU time in the unit of the workload of a study.
pub(crate) fn throughput_and_cpu(result: &StudyResult) -> [&'static Metric; 2] {
    score_of(&result.cells)
}

#[cfg(test)]
mod tests {
    use klatch_record::{LATENCY_P99, MESSAGES_PER_S, METRICS, SERVER_CPU};

    use super::*;

    #[test]
    fn titles_and_numbers_follow_the_declaration() {
        let metric = |name: &str| Metric::named(name).unwrap();
        assert_eq!(metric(SERVER_CPU).heading(), "Server CPU per message");
        assert_eq!(metric(LATENCY_P99).heading(), "p99 latency");
        assert_eq!(metric(LATENCY_P99).cell(1_234.0), "1.23 ms");
        assert_eq!(metric(LATENCY_P99).show(1_234.0), "1.23 ms");
        assert_eq!(metric(MESSAGES_PER_S).cell(109_510.4), "109,510/s");
        assert_eq!(metric(MESSAGES_PER_S).show(109_510.4), "109,510 messages/s");
        assert_eq!(metric("server_memory_peak_bytes").show(2e6), "2.00 MB");
        assert_eq!(metric("idle_share").show(0.25), "25.0 %");
        assert!(METRICS.iter().all(|metric| !metric.cell(1.0).is_empty()));
    }
}
