//! The page of `klatch browse` with metrics over time. Each point links to the report of its result.

use std::path::Path;

use askama::Template;
use klatch_record::{History, HistorySeries};

use crate::history::{change_text, heading, history_answer, shown};
use crate::metric;
use crate::write::{HtmlError, STYLE, policy, show};

/// Size of a chart, in units of its drawing.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 130.0;
/// Room around the points, for circles.
const MARGIN: f64 = 10.0;
/// Longest list of single results that is shown without a click.
const OPEN_MAX: usize = 5;

#[derive(Template)]
#[template(path = "history.html")]
struct Page<'a> {
    place: &'a str,
    answer: String,
    subjects: Vec<Subject<'a>>,
    /// What has one result so far.
    single: Vec<String>,
    skipped: &'a [String],
    policy: String,
    style: &'static str,
}

struct Subject<'a> {
    heading: Vec<String>,
    charts: Vec<Chart<'a>>,
}

/// A series as a drawing.
struct Chart<'a> {
    series: &'a HistorySeries,
    title: &'a str,
    line: String,
    dots: Vec<Dot>,
    /// Positions of changes along x.
    changes: Vec<f64>,
    texts: Vec<String>,
    low: String,
    high: String,
}

struct Dot {
    x: f64,
    y: f64,
    /// Folder of the result; empty without one.
    folder: String,
    title: String,
}

impl<'a> Chart<'a> {
    fn new(series: &'a HistorySeries, results: &Path) -> Chart<'a> {
        let values = || series.points.iter().map(|point| point.value);
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let last = series.points.len().saturating_sub(1).max(1) as f64;
        let x = |place: f64| MARGIN + place / last * (WIDTH - 2.0 * MARGIN);
        let share = |value: f64| if high > low { (value - low) / (high - low) } else { 0.5 };
        let y = |value: f64| HEIGHT - MARGIN - share(value) * (HEIGHT - 2.0 * MARGIN);
        let dots: Vec<Dot> = series
            .points
            .iter()
            .enumerate()
            .map(|(place, point)| Dot {
                x: x(place as f64),
                y: y(point.value),
                folder: point.files.first().and_then(|file| folder(file, results)).unwrap_or_default(),
                title: format!(
                    "{}: {}, {}",
                    point.label,
                    shown(series, point.value),
                    show::moment(&point.at)
                ),
            })
            .collect();
        Chart {
            series,
            title: metric::title(&series.metric),
            line: dots.iter().map(|dot| format!("{:.1},{:.1} ", dot.x, dot.y)).collect(),
            dots,
            changes: series.changes.iter().map(|change| x(f64::from(change.at) - 0.5)).collect(),
            texts: series.changes.iter().map(|change| change_text(series, change)).collect(),
            low: shown(series, low),
            high: shown(series, high),
        }
    }
}

/// The folder of results to which a file belongs; `None` if it lies elsewhere.
fn folder(file: &str, results: &Path) -> Option<String> {
    let mut parts = Path::new(file).strip_prefix(results).ok()?.components();
    let folder = parts.next()?.as_os_str().to_str()?.to_owned();
    parts.next().map(|_| folder)
}

/// The page of a history of this folder of results; `None` says that there is no result yet.
///
/// # Errors
/// Rendering the template failed.
pub(crate) fn history_page(history: Option<&History>, results: &Path) -> Result<String, HtmlError> {
    let all = history.map_or(&[][..], |history| &history.series);
    // A chart of one point shows nothing.
    let is_drawn = |of_subject: &&[HistorySeries]| of_subject.iter().any(|series| series.points.len() > 1);
    let (drawn, single): (Vec<_>, Vec<_>) = all.chunk_by(|a, b| heading(a) == heading(b)).partition(is_drawn);
    let subjects = drawn.into_iter().map(|of_subject| Subject {
        heading: heading(&of_subject[0]).lines().map(str::to_owned).collect(),
        charts: of_subject
            .iter()
            .filter(|series| series.points.len() > 1)
            .map(|series| Chart::new(series, results))
            .collect(),
    });
    let page = Page {
        place: &results.display().to_string(),
        answer: history.map_or_else(|| "There are no results yet.".to_owned(), history_answer),
        subjects: subjects.collect(),
        single: single.iter().map(|of_subject| heading(&of_subject[0]).replace('\n', "; ")).collect(),
        skipped: history.map_or(&[], |history| &history.skipped),
        policy: policy(&[]),
        style: STYLE,
    };
    Ok(page.render()?)
}
