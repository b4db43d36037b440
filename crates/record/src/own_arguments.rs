//! The arguments of this process as it may repeat them: in a command to type next, and in a record.

use crate::{HEADER, HeaderField, without_passwords};

/// All of them, the name of the program first, without passwords in addresses and values of header fields that may be secrets.
pub fn own_arguments() -> Vec<String> {
    without_secrets(std::env::args())
}

fn without_secrets(words: impl Iterator<Item = String>) -> Vec<String> {
    let shown =
        |line: &str| line.parse::<HeaderField>().map_or_else(|_| "…".to_owned(), |field| field.to_string());
    let (option, mut follows) = (format!("--{HEADER}"), false);
    let public = |word: String| {
        if std::mem::replace(&mut follows, word == option) {
            return shown(&word);
        }
        match word.strip_prefix(&option).and_then(|rest| rest.strip_prefix('=')) {
            Some(line) => format!("{option}={}", shown(line)),
            None => without_passwords(&word),
        }
    };
    words.map(public).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_targets_are_left_out() {
        let words = ["klatch", "duet", "redis://:a@h:1", "--target=redis://bob:a@h:1", "echo://h:1"];
        let shown = without_secrets(words.into_iter().map(str::to_owned));
        assert_eq!(shown, ["klatch", "duet", "redis://@h:1", "--target=redis://bob@h:1", "echo://h:1"]);
    }

    #[test]
    fn values_of_header_fields_are_left_out() {
        let words = ["--header", "Cookie: a", "--header=X: b", "--header", "Accept: c", "--header", "d", "e"];
        let shown = without_secrets(words.into_iter().map(str::to_owned));
        assert_eq!(
            shown,
            ["--header", "Cookie: …", "--header=X: …", "--header", "Accept: c", "--header", "…", "e"]
        );
    }
}
