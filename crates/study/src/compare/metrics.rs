//! The metrics that are compared, and their ratios.

use klatch_record::{Estimator, Metric, MetricComparison, RatioEstimate, Record};
use klatch_stats::{
    Design, Ratio, Sample, StatsError, ratio_of_geometric_means, ratio_of_means, ratio_of_medians,
};

use crate::compare::terms::Terms;
use crate::compare::values::Value;

/// The metrics of every comparison, in the order of the table.
pub(crate) fn compared_metrics() -> impl Iterator<Item = Metric> {
    let names = ["messages_per_s", "cpu_us_per_message", "server_cpu_us_per_message"];
    let latencies = ["latency_p50_us", "latency_p99_us", "latency_p999_us"];
    let per_crowd = Metric { name: "server_cpu_per_crowd_cpu", value: server_per_crowd };
    let named = |names: [&'static str; 3]| names.into_iter().filter_map(Metric::named);
    named(names).chain([per_crowd]).chain(named(latencies))
}

/// Seed of resampling. It is fixed, so that the same records give the same interval.
const SEED: u64 = 1;

/// CPU time of the server per CPU time of the crowd. The crowd is the same program with the same work on both sides, so
/// effects on the speed of both drop out: a busy sibling hyperthread, or a changing clock frequency.
fn server_per_crowd(record: &Record) -> Option<f64> {
    let (server, crowd) = (record.usage.server.as_ref()?, record.usage.crowd.as_ref()?);
    (crowd.cpu_s > 0.0).then(|| server.cpu_s / crowd.cpu_s)
}

/// Compares one metric. `first` is the number of first values of each side that the scatter is estimated from; `None`
/// for all values.
pub(crate) fn compare_metric(
    metric: Metric,
    (a, b): (&[Value<'_>], &[Value<'_>]),
    first: [Option<usize>; 2],
    design: Design,
    terms: Terms,
) -> MetricComparison {
    let values = |side: &[Value<'_>]| {
        side.iter().map(|value| value.geometric_mean(metric.value)).collect::<Option<Vec<f64>>>()
    };
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
