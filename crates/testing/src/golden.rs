//! Texts of commands on terminals of several widths.

/// What `write` makes for terminals of 80, 100 and 140 columns, as one text.
///
/// # Panics
/// A line is wider.
pub fn at_widths(write: impl Fn(usize) -> String) -> String {
    let at = |width: usize| {
        let text = write(width);
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > width).collect();
        assert!(wide.is_empty(), "at {width}: {wide:#?}");
        format!("{width} columns\n{text}")
    };
    [80, 100, 140].map(at).join("\n")
}
