//! A duet as text for a terminal.

use std::fmt::Write;

use klatch_record::{Duet, DuetMetric, DuetSide, DuetStart, PairResult, SERVER_CPU};

use crate::comparison::TableOfSides;
use crate::difference::{Sides, distinct, percent, short};
use crate::metric;
use crate::table::{Column, TextTable};

/// A duet as text: the sides, how they were compared, a line for each metric, and what the interval contains.
pub fn duet(duet: &Duet) -> String {
    let mut text = format!("{}\n{}\n\n", title(duet), method(duet));
    let mut table = TableOfSides::new("mean", [&duet.a.name, &duet.b.name]);
    for metric in &duet.metrics {
        let (values, result) =
            ([mean(metric, metric.a), mean(metric, metric.b)], conclusion(metric, duet.confidence));
        let name = metric::title(&metric.metric);
        table.row(name, values, metric.ratio.as_ref(), reach(duet), &result);
    }
    let _ = writeln!(text, "{table}\n\n{}", scatter(duet));
    for note in notes(duet) {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// The mean of a side, with its unit.
fn mean(metric: &DuetMetric, value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| metric::cell(&metric.metric, value))
}

/// Both sides, and what they have in common.
pub(crate) fn title(duet: &Duet) -> String {
    let (a, b) = (&duet.a, &duet.b);
    let both = format!("{} against {}", b.name, a.name);
    let platform = if a.platform == b.platform { format!("{}: ", a.platform) } else { String::new() };
    // A name has the platform, unless somebody gave it.
    let own = |side: &DuetSide| side.name.contains(side.platform.split(" (").next().unwrap_or_default());
    let details = match (a.platform == b.platform, own(a) && own(b)) {
        (false, false) => format!(" ({} against {})", b.platform, a.platform),
        _ => String::new(),
    };
    let platform = if own(a) && own(b) { String::new() } else { platform };
    let crowd = if a.crowd == b.crowd { format!(", crowd {}", a.crowd) } else { String::new() };
    format!("{platform}{both}{details}{crowd}")
}

/// The names of the sides, and the unit of their work, for sentences.
pub(crate) fn sides(duet: &Duet) -> Sides<'_> {
    Sides { a: &duet.a.name, b: &duet.b.name, unit: duet.workload.kind().operation_name() }
}

/// One cell of a study of duets, compared with its reference: a line for each metric.
pub(crate) fn pair(pair: &PairResult) -> String {
    let starts = counted(pair.starts as usize, "start");
    let [a, b] = distinct([&pair.a, &pair.b]);
    let columns =
        [Column::name("mean"), Column::number(format!("{a} (base)")), Column::number(b), Column::words("")];
    let mut table = TextTable::new(columns);
    for metric in &pair.metrics {
        table.row([
            metric::title(&metric.metric).to_owned(),
            mean(metric, metric.a),
            mean(metric, metric.b),
            conclusion(metric, pair.confidence),
        ]);
    }
    format!("{} against {}, {starts}\n{table}\n", pair.b, pair.a)
}

/// What a metric shows, for a row of a table.
pub(crate) fn conclusion(metric: &DuetMetric, confidence: f64) -> String {
    match (&metric.ratio, &metric.absent) {
        (Some(ratio), _) => short(&metric.metric, ratio, confidence),
        (None, cause) => format!("not compared: {}", cause.as_deref().unwrap_or("not observed")),
    }
}

/// A duet of a platform with itself: for each metric, the smallest difference that this machine shows in this time.
pub fn calibration(duet: &Duet) -> String {
    let mut text = format!("{} against itself: {}\n\n", duet.a.platform, method(duet));
    let mut table = TextTable::new([
        Column::name(""),
        Column::number("mean"),
        Column::name("ratio, 95 % interval"),
        Column::words("shows a difference of"),
    ]);
    for metric in &duet.metrics {
        let name = metric::title(&metric.metric).to_owned();
        let mean = mean(metric, metric.a);
        let [interval, difference] = match (&metric.ratio, &metric.absent) {
            (Some(ratio), _) => [
                format!("{:.4}, {:.4}–{:.4}", ratio.estimate, ratio.low, ratio.high),
                format!("{} or more", percent(ratio.smallest_difference)),
            ],
            (None, cause) => {
                ["–".to_owned(), format!("not estimated: {}", cause.as_deref().unwrap_or("not observed"))]
            }
        };
        table.row([name, mean, interval, difference]);
    }
    let _ = writeln!(text, "{table}");
    let _ = writeln!(text, "\n{}", scatter(duet));
    for note in notes(duet) {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// What a duet of a platform with itself shows, in a sentence.
pub fn calibration_answer(duet: &Duet) -> String {
    let cpu = duet.metrics.iter().find(|metric| metric.metric == SERVER_CPU);
    let smallest = cpu.and_then(|cpu| cpu.ratio).map(|ratio| ratio.smallest_difference);
    match smallest.filter(|smallest| smallest.is_finite()) {
        Some(smallest) => format!(
            "In this time this machine shows a difference of {} or more in server CPU per {}.",
            percent(smallest),
            sides(duet).unit
        ),
        None => "No answer: there are too few pairs.".to_owned(),
    }
}

pub(crate) fn method(duet: &Duet) -> String {
    let pairs: usize = duet.starts.iter().map(|start| start.pairs.len()).sum();
    let order = if duet.together { "at the same time" } else { "in turns" };
    format!(
        "geometric mean of the ratios of {} of slices of {:.0} ms, {order}, in {}",
        counted(pairs, "pair"),
        duet.slice_ms,
        counted(duet.starts.len(), "start")
    )
}

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("one {what}") } else { format!("{number} {what}s") }
}

fn reach(duet: &Duet) -> f64 {
    let ends =
        duet.metrics.iter().filter_map(|metric| metric.ratio).flat_map(|ratio| [ratio.low, ratio.high]);
    ends.map(|end| end.ln().abs().exp()).fold(1.02, f64::max).min(2.0)
}

/// How much of the uncertainty is within starts, and how much between them.
pub(crate) fn scatter(duet: &Duet) -> String {
    let cpu = duet.metrics.iter().find(|metric| metric.metric == SERVER_CPU);
    let Some((cpu, within)) = cpu.and_then(|cpu| Some((cpu, cpu.within_start?))) else {
        return "the scatter within starts is not known: there are too few pairs".to_owned();
    };
    match cpu.between_starts {
        Some(between) => format!(
            "server CPU per message: one start is exact to {} (standard error), and starts differ by {} (standard deviation)",
            percent(within),
            percent(between)
        ),
        None => format!(
            "server CPU per message: exact to {} (standard error) in {}; the difference between starts is not in the interval, \
             which needs at least three",
            percent(within),
            counted(duet.starts.len(), "start")
        ),
    }
}

pub(crate) fn notes(duet: &Duet) -> Vec<String> {
    let disturbed: u32 = duet.starts.iter().map(|start| start.disturbed).sum();
    let most =
        |share: fn(&DuetStart) -> Option<f64>| duet.starts.iter().filter_map(share).fold(0.0, f64::max);
    let (others, steal) = (most(|start| start.others_share), most(|start| start.steal_share));
    let mut notes = Vec::new();
    let empty = duet.starts.iter().filter(|start| start.pairs.is_empty()).count();
    if empty > 0 {
        notes.push(format!("{} without a pair that counts", counted(empty, "start")));
    }
    if disturbed > 0 {
        notes.push(format!(
            "{} left out: the paused side used CPU time during the other's slice",
            counted(disturbed as usize, "pair")
        ));
    }
    if others > 0.02 {
        notes.push(format!("other programs used up to {} of the machine's CPU time", percent(others)));
    }
    if steal > 0.02 {
        notes.push(format!(
            "the hypervisor gave up to {} of the machine's CPU time to others",
            percent(steal)
        ));
    }
    notes
}
