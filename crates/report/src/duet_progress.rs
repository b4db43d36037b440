//! The progress of a duet, and the time that a longer one needs.

use std::time::Duration;

use klatch_record::{Duet, DuetEnd, RatioEstimate, SERVER_CPU};
use klatch_runner::duet::{DuetProgress, DuetSchedule, Forecast};

use crate::number::about;
use crate::progress::Progress;

/// A line that shows how far a duet is.
pub struct DuetLine {
    shown: Progress,
    /// Time of the whole duet.
    time: Duration,
}

impl DuetLine {
    /// The line of a duet that takes this time.
    pub fn new(time: Duration) -> DuetLine {
        DuetLine { shown: Progress::of_time("duet", time), time }
    }

    /// Shows a step. Returns the line to print above it, if there is a forecast.
    pub fn update(&self, step: DuetProgress) -> Option<String> {
        let DuetProgress { start, pairs, elapsed, forecast, so_far } = step;
        if let Some(forecast) = forecast {
            // The end comes with the width, and the time is only a limit.
            if forecast.is_width
                && let Some(needed) = forecast.needed
            {
                self.shown.set_time(needed.clamp(elapsed, self.time.max(elapsed)));
            }
            return Some(format!("{:.0} s: {}", elapsed.as_secs_f64(), described(&forecast)));
        }
        let ratio = so_far.map(|ratio| format!(", server CPU so far × {}", ratio_text(&ratio)));
        self.shown.note(&format!("start {start}, {pairs} pairs{}", ratio.unwrap_or_default()));
        self.shown.at(elapsed.as_secs());
        None
    }
}

/// Time of the next duet after a hopeless one, relative to what the noise so far needs, as that is an estimate.
const AGAIN: f64 = 1.3;

/// The time that would decide what this duet of `time` leaves open, minutes: whether the server's CPU times differ by `asked`, a part of the
/// ratio. `None` if it is decided, or would take too long.
pub fn longer_duet(duet: &Duet, time: Duration, asked: f64) -> Option<u64> {
    if let DuetEnd::Hopeless { needed_s } = duet.end {
        return Some((needed_s * AGAIN / 60.0).ceil() as u64);
    }
    let cpu = duet.metrics.iter().find(|metric| metric.metric == SERVER_CPU);
    let Some(ratio) = cpu.and_then(|metric| metric.ratio) else {
        // Too few pairs for any interval.
        return Some((time * 4).max(DuetSchedule::TIME).as_secs().div_ceil(60));
    };
    let is_open = !ratio.shows_difference() && ratio.smallest_difference > asked;
    let factor = (ratio.smallest_difference / asked).powi(2);
    let minutes = (time.as_secs_f64() * factor / 60.0).ceil();
    (is_open && minutes <= DuetSchedule::TIME_MAX.as_secs_f64() / 60.0).then_some(minutes as u64)
}

/// A forecast in words.
fn described(forecast: &Forecast) -> String {
    let asked = forecast.asked * 100.0;
    let takes = match forecast.needed {
        Some(time) => format!("takes {}", about(time.as_secs_f64())),
        None => "is out of reach".to_owned(),
    };
    if forecast.is_width {
        return format!("at this noise ±{asked} % {takes}");
    }
    let shows = forecast.shows * 100.0;
    let shows = if shows < 10.0 { format!("{shows:.1}") } else { format!("{shows:.0}") };
    format!("at this noise a difference of {asked} % {takes}; this duet will show {shows} %")
}

/// A ratio with its interval: `0.812 (0.794–0.831)`.
fn ratio_text(ratio: &RatioEstimate) -> String {
    format!("{:.3} ({:.3}–{:.3})", ratio.estimate, ratio.low, ratio.high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_says_what_this_duet_shows_and_what_a_smaller_difference_takes() {
        let forecast =
            Forecast { asked: 0.02, is_width: false, needed: Some(Duration::from_secs(700)), shows: 0.09 };
        assert_eq!(
            described(&forecast),
            "at this noise a difference of 2 % takes about 12 min; this duet will show 9.0 %"
        );
        let width = Forecast { asked: 0.005, is_width: true, needed: None, shows: 0.2 };
        assert_eq!(described(&width), "at this noise ±0.5 % is out of reach");
    }
}
