//! A report as one self-contained HTML file: templates in `templates/`, styles and scripts in `assets/`, the
//! plotting library in `vendor/`.
//!
//! Any field of a report may contain foreign text (names, error messages). The templates escape it, and the chart data
//! cannot end their script element. The page's content security policy admits only scripts with the listed hashes, and no
//! network access.

use askama::Template;
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::show;
use crate::model::{Chart, ChartKind, Report, Section};

/// Rendering a template failed.
#[derive(Debug, Error)]
#[error("cannot write the report as HTML: {0}")]
pub struct HtmlError(#[from] askama::Error);

/// The scripts in the order of their execution.
const SCRIPTS: [&str; 7] = [
    include_str!("../../vendor/d3.min.js"),
    include_str!("../../vendor/plot.umd.min.js"),
    include_str!("../../assets/text.js"),
    include_str!("../../assets/chart.js"),
    include_str!("../../assets/save.js"),
    include_str!("../../assets/flame.js"),
    include_str!("../../assets/page.js"),
];

/// The colours of all pages, in light and dark.
pub(crate) const COLORS: &str = include_str!("../../assets/colors.css");
/// The style sheet of reports and of the index.
pub(crate) const STYLE: &str =
    concat!(include_str!("../../assets/colors.css"), include_str!("../../assets/page.css"));

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    report: &'a Report,
    policy: String,
    style: &'static str,
    scripts: &'static [&'static str],
    data: String,
}

/// The report as an HTML page.
///
/// # Errors
/// Rendering the template failed.
pub fn html(report: &Report) -> Result<String, HtmlError> {
    let page = Page { report, policy: policy(&SCRIPTS), style: STYLE, scripts: &SCRIPTS, data: data(report) };
    Ok(page.render()?)
}

/// A content security policy that admits only these scripts and no network access.
pub(crate) fn policy(scripts: &[&str]) -> String {
    let sum = |script: &&str| format!("'sha256-{}'", BASE64.encode(Sha256::digest(script.as_bytes())));
    let sums: Vec<String> = match scripts {
        [] => vec!["'none'".to_owned()],
        scripts => scripts.iter().map(sum).collect(),
    };
    format!(
        "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
        sums.join(" ")
    )
}

/// The report as JSON for a script element, without characters that are special in HTML.
fn data(report: &Report) -> String {
    let json = serde_json::to_string(report).expect("a report is plain JSON");
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Whether points of a chart have intervals; its table then has columns for them.
fn has_intervals(chart: &Chart) -> bool {
    chart.points.iter().any(|point| point.low.is_some())
}

/// Whether a chart is a single bar, which is shown as a number.
fn is_single(chart: &Chart) -> bool {
    chart.kind == ChartKind::Bars && chart.points.len() == 1 && chart.points[0].y.is_some()
}

/// The charts of a section that are shown as numbers in a row.
fn single_numbers(section: &Section) -> Vec<&Chart> {
    section.charts.iter().filter(|chart| is_single(chart)).collect()
}

/// The charts of a section that are drawn.
fn drawn(section: &Section) -> Vec<&Chart> {
    section.charts.iter().filter(|chart| !is_single(chart)).collect()
}

/// Longest table of results that stands before the first chart.
const ROWS_BEFORE_CHARTS: usize = 12;

/// The sections before and after the table of results: a long table stands after the first charts.
fn around_results(report: &Report) -> (&[Section], &[Section]) {
    let before = usize::from(report.cells.len() > ROWS_BEFORE_CHARTS).min(report.sections.len());
    report.sections.split_at(before)
}

fn has_details(chart: &Chart) -> bool {
    chart.points.iter().any(|point| point.detail.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendored_files_match_their_checksums() {
        let readme = include_str!("../../vendor/README.md");
        for file in &SCRIPTS[..2] {
            let sum: String =
                Sha256::digest(file.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(readme.contains(&sum), "vendor/README.md does not list {sum}");
        }
    }

    #[test]
    fn no_script_can_end_its_element() {
        assert!(SCRIPTS.iter().all(|script| !script.contains("</script") && !script.contains("<!--")));
    }
}
