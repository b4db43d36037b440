//! Number formats for readers.

pub(crate) use klatch_record::grouped;

/// Formats seconds as `2 h 5 min`, `5 min 10 s` or `9 s`.
pub fn duration(s: f64) -> String {
    let s = s.round() as u64;
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// Formats seconds in the unit that a person would plan with: `about 40 s`, `about 12 min`, `about 14 h`.
pub fn about(s: f64) -> String {
    match s {
        s if s < 90.0 => format!("about {:.0} s", (s / 5.0).ceil().max(1.0) * 5.0),
        s if s < 5_400.0 => format!("about {:.0} min", (s / 60.0).ceil()),
        s if s < 172_800.0 => format!("about {:.0} h", (s / 3_600.0).ceil()),
        s => format!("about {} days", grouped((s / 86_400.0).ceil() as u64)),
    }
}

/// Formats microseconds with three digits and a suitable unit.
pub(crate) fn time(us: f64) -> String {
    match us {
        us if us < 1_000.0 => format!("{} µs", three_digits(us)),
        us if us < 1_000_000.0 => format!("{} ms", three_digits(us / 1e3)),
        us => format!("{} s", three_digits(us / 1e6)),
    }
}

/// Formats bytes in MB (10^6).
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{} MB", three_digits(bytes as f64 / 1e6))
}

/// Formats bytes in GB (10^9).
pub(crate) fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// Formats a number without insignificant digits.
pub(crate) fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// Formats three significant digits, or a whole number with its thousands grouped.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        size if size < 1_000.0 => format!("{value:.0}"),
        size if size < 1e15 => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", grouped(size.round() as u64))
        }
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0.5, 12.34, 1_234.0, 2e6].map(time), ["0.50 µs", "12.3 µs", "1.23 ms", "2.00 s"]);
        assert_eq!(megabytes(123_456_789), "123 MB");
        let planned = [2.0, 61.0, 700.0, 50_000.0, 2e6].map(about);
        assert_eq!(planned, ["about 5 s", "about 65 s", "about 12 min", "about 14 h", "about 24 days"]);
    }
}
