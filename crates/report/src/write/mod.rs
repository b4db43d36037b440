//! The output formats of a report.

mod csv;
mod html;
mod markdown;
pub(crate) mod show;

pub use csv::csv;
pub(crate) use html::{COLORS, STYLE, policy};
pub use html::{HtmlError, html};
pub use markdown::markdown;

use crate::model::Report;

/// A report as pretty-printed JSON that ends with a newline.
pub fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("a report is plain JSON") + "\n"
}
