//! Today's date, for the add_connection.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today in UTC, as `2000-01-31`.
pub(crate) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    civil(since.as_secs() / 86_400)
}

/// The date that many days after 1970-01-01.
fn civil(mut days: u64) -> String {
    let leap = |year: u64| {
        let every = if year.is_multiple_of(100) { 400 } else { 4 };
        year.is_multiple_of(every)
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), "1970-01-01");
        assert_eq!(civil(10_957), "2000-01-01");
        assert_eq!(civil(11_016), "2000-02-29");
        assert_eq!(civil(11_017), "2000-03-01");
        assert_eq!(civil(20_453), "2025-12-31");
        assert_eq!(civil(20_454), "2026-01-01");
    }
}
