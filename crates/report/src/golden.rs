//! For tests: texts on terminals of 80, 100 and 140 columns.

use crate::{at_width, fitted};

/// What `write` makes at each width, of which no line is wider.
pub(crate) fn at_widths(write: impl Fn() -> String) -> String {
    let at = |width: usize| {
        let text = at_width(width, || fitted(&write(), Some(width)));
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > width).collect();
        assert!(wide.is_empty(), "at {width}: {wide:#?}");
        format!("{width} columns\n{text}")
    };
    [80, 100, 140].map(at).join("\n")
}
