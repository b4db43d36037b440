//! Quantities with units on the command line.

use std::str::FromStr;
use std::time::Duration;

use klatch_record::range_in_words;

/// A time: `200ms`, `90s`, `5m`; seconds without a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Time(pub(crate) Duration);

/// A share in per cent: `2%` or `2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percent(pub(crate) f64);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Time, String> {
        let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
        let number = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
        let (number, factor) = number.expect("every text ends with nothing");
        let seconds = number.parse::<f64>().ok().map(|number| number * factor);
        let possible = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= 7.0 * 86_400.0);
        let seconds = possible
            .ok_or_else(|| format!("a time is 200ms, 90s, 5m or 1h, above 0 and up to a week, got {text}"))?;
        Ok(Time(Duration::from_secs_f64(seconds)))
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
    fn times_have_units() {
        for (text, ms) in [("200ms", 200), ("90s", 90_000), ("5m", 300_000), ("1h", 3_600_000), ("2", 2_000)]
        {
            assert_eq!(text.parse(), Ok(Time(Duration::from_millis(ms))), "{text}");
        }
        for wrong in ["", "ms", "-1s", "0", "1d", "nan", "8000h"] {
            assert!(wrong.parse::<Time>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares_are_in_per_cent() {
        assert_eq!("2%".parse(), Ok(Percent(2.0)));
        assert_eq!("0.5".parse(), Ok(Percent(0.5)));
        assert!("101%".parse::<Percent>().is_err() && "two".parse::<Percent>().is_err());
    }
}
