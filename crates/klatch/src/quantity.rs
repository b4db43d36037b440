//! Quantities with units on the command line.

use std::fmt::{Display, Formatter};
use std::str::FromStr;
use std::time::Duration;

use klatch_record::{TIME_FORMS, range_in_words, seconds_of, time_with_units};

/// Longest time, a week, seconds.
const LONGEST_S: f64 = 7.0 * 86_400.0;

/// A time: `30s`, `5m`, `1h30m`, `250ms`; seconds without a unit. Above 0, up to a week.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Time(pub(crate) Duration);

/// A share in per cent: `2%` or `2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percent(pub(crate) f64);

impl Time {
    /// A default of an option.
    pub(crate) fn of_seconds(seconds: f64) -> Time {
        Time(Duration::from_secs_f64(seconds))
    }
}

impl Display for Time {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&time_with_units(self.0))
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Time, String> {
        let seconds = seconds_of(text).ok_or_else(|| format!("must be {TIME_FORMS}"))?;
        let possible = seconds > 0.0 && seconds <= LONGEST_S;
        possible
            .then(|| Time::of_seconds(seconds))
            .ok_or_else(|| "must be above 0 and at most a week".to_owned())
    }
}

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Percent, String> {
        let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
        let possible = number.filter(|percent| (0.0..=100.0).contains(percent));
        possible.map(Percent).ok_or_else(|| format!("must be 0 to 100 %, got {text}"))
    }
}

/// A whole number of a range.
///
/// # Errors
/// The text is none, or it is out of the range.
pub(crate) fn whole<const LEAST: u32, const MOST: u32>(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (LEAST..=MOST).contains(number));
    number.ok_or_else(|| format!("must be {}", range_in_words(LEAST, MOST)))
}

/// The number of a TCP port.
///
/// # Errors
/// The text is none.
pub(crate) fn port(text: &str) -> Result<u16, String> {
    whole::<1, 65_535>(text).map(|port| port as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_above_0_and_at_most_a_week() {
        assert_eq!("1h30m".parse(), Ok(Time::of_seconds(5_400.0)));
        assert_eq!(Time::of_seconds(90.0).to_string(), "1m30s");
        for (wrong, answer) in [
            ("5d", "must be a time such as 30s, 5m, 1h30m or 250ms"),
            ("0", "must be above 0 and at most a week"),
            ("-1", "must be above 0 and at most a week"),
            ("nan", "must be above 0 and at most a week"),
            ("8000h", "must be above 0 and at most a week"),
        ] {
            assert_eq!(wrong.parse::<Time>(), Err(answer.to_owned()), "{wrong}");
        }
    }

    #[test]
    fn shares_are_in_per_cent() {
        assert_eq!("2%".parse(), Ok(Percent(2.0)));
        assert_eq!("0.5".parse(), Ok(Percent(0.5)));
        assert!("101%".parse::<Percent>().is_err() && "two".parse::<Percent>().is_err());
    }
}
