//! The gate of a duet: whether B is shown to be slower by more than a limit, and whether the data could show it at all.

use klatch_record::{Duet, DuetMetric, MESSAGES_PER_S, SERVER_CPU};

use crate::difference::percent;

/// The metrics that decide, what a slower B has more or less of, and whether that is more.
const METRICS: [(&str, &str, bool); 2] =
    [(SERVER_CPU, "server CPU per message", true), (MESSAGES_PER_S, "throughput", false)];

/// What a gate found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// B is not shown to be slower by more than the limit, and the data would have shown it.
    Passed,
    /// B is shown to be slower by more than the limit: the whole interval of a metric is beyond it.
    Closed,
    /// B is not shown to be slower, but the data could not have shown it.
    Blind,
    /// No metric that decides was compared.
    NotCompared,
}

/// A metric as a factor by which B is slower.
struct Slowdown {
    title: &'static str,
    low: f64,
    high: f64,
    smallest: f64,
}

impl Slowdown {
    fn of(
        metrics: &[DuetMetric],
        (name, title, more_is_slower): (&str, &'static str, bool),
    ) -> Option<Slowdown> {
        let ratio = metrics.iter().find(|metric| metric.metric == name)?.ratio?;
        let (low, high) =
            if more_is_slower { (ratio.low, ratio.high) } else { (1.0 / ratio.high, 1.0 / ratio.low) };
        Some(Slowdown { title, low, high, smallest: ratio.smallest_difference })
    }

    /// Whether the data answers the question of the limit.
    fn sees(&self, limit: f64) -> bool {
        self.high <= 1.0 + limit || self.smallest <= limit
    }
}

/// Judges the metrics of a duet by `limit`, 0.02 for 2 %, and says why in a line. The throughput closes the gate too, but only the CPU time of the server
/// must be able to show the limit, unless it was not compared: on a shared machine the throughput varies more.
pub fn gate(duet: &Duet, limit: f64) -> (Gate, String) {
    judge(&duet.metrics, [&duet.a.name, &duet.b.name], limit)
}

fn judge(metrics: &[DuetMetric], [a, b]: [&str; 2], limit: f64) -> (Gate, String) {
    let asked = percent(limit);
    let slowdowns: Vec<Slowdown> =
        METRICS.into_iter().filter_map(|metric| Slowdown::of(metrics, metric)).collect();
    if let Some(beyond) = slowdowns.iter().find(|slowdown| slowdown.low > 1.0 + limit) {
        let (title, least) = (beyond.title, percent(beyond.low - 1.0));
        return (
            Gate::Closed,
            format!(
                "gate: closed: {b} is slower than {a} by at least {least} by {title}; the limit is {asked}"
            ),
        );
    }
    let Some(first) = slowdowns.first() else {
        return (Gate::NotCompared, format!("gate: not compared, so {asked} cannot be judged"));
    };
    let could: Vec<String> = slowdowns
        .iter()
        .map(|slowdown| format!("{} of {} or more", slowdown.title, percent(slowdown.smallest)))
        .collect();
    let could = could.join(", ");
    if first.sees(limit) {
        (
            Gate::Passed,
            format!(
                "gate: passed: {b} is not shown to be slower than {a} by more than {asked}; this data would show {could}"
            ),
        )
    } else {
        (
            Gate::Blind,
            format!(
                "gate: blind: this data would only show {could}, and the limit is {asked}; measure longer, or on a quieter machine"
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use klatch_record::RatioEstimate;

    use super::*;

    /// The lower and upper ends of an interval, and the smallest difference that would show.
    type Interval = Option<(f64, f64, f64)>;

    fn metrics(cpu: Interval, throughput: Interval) -> Vec<DuetMetric> {
        let metric = |name: &str, interval: Interval| DuetMetric {
            metric: name.to_owned(),
            a: None,
            b: None,
            ratio: interval.map(|(low, high, smallest_difference)| RatioEstimate {
                estimate: f64::sqrt(low * high),
                low,
                high,
                smallest_difference,
            }),
            absent: None,
            starts: Vec::new(),
            within_start: None,
            between_starts: None,
        };
        vec![metric("messages_per_s", throughput), metric("server_cpu_us_per_message", cpu)]
    }

    #[test]
    fn a_gate_says_what_it_could_have_seen() {
        let fine = Some((0.99, 1.01, 0.01));
        let cases = [
            (fine, fine, Gate::Passed),
            (Some((1.03, 1.05, 0.01)), fine, Gate::Closed),
            (fine, Some((0.90, 0.95, 0.03)), Gate::Closed),
            (Some((0.8, 1.25, 0.4)), fine, Gate::Blind),
            // It is certainly faster, however little the data shows.
            (Some((0.5, 0.9, 0.4)), fine, Gate::Passed),
            (fine, Some((0.8, 1.25, 0.4)), Gate::Passed),
            (None, fine, Gate::Passed),
            (None, Some((0.8, 1.25, 0.4)), Gate::Blind),
            (None, None, Gate::NotCompared),
        ];
        for (cpu, throughput, expected) in cases {
            let (found, line) = judge(&metrics(cpu, throughput), ["base", "change"], 0.02);
            assert_eq!(found, expected, "{cpu:?} {throughput:?}: {line}");
        }
        let (_, line) = judge(&metrics(Some((1.03, 1.05, 0.01)), fine), ["base", "change"], 0.02);
        assert!(line.starts_with("gate: closed: change is slower than base by at least 3.0 %"), "{line}");
        let (_, line) = judge(&metrics(Some((0.8, 1.25, 0.4)), fine), ["base", "change"], 0.02);
        assert!(
            line.contains("would only show server CPU per message of 40 % or more")
                && line.contains("limit is 2.0 %"),
            "{line}"
        );
    }
}
