//! Why one side of a duet needs more CPU time, in sentences and tables.

use std::fmt::Write;

use klatch_record::{
    Duet, ExplainedCount, ExplainedProcess, ExplainedRow, ExplainedTime, Explanation, SERVER_CPU,
    purpose_of_call,
};

use crate::difference::{Sides, distinct, percent, text_of};
use crate::duet::sides;
use crate::model::SectionTable;
use crate::number::three_digits;

/// Rows of a list in the terminal.
const ROWS: usize = 8;
/// The area and call of what a program does in no system call.
const PROGRAM: &str = "program";
/// What has no row of its own.
const OTHERS: &str = "all others";

/// Why the sides of a duet differ, as text: at most three sentences and tables of what differs. `None` if that was not asked for.
pub fn why(duet: &Duet) -> Option<String> {
    if let Some(reason) = &duet.unexplained {
        return Some(format!("no explanation: {reason}\n"));
    }
    let explanation = duet.explanation.as_ref()?;
    let mut text = sentences(duet, explanation).join("\n") + "\n";
    text += &text_of(tables(duet, explanation, ROWS, true));
    let _ = writeln!(text, "\n{}", method(explanation));
    Some(text)
}

/// The tables of an explanation with at most this many rows: those that are shown to differ, or all.
pub(crate) fn tables(
    duet: &Duet,
    explanation: &Explanation,
    rows_max: usize,
    only_shown: bool,
) -> Vec<SectionTable> {
    let unit = sides(duet).unit;
    let [a, b] = distinct([&duet.a.name, &duet.b.name]);
    let mut tables = Vec::new();
    for (who, time) in processes(explanation) {
        let purposes = is_any_shared(time).then_some(("purpose of system calls", &time.purposes));
        let mut lists = vec![("area", &time.areas), ("system call", &time.calls)];
        lists.extend(purposes);
        lists.push(("routine", &time.routines));
        for (by, rows) in lists {
            let listed = rows.iter().filter(|row| row.is_shown || !only_shown).take(rows_max);
            let mut head =
                vec![by.to_owned(), a.clone(), b.clone(), "difference".to_owned(), "interval".to_owned()];
            head.extend((!only_shown).then(|| "shown".to_owned()));
            tables.push(SectionTable {
                title: format!("{who} by {by}, µs per {unit}"),
                head: answer_first(head, only_shown),
                rows: listed.map(|row| time_row(row, only_shown)).collect(),
                last_is_prose: false,
            });
        }
    }
    let counts = explanation.counts.iter().filter(|count| count.is_shown || !only_shown);
    let mut head = vec![String::new(), a, b, "ratio".to_owned(), "interval".to_owned()];
    head.extend((!only_shown).then(|| "shown".to_owned()));
    tables.push(SectionTable {
        title: format!("counts per {unit}"),
        head: answer_first(head, only_shown),
        rows: counts.map(|count| count_row(count, only_shown)).collect(),
        last_is_prose: false,
    });
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// Whether several system calls of the list have one purpose; else the purposes are the calls.
fn is_any_shared(time: &ExplainedTime) -> bool {
    time.purposes.iter().any(|row| calls_for(time, &row.name).len() > 1)
}

/// The system calls of the list that have this purpose.
fn calls_for<'a>(time: &'a ExplainedTime, purpose: &str) -> Vec<&'a str> {
    let calls = time.calls.iter().map(|row| row.name.as_str());
    calls.filter(|call| purpose_of_call(call) == Some(purpose)).collect()
}

fn time_row(row: &ExplainedRow, only_shown: bool) -> Vec<String> {
    let mut cells = vec![
        row.name.clone(),
        three_digits(row.a_us),
        three_digits(row.b_us),
        signed(row.difference_us),
        format!("{} to {}", signed(row.low_us), signed(row.high_us)),
    ];
    cells.extend((!only_shown).then(|| is_shown(row.is_shown)));
    answer_first(cells, only_shown)
}

/// The cells of a row in the order of the page, whose narrow screens show the first columns: the difference before the two values.
fn answer_first(mut cells: Vec<String>, is_terminal: bool) -> Vec<String> {
    if !is_terminal {
        let values: Vec<String> = cells.drain(1..3).collect();
        cells.extend(values);
    }
    cells
}

fn count_row(count: &ExplainedCount, only_shown: bool) -> Vec<String> {
    let by = match count.by {
        ExplainedProcess::Server => "server: ",
        ExplainedProcess::Crowd => "crowd: ",
        ExplainedProcess::Both => "",
    };
    let ratio = count.ratio.map(|ratio| [ratio.estimate, ratio.low, ratio.high].map(three_digits));
    let [ratio, interval] = match ratio {
        Some([estimate, low, high]) => [estimate, format!("{low} to {high}")],
        None => ["–".to_owned(), String::new()],
    };
    let mut cells =
        vec![format!("{by}{}", count.name), per_message(count.a), per_message(count.b), ratio, interval];
    cells.extend((!only_shown).then(|| is_shown(count.is_shown)));
    answer_first(cells, only_shown)
}

/// Whether a row is more than chance, in a table that has others too.
fn is_shown(is: bool) -> String {
    if is { "yes" } else { "" }.to_owned()
}

/// How it was observed, and what that cost.
pub(crate) fn method(explanation: &Explanation) -> String {
    let cost = explanation.cost_share.map_or_else(String::new, |share| {
        format!(", for {} of the CPU time of servers and crowds", percent(share))
    });
    format!(
        "{} samples at {} Hz in {} starts{cost}; a row is shown if it is more than chance among all that were looked at",
        klatch_record::grouped(explanation.samples),
        explanation.frequency_hz,
        explanation.starts
    )
}

fn processes(explanation: &Explanation) -> impl Iterator<Item = (&'static str, &ExplainedTime)> {
    let all = [("server", &explanation.time.server), ("crowd", &explanation.time.crowd)];
    all.into_iter().filter_map(|(who, time)| Some((who, time.as_ref()?)))
}

/// At most three sentences: how much more, in which system call or area, in which routine.
pub(crate) fn sentences(duet: &Duet, explanation: &Explanation) -> Vec<String> {
    let Some((who, time)) = processes(explanation).next() else {
        return vec!["Server and crowd are on other machines, so nothing was observed.".to_owned()];
    };
    let Sides { a, b, unit } = sides(duet);
    let sum = |us: fn(&ExplainedRow) -> f64| time.areas.iter().map(us).sum::<f64>();
    let [of_a, of_b] = [sum(|row| row.a_us), sum(|row| row.b_us)];
    let difference = of_b - of_a;
    let shown = |rows: &[ExplainedRow]| rows.iter().any(|row| row.is_shown);
    if ![&time.areas, &time.calls, &time.purposes, &time.routines].into_iter().any(|rows| shown(rows)) {
        let least = resolution(&time.areas);
        return vec![format!(
            "No area, system call or routine of the {who} differs; half of the areas would show {} µs per {unit} or more.",
            three_digits(least)
        )];
    }
    let whole = if differs_as_a_whole(duet, who) { Some(difference) } else { None };
    let mut sentences = vec![match whole {
        Some(difference) => format!(
            "{b} needs {} µs {} {who} CPU per {unit} than {a}: {} against {} µs.",
            three_digits(difference.abs()),
            less_or_more(difference),
            three_digits(of_b),
            three_digits(of_a)
        ),
        None => format!(
            "{a} and {b} show no difference in {who} CPU per {unit} as a whole ({} and {} µs), but in parts.",
            three_digits(of_a),
            three_digits(of_b)
        ),
    }];
    sentences.extend(cause(&time.purposes, whole).map(|row| of_calls(row, time, explanation, duet)));
    let routine = cause(&time.routines, whole).map_or_else(String::new, |row| {
        format!(", {} in routine {} alone ({})", amount(row), row.name, interval(row))
    });
    sentences.extend(largest(&time.areas, whole).map(|row| {
        let area = if row.name == PROGRAM { "the program itself, outside the kernel" } else { &row.name };
        format!("By area, {} is {area} ({}){routine}.", amount(row), interval(row))
    }));
    sentences
}

/// Which system calls differ, and how many of them each side makes.
fn of_calls(row: &ExplainedRow, time: &ExplainedTime, explanation: &Explanation, duet: &Duet) -> String {
    let Sides { a, b, unit } = sides(duet);
    let with_this_purpose = calls_for(time, &row.name);
    let (name, calls) = match with_this_purpose[..] {
        [] => (row.name.clone(), vec![row.name.as_str()]),
        [call] => (call.to_owned(), vec![call]),
        _ => (format!("{} ({})", row.name, with_this_purpose.join(", ")), with_this_purpose),
    };
    let counts: Vec<&ExplainedCount> = calls.iter().filter_map(|call| count_of(explanation, call)).collect();
    let sum = |side: fn(&ExplainedCount) -> f64| per_message(counts.iter().copied().map(side).sum());
    let counted = match calls[..] {
        _ if counts.is_empty() => String::new(),
        [call] => {
            format!("; {b} makes {} calls of {call} per {unit}, {a} {}", sum(|one| one.b), sum(|one| one.a))
        }
        _ => format!("; {b} makes {} such calls per {unit}, {a} {}", sum(|one| one.b), sum(|one| one.a)),
    };
    format!("{} is in {name} and below ({}){counted}.", amount(row), interval(row))
}

/// Whether the sides differ in all of the time of servers or crowds; where the duet has no interval for that, they do.
fn differs_as_a_whole(duet: &Duet, who: &str) -> bool {
    let cpu = duet.metrics.iter().find(|metric| who == "server" && metric.metric == SERVER_CPU);
    cpu.and_then(|cpu| cpu.ratio).is_none_or(|ratio| ratio.shows_difference())
}

/// The row that differs most in the direction of the whole, if that differs, other than the program itself, which the areas name.
fn cause(rows: &[ExplainedRow], whole: Option<f64>) -> Option<&ExplainedRow> {
    largest(rows.iter().filter(|row| row.name != PROGRAM), whole)
}

/// The row that differs most in the direction of the whole, if that differs.
fn largest<'a>(
    rows: impl IntoIterator<Item = &'a ExplainedRow>,
    whole: Option<f64>,
) -> Option<&'a ExplainedRow> {
    rows.into_iter()
        .filter(|row| row.is_shown && row.name != OTHERS)
        .filter(|row| whole.is_none_or(|whole| row.difference_us * whole > 0.0))
        .max_by(|x, y| x.difference_us.abs().total_cmp(&y.difference_us.abs()))
}

fn less_or_more(difference: f64) -> &'static str {
    if difference < 0.0 { "less" } else { "more" }
}

fn amount(row: &ExplainedRow) -> String {
    format!("{} µs {}", three_digits(row.difference_us.abs()), less_or_more(row.difference_us))
}

fn interval(row: &ExplainedRow) -> String {
    let ends = [row.low_us.abs(), row.high_us.abs()];
    let (near, far) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    format!("{}–{} µs", three_digits(near), three_digits(far))
}

/// The count of the server's calls of this name.
fn count_of<'a>(explanation: &'a Explanation, call: &str) -> Option<&'a ExplainedCount> {
    let name = format!("calls of {call}");
    explanation.counts.iter().find(|count| count.by == ExplainedProcess::Server && count.name == name)
}

/// The difference that half of these rows would show, µs.
fn resolution(rows: &[ExplainedRow]) -> f64 {
    let all: Vec<f64> = rows.iter().map(|row| row.shows_us).collect();
    klatch_stats::median(&all).unwrap_or(0.0)
}

fn signed(us: f64) -> String {
    let size = three_digits(us.abs());
    let sign = match us {
        _ if size == three_digits(0.0) => "",
        us if us < 0.0 => "-",
        _ => "+",
    };
    format!("{sign}{size}")
}

/// A count per message, with digits enough for a rare event.
fn per_message(count: f64) -> String {
    if count >= 0.1 || count == 0.0 { format!("{count:.2}") } else { format!("{count:.4}") }
}
