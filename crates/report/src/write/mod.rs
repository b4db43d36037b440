//! The output formats of a report.

mod csv;
mod html;
mod markdown;
pub(crate) mod show;

pub use csv::csv;
pub(crate) use csv::plain;
pub(crate) use html::{COLORS, STYLE, policy};
pub use html::{HtmlError, html};
pub use markdown::markdown;

use klatch_record::printable;

use crate::model::Report;

/// A report as pretty-printed JSON that ends with a newline. It is printable, as other text is.
pub fn json(report: &Report) -> String {
    let json = serde_json::to_string_pretty(report).expect("a report is plain JSON") + "\n";
    printable(&json).into_owned()
}
