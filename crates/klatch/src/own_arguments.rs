//! The arguments of this process as it may repeat them: in a command to type next, and in a record.

use klatch_record::HeaderField;

use crate::workload::HEADER;

/// All of them, the name of the program first, without values of header fields that may be secrets.
pub(crate) fn own_arguments() -> Vec<String> {
    without_header_values(std::env::args())
}

fn without_header_values(words: impl Iterator<Item = String>) -> Vec<String> {
    let shown =
        |line: &str| line.parse::<HeaderField>().map_or_else(|_| "…".to_owned(), |field| field.to_string());
    let (option, mut follows) = (format!("--{HEADER}"), false);
    let public = |word: String| {
        if std::mem::replace(&mut follows, word == option) {
            return shown(&word);
        }
        match word.strip_prefix(&option).and_then(|rest| rest.strip_prefix('=')) {
            Some(line) => format!("{option}={}", shown(line)),
            None => word,
        }
    };
    words.map(public).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_header_fields_are_left_out() {
        let words = ["--header", "Cookie: a", "--header=X: b", "--header", "Accept: c", "--header", "d", "e"];
        let shown = without_header_values(words.into_iter().map(str::to_owned));
        assert_eq!(
            shown,
            ["--header", "Cookie: …", "--header=X: …", "--header", "Accept: c", "--header", "…", "e"]
        );
    }
}
