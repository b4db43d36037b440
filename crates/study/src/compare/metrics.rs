//! The ratios of metrics.

use klatch_record::{Estimator, Metric, MetricComparison, RatioEstimate};
use klatch_stats::{
    Design, Ratio, Sample, StatsError, ratio_of_geometric_means, ratio_of_means, ratio_of_medians,
};

use crate::compare::terms::Terms;
use crate::compare::values::Value;

/// Seed of resampling. It is fixed, so that the same records give the same interval.
const SEED: u64 = 1;

/// Compares one metric. `first` is the number of first values of each side that the scatter is estimated from; `None`
/// for all values.
pub(crate) fn compare_metric(
    metric: &Metric,
    (a, b): (&[Value<'_>], &[Value<'_>]),
    first: [Option<usize>; 2],
    design: Design,
    terms: Terms,
) -> MetricComparison {
    let values = |side: &[Value<'_>]| {
        side.iter().map(|value| value.geometric_mean(metric)).collect::<Option<Vec<f64>>>()
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
