//! What a duet will show, from its starts so far, and whether it can become as narrow as was asked for.

use std::time::Duration;

use klatch_record::DuetMetric;
use klatch_stats::{Sequential, StatsError, least_scatter, pairs_needed, resolution};

use crate::duet::estimate::STARTS_MIN;
use crate::duet::plan::DuetPlan;

/// What a duet will show if the noise stays as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The difference, or with a required width half of that, that [`Forecast::needed`] is about: 0.02 is 2 %.
    pub asked: f64,
    /// Whether `asked` is a required width.
    pub is_width: bool,
    /// Time of the whole duet until it shows that; `None` if a million starts would not.
    pub needed: Option<Duration>,
    /// The smallest difference that this duet will show in its planned time.
    pub shows: f64,
}

/// The forecast after these starts. `start_s` is the time that one takes, and `starts` their number in the planned time.
///
/// The scatter is that of the starts. With fewer than three it is that within the starts, which is a lower limit of it.
///
/// # Errors
/// There is no scatter to estimate.
pub(crate) fn forecast(
    plan: &DuetPlan,
    rule: Option<&Sequential>,
    metric: &DuetMetric,
    start_s: f64,
    starts: u32,
) -> Result<Forecast, StatsError> {
    let within = metric.within_start.unwrap_or(0.0);
    let sd = match metric.starts.len() {
        few if few < STARTS_MIN => within,
        _ => metric.between_starts.unwrap_or(0.0).hypot(within),
    };
    let needed = match rule {
        Some(rule) => rule.needed(sd)?,
        None => pairs_needed(sd, plan.asked, plan.confidence, STARTS_MIN)?,
    };
    Ok(Forecast {
        asked: plan.within.unwrap_or(plan.asked),
        is_width: rule.is_some(),
        needed: needed.map(|starts| Duration::from_secs_f64(starts as f64 * start_s)),
        shows: resolution(sd, (starts as usize).max(STARTS_MIN), plan.confidence)?,
    })
}

/// How long the required width takes, s, if even the least scatter that these ratios allow needs more than `starts` starts; `None` while
/// there is hope.
///
/// # Errors
/// A rule that is none.
pub(crate) fn hopeless(
    rule: &Sequential,
    ratios: &[f64],
    start_s: f64,
    starts: u32,
) -> Result<Option<f64>, StatsError> {
    if ratios.len() < STARTS_MIN {
        return Ok(None);
    }
    let needed = |scatter: f64| Ok::<usize, StatsError>(rule.needed(scatter)?.unwrap_or(1_000_000));
    let least = needed(least_scatter(ratios)?)?;
    // The time is that of the scatter itself, which is what the next duet will probably have.
    let likely = needed(scatter(ratios))?;
    Ok((least > starts as usize).then_some(likely as f64 * start_s))
}

/// Standard deviation as a part of the mean.
fn scatter(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_far_below_the_scatter_is_hopeless_and_one_near_it_is_not() {
        let ratios = [1.00, 1.04, 0.97, 1.02, 0.99, 1.01, 0.98, 1.03];
        let rule = |within| Sequential::new(8, 600, within, 0.95).unwrap();
        assert_eq!(hopeless(&rule(0.02), &ratios, 6.0, 100), Ok(None));
        let needed_s = hopeless(&rule(0.001), &ratios, 6.0, 100).unwrap().unwrap();
        // (1.96 × 2.4 % / 0.1 %)² starts of 6 s.
        assert!((10_000.0..20_000.0).contains(&needed_s), "{needed_s}");
        assert_eq!(hopeless(&rule(0.001), &ratios[..2], 6.0, 100), Ok(None), "two starts say too little");
    }
}
