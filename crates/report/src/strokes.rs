//! Text graphics: bars, sparklines, and the position of a ratio.

const EIGHTHS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Width of a [`strip`], characters.
const STRIP: usize = 17;

/// A bar for a value of at most `largest`, padded with blanks to `width` characters.
pub(crate) fn bar(value: f64, largest: f64, width: usize) -> String {
    let share = if largest > 0.0 { (value / largest).clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    (0..width).map(|letter| EIGHTHS[eighths.saturating_sub(letter * 8).min(8)]).collect()
}

/// A sparkline scaled from the lowest to the highest value; empty for fewer than two values.
pub(crate) fn spark(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if values.len() < 2 {
        return String::new();
    }
    let level = |value: &f64| match most > least {
        true => LEVELS[((value - least) / (most - least) * 7.0).round() as usize],
        false => LEVELS[3],
    };
    values.iter().map(level).collect()
}

/// A strip with `│` at 1, `●` at the estimate and `─` along its interval. It spans 1 / `reach` to `reach`.
pub(crate) fn strip(estimate: f64, low: f64, high: f64, reach: f64) -> String {
    let middle = (STRIP / 2) as f64;
    let place = |ratio: f64| {
        let part = (ratio.ln() / reach.ln()).clamp(-1.0, 1.0);
        (middle + part * middle).round() as usize
    };
    let letter = |at: usize| match at {
        at if at == place(estimate) => '●',
        at if at == STRIP / 2 => '│',
        at if (place(low)..=place(high)).contains(&at) => '─',
        _ => ' ',
    };
    (0..STRIP).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_values() {
        assert_eq!([0.0, 1.0, 2.0, 4.0].map(|value| bar(value, 4.0, 4)), ["    ", "█   ", "██  ", "████"]);
        assert_eq!((bar(1.0, 16.0, 4), bar(1.0, 0.0, 2)), ("▎   ".to_owned(), "  ".to_owned()));
    }

    #[test]
    fn sparklines_go_from_the_lowest_to_the_highest() {
        assert_eq!(spark(&[1.0, 8.0, 4.5]), "▁█▅");
        assert_eq!((spark(&[5.0, 5.0]), spark(&[5.0])), ("▄▄".to_owned(), String::new()));
    }

    #[test]
    fn a_strip_shows_on_which_side_of_1_an_interval_lies() {
        assert_eq!(strip(1.5, 1.2, 1.8, 2.0), "        │ ───●── ");
        assert_eq!(strip(1.0, 0.5, 2.0, 2.0), "────────●────────");
        assert_eq!(strip(9.0, 8.0, 10.0, 2.0), "        │       ●");
    }
}
