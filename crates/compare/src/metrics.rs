//! What is compared.

use klatch_record::{Estimator, Latency, MetricComparison, RatioEstimate, Record};
use klatch_stats::{
    Design, Ratio, Sample, StatsError, ratio_of_geometric_means, ratio_of_means, ratio_of_medians,
};

use crate::records::Terms;
use crate::starts::OneValue;

/// A number of a record.
pub(crate) struct Metric {
    /// Its name, with the unit last.
    pub(crate) name: &'static str,
    /// The number, where the record has it.
    pub(crate) of: fn(&Record) -> Option<f64>,
}

/// All that are compared.
pub(crate) const METRICS: [Metric; 7] = [
    Metric { name: "messages_per_s", of: |record| Some(record.score.messages_per_s) },
    Metric { name: "cpu_us_per_message", of: |record| record.score.cpu_us_per_message },
    Metric {
        name: "server_cpu_us_per_message",
        of: |record| Some(record.usage.server.as_ref()?.cpu_us_per_message),
    },
    Metric { name: "server_cpu_per_crowd_cpu", of: server_per_crowd },
    Metric { name: "latency_p50_us", of: |record| latency(record, |of| of.p50_us) },
    Metric { name: "latency_p99_us", of: |record| latency(record, |of| of.p99_us) },
    Metric { name: "latency_p999_us", of: |record| latency(record, |of| of.p999_us) },
];

/// Resampling is repeatable: the same records give the same interval.
const SEED: u64 = 1;

fn latency(record: &Record, of: fn(&Latency) -> f64) -> Option<f64> {
    record.latency.as_ref().map(of)
}

/// The crowd is the same program with the same work on both sides of a comparison: what the machine does to the speed of
/// both, a neighbour on the other hyperthread or a clock that moves, drops out.
fn server_per_crowd(record: &Record) -> Option<f64> {
    let (server, crowd) = (record.usage.server.as_ref()?, record.usage.crowd.as_ref()?);
    (crowd.cpu_s > 0.0).then(|| server.cpu_s / crowd.cpu_s)
}

/// Compares one metric. `first` is the number of first values of each side that say how much they scatter, where not all
/// do.
pub(crate) fn compared(
    metric: &Metric,
    (a, b): (&[OneValue<'_>], &[OneValue<'_>]),
    first: [Option<usize>; 2],
    design: Design,
    terms: Terms,
) -> MetricComparison {
    let values =
        |side: &[OneValue<'_>]| side.iter().map(|value| value.of(metric.of)).collect::<Option<Vec<f64>>>();
    let (ratio, absent, a, b) = match (values(a), values(b)) {
        (Some(a), Some(b)) => match ratio_of_series(&a, &b, first, design, terms) {
            Ok(ratio) => (Some(ratio), None, a, b),
            Err(error) => (None, Some(error.to_string()), a, b),
        },
        (a, b) => {
            let absent = Some("not every record has it".to_owned());
            (None, absent, a.unwrap_or_default(), b.unwrap_or_default())
        }
    };
    MetricComparison { metric: metric.name.to_owned(), a, b, ratio, absent }
}

/// B / A with its interval, of values whose number was fixed beforehand.
pub(crate) fn ratio(a: &[f64], b: &[f64], design: Design, terms: Terms) -> Result<RatioEstimate, StatsError> {
    ratio_of_series(a, b, [None, None], design, terms)
}

fn ratio_of_series(
    a: &[f64],
    b: &[f64],
    [a_first, b_first]: [Option<usize>; 2],
    design: Design,
    terms: Terms,
) -> Result<RatioEstimate, StatsError> {
    let Ratio { interval, smallest_difference } = match terms.estimate {
        Estimator::GeometricMean => {
            let (a, b) = (sample(a, a_first), sample(b, b_first));
            ratio_of_geometric_means(a, b, design, terms.confidence)?
        }
        Estimator::Mean => ratio_of_means(a, b, design, terms.confidence, SEED)?,
        Estimator::Median => ratio_of_medians(a, b, design, terms.confidence)?,
    };
    Ok(RatioEstimate {
        estimate: interval.estimate,
        low: interval.low,
        high: interval.high,
        smallest_difference,
    })
}

fn sample(values: &[f64], first: Option<usize>) -> Sample<'_> {
    first.map_or_else(|| Sample::from(values), |first| Sample::stopped(values, first))
}
