//! Takes comments out of Rust, C, Java, Go and JavaScript.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Comments, and strings so that `//` in them is no comment.
static COMMENT_OR_STRING: LazyLock<Regex> = LazyLock::new(|| {
    let string = r#""(?:\\.|[^"\\])*""#;
    let raw_string = r##"r#"(?s:.*?)"#"##;
    let letter = r"'(?:\\.|[^'\\\n])'";
    Regex::new(&format!(r"(?s://[^\n]*|/\*.*?\*/)|{raw_string}|{string}|{letter}")).expect("a regex")
});

/// The text of all comments, and the rest without strings.
pub(crate) fn split(source: &str) -> (String, String) {
    let mut comments = String::new();
    let code = COMMENT_OR_STRING.replace_all(source, |found: &Captures<'_>| {
        if found[0].starts_with('/') {
            comments.push_str(&found[0]);
            comments.push('\n');
        }
        " "
    });
    (comments, code.into_owned())
}

/// Rust doc comments of one line with three words or fewer, each as `line number: text`.
pub(crate) fn short_docs(source: &str) -> Vec<String> {
    let doc = |line: &&str| line.trim_start().starts_with("///") || line.trim_start().starts_with("//!");
    let lines: Vec<&str> = source.lines().collect();
    let alone = |at: usize| {
        let neighbour = |at: Option<usize>| at.and_then(|at| lines.get(at)).is_some_and(doc);
        !neighbour(at.checked_sub(1)) && !neighbour(Some(at + 1))
    };
    let short = |line: &str| line.trim_start()[3..].split_whitespace().count() <= 3;
    let numbered = lines.iter().enumerate().filter(|(at, line)| doc(line) && alone(*at) && short(line));
    numbered.map(|(at, line)| format!("{}: {}", at + 1, line.trim())).collect()
}

#[test]
fn comments_are_separated_from_code() {
    let (comments, code) = split("let a = \"// no\"; // yes\n/* and\nthis */ let b = 'x';");
    assert_eq!(comments, "// yes\n/* and\nthis */\n");
    assert_eq!(code, "let a =  ;  \n  let b =  ;");
}

#[test]
fn a_short_line_of_a_longer_comment_is_not_short() {
    let source = "/// Why not.\nfn a() {}\n/// A first line\n/// and a second.\nfn b() {}\n/// Milliseconds since the start.\nfn c() {}\n";
    assert_eq!(short_docs(source), ["1: /// Why not."]);
}
