//! The metrics of a duet: ratios of pairs, their mean per start, and the interval over starts.

use klatch_record::{DuetMetric, DuetStart, METRICS, Metric, RatioEstimate, Slice};
use klatch_stats::{BatchMean, Sample, StatsError, batch_mean, ratio_of_geometric_means, ratio_of_log};

/// With fewer starts the interval is that within starts.
pub(crate) const STARTS_MIN: usize = 3;

/// Compares all metrics over these starts. `first` is the number of first starts that the scatter is estimated from;
/// `None` for all.
pub(crate) fn metrics(starts: &[DuetStart], first: Option<usize>, confidence: f64) -> Vec<DuetMetric> {
    let of_slices = METRICS.iter().filter(|metric| metric.slice.is_some());
    of_slices.map(|metric| compare(metric, starts, first, confidence)).collect()
}

fn compare(metric: &Metric, starts: &[DuetStart], first: Option<usize>, confidence: f64) -> DuetMetric {
    // A start whose pairs were all left out says nothing.
    let with_pairs = || starts.iter().filter(|start| !start.pairs.is_empty());
    let logs: Option<Vec<Vec<f64>>> = with_pairs().map(|start| log_ratios(start, metric)).collect();
    let side = |slice: fn(&klatch_record::SlicePair) -> &Slice| {
        let pairs = starts.iter().flat_map(|start| &start.pairs);
        let logs: Option<Vec<f64>> = pairs.map(|pair| Some(metric.of_slice(slice(pair))?.ln())).collect();
        logs.filter(|logs| !logs.is_empty()).map(|logs| mean(&logs).exp())
    };
    let mut result = DuetMetric {
        metric: metric.name.to_owned(),
        a: side(|pair| &pair.a),
        b: side(|pair| &pair.b),
        ratio: None,
        absent: None,
        starts: Vec::new(),
        within_start: None,
        between_starts: None,
    };
    let Some(logs) = logs else {
        result.absent = Some("not every slice has it".to_owned());
        return result;
    };
    if logs.is_empty() {
        let left_out: u32 = starts.iter().map(|start| start.disturbed).sum();
        result.absent = Some(format!("no pair of slices counts, {left_out} were left out"));
        return result;
    }
    let within: Result<Vec<BatchMean>, StatsError> =
        logs.iter().map(|logs| batch_mean(logs, BatchMean::BATCHES)).collect();
    result.starts = logs.iter().map(|logs| mean(logs).exp()).collect();
    let within_square = within.as_ref().ok().map(|within| mean_of(within, |start| start.error.powi(2)));
    result.within_start = within_square.map(f64::sqrt);
    let ratio = if result.starts.len() >= STARTS_MIN {
        result.between_starts = within_square.map(|square| between(&result.starts, square));
        over_starts(&result.starts, first, confidence)
    } else {
        within.and_then(|within| within_starts(&within, confidence))
    };
    match ratio {
        Ok(ratio) => result.ratio = Some(ratio),
        Err(error) => result.absent = Some(error.to_string()),
    }
    result
}

/// Student's interval over the starts.
fn over_starts(ratios: &[f64], first: Option<usize>, confidence: f64) -> Result<RatioEstimate, StatsError> {
    let ones = vec![1.0; ratios.len()];
    let sample = |values| first.map_or_else(|| Sample::from(values), |first| Sample::stopped(values, first));
    let (a, b) = (sample(ones.as_slice()), sample(ratios));
    ratio_of_geometric_means(a, b, klatch_stats::Design::Paired, confidence).map(estimate)
}

/// The interval of one or two starts, from the scatter within them alone.
fn within_starts(starts: &[BatchMean], confidence: f64) -> Result<RatioEstimate, StatsError> {
    let number = starts.len() as f64;
    let error = starts.iter().map(|start| start.error.powi(2)).sum::<f64>().sqrt() / number;
    let degrees = starts.iter().map(|start| start.degrees).sum();
    ratio_of_log(mean_of(starts, |start| start.mean), error, degrees, confidence).map(estimate)
}

fn estimate(ratio: klatch_stats::Ratio) -> RatioEstimate {
    let klatch_stats::Ratio { interval, smallest_difference } = ratio;
    RatioEstimate { estimate: interval.estimate, low: interval.low, high: interval.high, smallest_difference }
}

/// Standard deviation between starts, beyond what the scatter within them explains.
fn between(ratios: &[f64], within_square: f64) -> f64 {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let center = mean(&logs);
    let variance = logs.iter().map(|log| (log - center).powi(2)).sum::<f64>() / (logs.len() as f64 - 1.0);
    (variance - within_square).max(0.0).sqrt()
}

fn log_ratios(start: &DuetStart, metric: &Metric) -> Option<Vec<f64>> {
    let logs =
        start.pairs.iter().map(|pair| Some((metric.of_slice(&pair.b)? / metric.of_slice(&pair.a)?).ln()));
    let logs: Option<Vec<f64>> = logs.collect();
    logs.filter(|logs| logs.iter().all(|log| log.is_finite()))
}

fn mean(values: &[f64]) -> f64 {
    mean_of(values, |value| *value)
}

fn mean_of<T>(values: &[T], of: impl Fn(&T) -> f64) -> f64 {
    values.iter().map(of).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use klatch_record::{SERVER_CPU, SlicePair};

    use super::*;

    #[test]
    fn a_slice_without_a_message_has_no_rate_and_no_latency() {
        let mut idle = start(1, &[1.0, 1.1]);
        let slice = &mut idle.pairs[1].b;
        (slice.messages, slice.latency_p50_us, slice.latency_p99_us) = (0, None, None);
        for metric in metrics(&[idle], None, 0.95) {
            let lacks_it = metric.metric != "server_cpu_per_crowd_cpu";
            assert_eq!(metric.absent.as_deref() == Some("not every slice has it"), lacks_it, "{metric:?}");
            assert!(metric.b.is_none_or(f64::is_finite), "{metric:?}");
        }
    }

    fn start(number: u32, ratios: &[f64]) -> DuetStart {
        let slice = |server_cpu_s| Slice {
            messages: 1_000_000,
            elapsed_s: 1.0,
            server_cpu_s,
            crowd_cpu_s: Some(2.0),
            latency_p50_us: Some(10.0),
            latency_p99_us: Some(20.0),
            end_margin_ms: 0.0,
        };
        let pair = |ratio: &f64| SlicePair {
            at_s: 0.0,
            a_first: true,
            a: slice(Some(2.0)),
            b: slice(Some(2.0 * ratio)),
        };
        DuetStart {
            number,
            pairs: ratios.iter().map(pair).collect(),
            disturbed: 0,
            others_share: None,
            steal_share: None,
        }
    }

    fn noisy(center: f64) -> Vec<f64> {
        (0..40).map(|i| center * (1.0 + 0.01 * f64::from(i * 7919 % 13 - 6) / 6.0)).collect()
    }

    fn server_cpu(starts: &[DuetStart]) -> DuetMetric {
        metrics(starts, None, 0.95).into_iter().find(|metric| metric.metric == SERVER_CPU).unwrap()
    }

    #[test]
    fn one_start_has_the_interval_of_its_pairs() {
        let metric = server_cpu(&[start(1, &noisy(1.05))]);
        let ratio = metric.ratio.unwrap();
        assert!(ratio.shows_difference() && (1.03..1.07).contains(&ratio.estimate), "{ratio:?}");
        assert_eq!(metric.between_starts, None);
        assert!((metric.a.unwrap() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_difference_between_starts_widens_the_interval() {
        let starts: Vec<_> =
            [1.00, 1.02, 0.98].iter().zip(1..).map(|(&at, n)| start(n, &noisy(at))).collect();
        let metric = server_cpu(&starts);
        let ratio = metric.ratio.unwrap();
        assert!(ratio.high - ratio.low > 0.09, "{ratio:?}");
        assert!((0.015..0.025).contains(&metric.between_starts.unwrap()), "{metric:?}");
        assert_eq!(metric.starts.len(), 3);
    }

    #[test]
    fn a_start_without_pairs_does_not_count() {
        let starts: Vec<_> =
            [1.00, 1.02, 0.98].iter().zip(1..).map(|(&at, n)| start(n, &noisy(at))).collect();
        let without = server_cpu(&starts);
        let empty = DuetStart { disturbed: 7, ..start(4, &[]) };
        assert_eq!(server_cpu(&[starts, vec![empty.clone()]].concat()), without);
        let absent = server_cpu(&[empty]).absent;
        assert_eq!(absent.as_deref(), Some("no pair of slices counts, 7 were left out"));
    }

    #[test]
    fn a_metric_that_a_slice_lacks_is_absent() {
        let mut one = start(1, &noisy(1.0));
        one.pairs[3].b.server_cpu_s = None;
        let metric = server_cpu(&[one]);
        assert_eq!((metric.ratio, metric.absent.as_deref()), (None, Some("not every slice has it")));
    }
}
