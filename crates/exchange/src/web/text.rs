//! Decimal numbers in bytes.

/// Appends a number in decimal digits.
pub(super) fn push_decimal(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] += (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return out.extend_from_slice(&digits[first..]);
        }
    }
}

/// Parses decimal digits, and nothing else, to a number of at most `max`.
pub(super) fn decimal(digits: &[u8], max: u64) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit).filter(|number| *number <= max)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_parse_back() {
        for number in [0, 9, 10, 12_345, u64::MAX] {
            let mut digits = Vec::new();
            push_decimal(&mut digits, number);
            assert_eq!(String::from_utf8_lossy(&digits), number.to_string());
            assert_eq!(decimal(&digits, u64::MAX), Some(number));
        }
    }

    #[test]
    fn only_digits_up_to_the_maximum_are_a_number() {
        assert_eq!([&b"20"[..], b"020", b"21"].map(|digits| decimal(digits, 20)), [Some(20), Some(20), None]);
        for wrong in [&b""[..], b"+1", b"-1", b" 1", b"1 ", b"0x1", b"18446744073709551616", b"1:"] {
            assert_eq!(decimal(wrong, u64::MAX), None, "{}", wrong.escape_ascii());
        }
    }
}
