//! Ratios between a result of Klatch and a published one, computed from the numbers as they are quoted.

use std::fmt;

use serde::Deserialize;

/// Largest factor between two results that agree.
pub(super) const FACTOR: f64 = 1.25;

/// Two quantities as quoted. Each is a number, a change like `+16 %` (a factor of 1.16), a range like `30 to 50`, or a quotient like
/// `13.2 / 2.6`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ratio {
    /// The part of the result that this ratio is about, if there are several.
    pub(super) of: Option<String>,
    /// Klatch's result, as quoted.
    pub(super) found: String,
    /// The paper's result, as published.
    pub(super) published: String,
}

impl Ratio {
    /// The ratio, from its lowest to its highest value; `None` if a side is malformed or zero.
    pub(super) fn value(&self) -> Option<(f64, f64)> {
        let (found, published) = (range(&self.found)?, range(&self.published)?);
        let value = (found.0 / published.1, found.1 / published.0);
        (value.0.is_finite() && value.1.is_finite()).then_some(value)
    }

    /// Whether Klatch's result is within the published range, or within [`FACTOR`] of it.
    pub(super) fn agrees(&self) -> bool {
        let (Some(found), Some(published), Some(ratio)) =
            (range(&self.found), range(&self.published), self.value())
        else {
            return false;
        };
        (published.0 <= found.0 && found.1 <= published.1) || (ratio.0 >= 1.0 / FACTOR && ratio.1 <= FACTOR)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.value().ok_or(fmt::Error)?;
        let (low, high) = (format!("{low:.2}"), format!("{high:.2}"));
        if low == high {
            f.write_str(&low)?
        } else {
            write!(f, "{low}–{high}")?
        }
        self.of.as_ref().map_or(Ok(()), |of| write!(f, " ({of})"))
    }
}

/// The lowest and the highest value of a quantity.
fn range(text: &str) -> Option<(f64, f64)> {
    if let Some((low, high)) = text.split_once(" to ") {
        return Some((number(low)?, number(high)?));
    }
    let value = match text.split_once(" / ") {
        Some((above, below)) => number(above)? / number(below)?,
        None => number(text)?,
    };
    Some((value, value))
}

/// A number, or the factor of a change in percent. A change has a sign.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let value: f64 = text.trim_end_matches([' ', '%']).replace(',', "").parse().ok()?;
    let is_change = text.ends_with('%') && text.starts_with(['+', '-']);
    Some(if is_change { 1.0 + value / 100.0 } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(found: &str, published: &str) -> Option<String> {
        let ratio = Ratio { of: None, found: found.to_owned(), published: published.to_owned() };
        ratio.value().map(|_| ratio.to_string())
    }

    #[test]
    fn changes_are_factors_and_shares_are_not() {
        assert_eq!(ratio("0.87", "-19 %").as_deref(), Some("1.07"));
        assert_eq!(ratio("+16 %", "+32 %").as_deref(), Some("0.88"));
        assert_eq!(ratio("60 %", "60 %").as_deref(), Some("1.00"));
        assert_eq!(ratio("13.2 / 2.6", "7").as_deref(), Some("0.73"));
    }

    #[test]
    fn ranges_have_the_ratios_of_their_opposite_ends() {
        assert_eq!(ratio("21 to 24", "30 to 50").as_deref(), Some("0.42–0.80"));
    }

    #[test]
    fn results_agree_within_the_range_or_the_factor() {
        let agrees = |found: &str, published: &str| {
            Ratio { of: None, found: found.to_owned(), published: published.to_owned() }.agrees()
        };
        assert!(agrees("40 to 53", "37 to 55") && agrees("0.73", "-24 %") && agrees("2.76", "+147 %"));
        assert!(!agrees("25 to 30", "30 to 50") && !agrees("-13.4 %", "+25 %"));
    }

    #[test]
    fn a_malformed_side_or_a_zero_has_no_ratio() {
        assert_eq!(ratio("many", "2"), None);
        assert_eq!(ratio("2", "0"), None);
    }
}
