//! Numbers in the words of messages, the same on every surface.

/// Groups digits by thousands: `1234567` becomes `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A range of whole numbers in words: `1 to 65,535`.
pub fn range_in_words(least: impl Into<u64>, most: impl Into<u64>) -> String {
    format!("{} to {}", grouped(least.into()), grouped(most.into()))
}

#[test]
fn digits_are_grouped_by_thousands() {
    assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    assert_eq!(range_in_words(1u32, 65_535u32), "1 to 65,535");
}
