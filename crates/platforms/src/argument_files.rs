//! Argument files of the Java launcher: a word `@FILE` stands for the words in that file.

/// Largest argument file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 16;

/// The words of `JDK_JAVA_OPTIONS`, with those of files in place of `@FILE`. A file that cannot be read stays a name: the launcher reports it.
/// As in the launcher, a file cannot name another, and `@@` is the letter.
pub(crate) fn with_argument_files(options: &str) -> String {
    let mut words = Vec::new();
    for word in split(options) {
        match word.strip_prefix('@') {
            Some(file) if !file.starts_with('@') => match read(file) {
                Some(text) => words.extend(split(&text)),
                None => words.push(word),
            },
            _ => words.push(word),
        }
    }
    let quoted = |word: &String| match word.contains(char::is_whitespace) {
        true => format!("\"{word}\""),
        false => word.clone(),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn read(file: &str) -> Option<String> {
    let metadata = std::fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        return None;
    }
    std::fs::read_to_string(file).ok()
}

/// The words of a text: quotes of either kind keep spaces, `#` begins a comment, and in quotes a backslash keeps the next letter. One before the
/// end of a line joins it with the next.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (letter, Some(end)) if letter == end => quote = None,
            ('\\', _) if letters.peek() == Some(&'\n') => {
                letters.next();
                while letters.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
            }
            ('\\', Some(_)) => word.get_or_insert_default().extend(letters.next()),
            ('"' | '\'', None) => {
                word.get_or_insert_default();
                quote = Some(letter);
            }
            ('#', None) if word.is_none() => while letters.next().is_some_and(|next| next != '\n') {},
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_file_stand_for_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("options");
        let text = "# of the team\n-Xmx1g\n\"-Dname=a b\" -XX:+UseZGC\n-Dpath=a\\\n   b @other\n";
        std::fs::write(&file, text).unwrap();
        assert_eq!(
            with_argument_files(&format!("-Xint @{} -Xss1m", file.display())),
            "-Xint -Xmx1g \"-Dname=a b\" -XX:+UseZGC -Dpath=ab @other -Xss1m"
        );
    }

    #[test]
    fn what_is_no_readable_file_stays() {
        for options in ["-Xmx1g", "@/nowhere/options", "@@x", "@/dev/zero", ""] {
            assert_eq!(with_argument_files(options), options);
        }
    }
}
