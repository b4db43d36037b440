//! Times as people write them, the same in options, study files and settings of workloads.

use std::time::Duration;

use jiff::fmt::friendly::{Designator, Spacing, SpanParser, SpanPrinter};

/// What a text that is no time must be, for messages.
pub const TIME_FORMS: &str = "a time such as 30s, 5m, 1h30m or 250ms";

/// The seconds of a time with units, as in `30s`, `5m`, `1h30m` and `250ms`, or of a number without one. `None` if the text is no time.
/// Only a number without a unit can be below 0 or infinite.
pub fn seconds_of(text: &str) -> Option<f64> {
    let with_units = || SpanParser::new().parse_unsigned_duration(text).ok().map(|time| time.as_secs_f64());
    text.parse().ok().or_else(with_units)
}

/// A time in these units: `1h30m`, `250ms`.
pub fn time_with_units(time: Duration) -> String {
    let printer = SpanPrinter::new().designator(Designator::Compact).spacing(Spacing::None);
    printer.unsigned_duration_to_string(&time)
}

#[test]
fn times_have_units_or_are_in_seconds() {
    for (text, seconds) in [
        ("30s", 30.0),
        ("5m", 300.0),
        ("1h30m", 5_400.0),
        ("250ms", 0.25),
        ("1.5h", 5_400.0),
        ("2", 2.0),
        ("0.5", 0.5),
    ] {
        assert_eq!(seconds_of(text), Some(seconds), "{text}");
    }
    for wrong in ["", "ms", "-1s", "1 fortnight", "1d", "s30", "5x"] {
        assert_eq!(seconds_of(wrong), None, "{wrong}");
    }
    for text in ["1h30m", "250ms", "1m", "10s"] {
        assert_eq!(time_with_units(Duration::from_secs_f64(seconds_of(text).unwrap())), text);
    }
}
