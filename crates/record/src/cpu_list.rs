//! Lists of CPUs, as the kernel writes them.

/// More CPUs than a kernel supports.
const CPUS_MAX: usize = 1 << 16;

/// The numbers in a list such as `0-3,6`; `None` if the text is no such list.
pub fn parse_cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= CPUS_MAX {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// Writes ascending numbers as such a list.
pub fn write_cpu_list(cpus: &[usize]) -> String {
    let ranges = cpus.chunk_by(|one, next| one + 1 == *next).map(|range| match range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range.iter().map(usize::to_string).collect(),
    });
    ranges.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written() {
        for (text, cpus) in [("0", vec![0]), ("0-2,6", vec![0, 1, 2, 6]), ("1,3,5-6", vec![1, 3, 5, 6])] {
            assert_eq!(parse_cpu_list(text), Some(cpus.clone()), "{text}");
            assert_eq!(write_cpu_list(&cpus), text);
        }
        for text in ["", "x", "3-1", "0,", "-1", "9999999"] {
            assert_eq!(parse_cpu_list(text), None, "{text}");
        }
    }
}
