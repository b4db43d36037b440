//! The progress of a duet.

use std::time::Duration;

use klatch_record::RatioEstimate;
use klatch_runner::duet::{DuetProgress, Forecast};

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
