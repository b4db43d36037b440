//! The gate of a duet: the requirement that B is not slower than A by more than a limit, and whether the data could show that it is.

use klatch_record::{
    Better, Duet, DuetMetric, Judgement, JudgementStatus, MESSAGES_PER_S, Metric, Relation, Requirement,
    SERVER_CPU,
};

use crate::difference::percent;

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

/// A metric of the gate with its judgement: B needs at most a limit of it, or has at least that limit of it.
struct Judged {
    metric: &'static Metric,
    judgement: Judgement,
    smallest: f64,
}

impl Judged {
    /// The requirement that B is not slower than A by more than `limit`, judged; `None` if the metric was not compared.
    fn of(metrics: &[DuetMetric], name: &str, limit: f64) -> Option<Judged> {
        let metric = Metric::named(name)?;
        let ratio = metrics.iter().find(|one| one.metric == name)?.ratio?;
        let requirement = match metric.better {
            Better::More => Requirement::of_ratio(metric, Relation::AtLeast, 1.0 / (1.0 + limit)),
            Better::Less | Better::Neither => Requirement::of_ratio(metric, Relation::AtMost, 1.0 + limit),
        };
        let judgement = requirement.judge_duet(metrics, ["A", "B"]);
        Some(Judged { metric, judgement, smallest: ratio.smallest_difference })
    }

    /// The part by which B is slower at least, where that is shown.
    fn slower(&self) -> Option<f64> {
        let beyond = self.judgement.status == JudgementStatus::NotMet;
        let factor = match self.metric.better {
            Better::More => 1.0 / self.judgement.high?,
            Better::Less | Better::Neither => self.judgement.low?,
        };
        beyond.then_some(factor - 1.0)
    }

    /// Whether the data answers the question of the limit: a requirement must be shown to be kept, and a gate that it could be shown to be
    /// broken.
    fn sees(&self, limit: f64) -> bool {
        self.judgement.status == JudgementStatus::Met || self.smallest <= limit
    }
}

/// Judges the metrics of a duet by `limit`, 0.02 for 2 %, and says why in a line. The throughput closes the gate too, but only the CPU time of the server
/// must be able to show the limit, unless it was not compared: on a shared machine the throughput varies more.
pub fn gate(duet: &Duet, limit: f64) -> (Gate, String) {
    judge(&duet.metrics, [&duet.a.name, &duet.b.name], limit)
}

fn judge(metrics: &[DuetMetric], [a, b]: [&str; 2], limit: f64) -> (Gate, String) {
    let asked = percent(limit);
    let all: Vec<Judged> = [SERVER_CPU, MESSAGES_PER_S]
        .into_iter()
        .filter_map(|name| Judged::of(metrics, name, limit))
        .collect();
    if let Some((beyond, least)) = all.iter().find_map(|one| Some((one.metric.title, one.slower()?))) {
        let least = percent(least);
        return (
            Gate::Closed,
            format!(
                "gate: closed: {b} is slower than {a} by at least {least} by {beyond}; the limit is {asked}"
            ),
        );
    }
    let Some(first) = all.first() else {
        return (Gate::NotCompared, format!("gate: not compared, so {asked} cannot be judged"));
    };
    let could: Vec<String> =
        all.iter().map(|one| format!("{} of {} or more", one.metric.title, percent(one.smallest))).collect();
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
