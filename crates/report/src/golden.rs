//! For tests: texts on terminals of 80, 100 and 140 columns.

use crate::{at_width, fitted};

/// What `write` makes at each width, of which no line is wider.
pub(crate) fn at_widths(write: impl Fn() -> String) -> String {
    klatch_testing::at_widths(|width| at_width(width, || fitted(&write(), Some(width))))
}
