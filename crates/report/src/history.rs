//! Metrics over time as text for a terminal.

use std::fmt::Write;

use klatch_record::{
    Better, History, HistoryChange, HistorySeries, Metric, RatioEstimate, SERVER_CPU, SeriesKind,
};

use crate::difference::{percent, short};
use crate::metric;
use crate::number::three_digits;
use crate::strokes::spark;
use crate::table::{Column, TextTable};

/// Characters of a sparkline; of a longer series each is a mean of neighbours.
const SPARK: usize = 40;
/// Confidence of the intervals of changes.
const CONFIDENCE: f64 = 0.95;
/// Changes that the answer names.
const NAMED: usize = 3;

/// A history as text: a table for each subject, with a line for each metric.
pub fn history(history: &History) -> String {
    let mut text = String::new();
    for of_subject in history.series.chunk_by(|a, b| heading(a) == heading(b)) {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{}\n", heading(&of_subject[0]));
        let mut table = TextTable::new([
            Column::name(""),
            Column::number("points").less(2),
            Column::number("first").less(1),
            Column::number("last"),
            Column::name("over time").less(3),
            Column::words("changes"),
        ]);
        for series in of_subject {
            let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
            let ends = [values.first(), values.last()];
            let [first, last] = ends.map(|value| value.map_or(String::new(), |value| shown(series, *value)));
            let points = match series.older {
                0 => values.len().to_string(),
                older => format!("{} of {}", values.len(), values.len() as u32 + older),
            };
            table.row([
                metric::title(&series.metric).to_owned(),
                points,
                first,
                last,
                spark(&condensed(&values)),
                changes(series),
            ]);
        }
        let _ = writeln!(text, "{table}");
    }
    text
}

/// What the series of a history say together, in a sentence or a few.
pub fn history_answer(history: &History) -> String {
    let judged = history.series.iter().filter(|series| series.unjudged.is_none()).count();
    if judged == 0 {
        let why = history.series.first().and_then(|series| series.unjudged.as_deref());
        return format!("No series can show a change yet: {}.", why.unwrap_or("there is none"));
    }
    let mut found: Vec<(&HistorySeries, &HistoryChange)> = history
        .series
        .iter()
        .flat_map(|series| series.changes.iter().map(move |change| (series, change)))
        .filter(|(_, change)| change.is_of_level())
        .collect();
    let series = |count: usize| if count == 1 { "1 series".to_owned() } else { format!("{count} series") };
    if found.is_empty() {
        return format!("No change of level is shown in {}.", series(judged));
    }
    let size = |change: &HistoryChange| change.ratio.ln().abs();
    // Per message or per operation.
    let aliases = |name: &str| Metric::named(name).map(|metric| metric.aliases);
    let is_other = |series: &HistorySeries| aliases(&series.metric) != aliases(SERVER_CPU);
    found.sort_by(|a, b| is_other(a.0).cmp(&is_other(b.0)).then(size(b.1).total_cmp(&size(a.1))));
    let all = found.len();
    let changes = if all == 1 { "1 change".to_owned() } else { format!("{all} changes") };
    let named = found.iter().take(NAMED).map(|(series, change)| {
        format!("{} of {}: {}", metric::title(&series.metric), series.subject, change_text(series, change))
    });
    let of_all = if all > NAMED { format!(" The first {NAMED}:") } else { String::new() };
    let named: Vec<String> = named.collect();
    format!("{changes} in {}.{of_all} {}.", series(judged), named.join("; "))
}

/// What was measured, and how.
pub(crate) fn heading(series: &HistorySeries) -> String {
    let how = match &series.kind {
        SeriesKind::Values => String::new(),
        SeriesKind::AgainstBase { base } => format!(", by duets against {base}"),
        SeriesKind::Chained { base } => format!(", by duets chained from {base}"),
        SeriesKind::Ratios => ", by duets".to_owned(),
    };
    let machine = series.machine.iter().map(|machine| format!("\n{machine}"));
    format!("{}{how}\n{}{}", series.subject, series.workload, machine.collect::<String>())
}

/// A value of a series with its unit.
pub(crate) fn shown(series: &HistorySeries, value: f64) -> String {
    match series.kind.is_ratio() {
        true => format!("× {}", three_digits(value)),
        false => metric::cell(&series.metric, value),
    }
}

fn changes(series: &HistorySeries) -> String {
    match &series.unjudged {
        Some(why) => format!("not judged: {why}"),
        None if series.changes.is_empty() => "none".to_owned(),
        None => {
            let texts = series.changes.iter().map(|change| change_text(series, change));
            texts.collect::<Vec<_>>().join("; ")
        }
    }
}

/// A change in words: `worse: 20 % more (19–21 %) since c31, after c30`.
pub(crate) fn change_text(series: &HistorySeries, change: &HistoryChange) -> String {
    let HistoryChange { after, since, ratio, low, high, .. } = change;
    let size = match low.zip(*high) {
        _ if !change.is_of_level() => "another scatter".to_owned(),
        Some((low, high)) => {
            let ratio = RatioEstimate { estimate: *ratio, low, high, smallest_difference: f64::INFINITY };
            short(&series.metric, &ratio, CONFIDENCE)
        }
        None => format!("{} {}", percent((ratio - 1.0).abs()), if *ratio > 1.0 { "more" } else { "less" }),
    };
    let is_more = *ratio > 1.0;
    let verdict = match Metric::named(&series.metric).map(|metric| metric.better) {
        _ if !change.is_of_level() => "",
        Some(Better::Less) if is_more => "worse: ",
        Some(Better::More) if !is_more => "worse: ",
        Some(Better::Less | Better::More) => "better: ",
        Some(Better::Neither) | None => "",
    };
    format!("{verdict}{size} since {since}, after {after}")
}

/// The values, or the means of neighbours if there are many.
fn condensed(values: &[f64]) -> Vec<f64> {
    if values.len() <= SPARK {
        return values.to_vec();
    }
    let end = |place: usize| place * values.len() / SPARK;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    (0..SPARK).map(|place| mean(&values[end(place)..end(place + 1)])).collect()
}

#[cfg(test)]
mod tests {
    use klatch_record::{HISTORY_SCHEMA_NAME, HistoryPoint};

    use super::*;

    fn series(values: &[f64], changes: Vec<HistoryChange>) -> HistorySeries {
        let point = |(place, value): (usize, &f64)| HistoryPoint {
            label: format!("c{place}"),
            at: format!("2026-01-{:02}T00:00:00Z", place + 1),
            value: *value,
            starts: 1,
            base: None,
            step: None,
            files: vec![format!("results/run-{place}/trial-1.json")],
        };
        HistorySeries {
            subject: "x".to_owned(),
            workload: "chat: rooms 10; crowd native".to_owned(),
            machine: Some("a CPU, CPUs: 2".to_owned()),
            metric: SERVER_CPU.to_owned(),
            kind: SeriesKind::Values,
            points: values.iter().enumerate().map(point).collect(),
            older: 0,
            changes,
            unjudged: None,
        }
    }

    fn whole(series: Vec<HistorySeries>) -> History {
        History {
            schema: HISTORY_SCHEMA_NAME.to_owned(),
            sources: vec!["results".to_owned()],
            runs: 8,
            duets: 0,
            significance: 0.01,
            series,
            skipped: Vec::new(),
        }
    }

    fn change(ratio: f64, ends: Option<(f64, f64)>) -> HistoryChange {
        HistoryChange {
            after: "c3".to_owned(),
            since: "c4".to_owned(),
            at: 4,
            ratio,
            low: ends.map(|ends| ends.0),
            high: ends.map(|ends| ends.1),
        }
    }

    #[test]
    fn a_change_is_named_with_its_size_its_builds_and_its_direction() {
        let values = [10.0, 10.1, 9.9, 10.0, 12.0, 12.1, 11.9, 12.0];
        let with = |change: HistoryChange| whole(vec![series(&values, vec![change])]);
        let text = history(&with(change(1.2, Some((1.18, 1.22)))));
        assert!(text.starts_with("x\nchat: rooms 10; crowd native\na CPU, CPUs: 2\n\n"), "{text}");
        let row = text.lines().last().unwrap();
        let wanted = "server CPU per message       8  10.0 µs  12.0 µs  ▁▂▁▁█████  worse: 20.0 % more (18.0–22.0 %) since c4, after c3";
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(row).len(), words(wanted).len(), "{row}");
        assert!(row.contains("worse: ") && row.contains(" since c4, after c3"), "{row}");
        let answer = history_answer(&with(change(0.8, Some((0.79, 0.81)))));
        assert!(
            answer.starts_with("1 change in 1 series. server CPU per message of x: better: "),
            "{answer}"
        );
        let answer = history_answer(&with(change(1.01, Some((0.9, 1.1)))));
        assert_eq!(answer, "No change of level is shown in 1 series.");
        assert!(history(&with(change(1.01, Some((0.9, 1.1))))).contains("another scatter since c4"));
        assert!(history(&with(change(1.2, None))).contains("worse: 20"));
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        let few = HistorySeries {
            unjudged: Some("changes need at least 6 points".to_owned()),
            ..series(&[1.0, 2.0], Vec::new())
        };
        let few = whole(vec![few]);
        assert_eq!(history_answer(&few), "No series can show a change yet: changes need at least 6 points.");
        assert!(history(&few).contains("not judged: changes need at least 6 points"));
    }

    #[test]
    fn a_long_series_has_a_short_sparkline() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let condensed = condensed(&values);
        assert_eq!((condensed.len(), condensed[0], condensed[39]), (SPARK, 12.0, 987.0));
    }

    #[test]
    fn a_history_is_as_it_was_at_three_widths() {
        let values = [10.0, 10.1, 9.9, 10.0, 12.0, 12.1, 11.9, 12.0];
        let few = HistorySeries {
            metric: klatch_record::LATENCY_P99.to_owned(),
            unjudged: Some("changes need at least 6 points, and there are 2 of this machine".to_owned()),
            ..series(&[1_200.0, 2_000.0], Vec::new())
        };
        let found = whole(vec![series(&values, vec![change(1.2, Some((1.18, 1.22)))]), few]);
        let write = || format!("{}\n{}\n", history(&found), history_answer(&found));
        insta::assert_snapshot!(crate::golden::at_widths(write));
    }

    #[test]
    fn the_page_draws_series_and_lists_what_has_one_result() {
        let single = HistorySeries { subject: "y".to_owned(), ..series(&[1.0], Vec::new()) };
        let all = whole(vec![series(&[1.0, 2.0], Vec::new()), single]);
        let page = crate::index::history_page(Some(&all), std::path::Path::new("results")).unwrap();
        assert_eq!(page.matches("<figure").count(), 1);
        assert!(page.contains("<li>y; chat: rooms 10; crowd native; a CPU, CPUs: 2</li>"), "{page}");
    }
}
