//! Text of others that is safe to print.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with an escape, as JSON has it, in place of each character that controls a terminal or changes the direction of text.
/// Line feeds and tabs stay. JSON stays JSON: it has such characters only in strings.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |character| controls(character) && !matches!(character, '\n' | '\t'))
}

/// The same for one line: line feeds and tabs are escaped too.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    escaped(text, controls)
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        if is_escaped(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(printable, "\\u{unit:04x}");
            }
        } else {
            printable.push(character);
        }
    }
    Cow::Owned(printable)
}

/// Controls, marks and overrides of direction, separators of lines, and characters that nothing shows. `Printable.java` has the same.
fn controls(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{206f}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_cannot_control_a_terminal() {
        assert!(matches!(printable("caf\u{e9} \\ ok\n\tµ"), Cow::Borrowed(_)));
        assert_eq!(
            printable("\u{1b}]0;x\u{7} \r\n\u{202e}\u{9b}\u{e0041}"),
            "\\u001b]0;x\\u0007 \\u000d\n\\u202e\\u009b\\udb40\\udc41"
        );
        assert_eq!(printable_line("a\tb\nvalid"), "a\\u0009b\\u000avalid");
    }

    #[test]
    fn the_java_crowd_prints_the_same() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/printable.json");
        let vectors: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let lines = vectors["lines"].as_array().unwrap();
        assert!(lines.len() > 5);
        for line in lines {
            assert_eq!(printable_line(line["text"].as_str().unwrap()), line["printable"].as_str().unwrap());
        }
    }

    #[test]
    fn json_stays_what_it_was() {
        let text = "\u{1b}[2J\u{7f}\u{9b}1m \u{202e}\\\u{2028}\u{e0041}";
        let json = serde_json::to_string_pretty(&[text]).unwrap();
        let safe = printable(&json);
        assert!(safe.chars().all(|character| character == '\n' || !controls(character)), "{safe}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&safe).unwrap(), [text]);
    }
}
