//! Numbers as they are written in a text.

use std::collections::BTreeSet;

/// The numbers of a text, as written, without sign, unit and trailing punctuation.
///
/// Digits within a name are no number: `p99`, `java@17`, `threads-2000`, and the notation `O(1)`.
pub(super) fn numbers(text: &str) -> BTreeSet<&str> {
    let mut all = BTreeSet::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
        let is_inside = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let end = text[start..].find(|c| !is_inside(c)).map_or(text.len(), |length| start + length);
        if !is_part_of_name(&text[..start]) {
            all.insert(text[start..end].trim_end_matches(['.', ',']));
        }
        rest = end;
    }
    all
}

/// Whether digits after `before` belong to a name.
fn is_part_of_name(before: &str) -> bool {
    let name = before.strip_suffix(['-', '_', '@']).unwrap_or(before);
    before.ends_with("O(") || name.ends_with(char::is_alphabetic)
}

/// The numbers of `text` that stand in none of `sources`.
pub(super) fn unquoted_numbers<'a>(text: &'a str, sources: &[&str]) -> Vec<&'a str> {
    let known: BTreeSet<&str> = sources.iter().flat_map(|source| numbers(source)).collect();
    numbers(text).into_iter().filter(|number| !known.contains(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_names_are_no_numbers() {
        assert_eq!(
            numbers("p99 under O(1) and o1 of threads-2000, 1.5 times 2,000."),
            BTreeSet::from(["1.5", "2,000"])
        );
        assert_eq!(numbers("2.2.12-20: -19 %, (0.78–0.96)").len(), 5);
    }

    #[test]
    fn a_number_that_is_only_part_of_another_is_unquoted() {
        assert_eq!(unquoted_numbers("0.87 and 13", &["0.871, 113", "1.13"]), ["0.87", "13"]);
        assert!(unquoted_numbers("0.87 and 13", &["0.87", "−13 %"]).is_empty());
    }
}
