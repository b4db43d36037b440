//! A duet as text for a terminal.

use std::fmt::Write;

use klatch_record::{Duet, DuetMetric, DuetStart, PairResult};

use crate::comparison::{format_of, percent, sentence};
use crate::strokes::strip;

/// A duet as text: the sides, how they were compared, a line for each metric, and what the interval contains.
pub fn duet(duet: &Duet) -> String {
    let mut text = String::new();
    for (name, side) in [("A", &duet.a), ("B", &duet.b)] {
        let _ = writeln!(text, "{name}  {}, crowd {}", side.platform, side.crowd);
    }
    let _ = writeln!(text, "   {}\n", method(duet));
    let _ = writeln!(text, "{:<18}{:>14}{:>14}", "mean", "A", "B");
    for metric in &duet.metrics {
        let _ = writeln!(text, "{}", row(metric, duet.confidence, reach(duet)));
    }
    let _ = writeln!(text, "\n{}", scatter(duet));
    for note in notes(duet) {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// One cell of a study of duets, compared with its reference: a line for each metric.
pub(crate) fn pair(pair: &PairResult) -> String {
    let starts = counted(pair.starts as usize, "start");
    let mut text = format!("{} (B) against {} (A), {starts}\n", pair.b, pair.a);
    for metric in &pair.metrics {
        let _ =
            writeln!(text, "  {:<18}{}", format_of(&metric.metric).0, conclusion(metric, pair.confidence));
    }
    text
}

/// What a metric shows, in words.
pub(crate) fn conclusion(metric: &DuetMetric, confidence: f64) -> String {
    match (&metric.ratio, &metric.absent) {
        (Some(ratio), _) => sentence(ratio, confidence),
        (None, cause) => format!("not compared: {}", cause.as_deref().unwrap_or("not observed")),
    }
}

/// A duet of a platform with itself: for each metric, the smallest difference that this machine shows in this time.
pub fn calibration(duet: &Duet) -> String {
    let mut text = format!("{} against itself: {}\n\n", duet.a.platform, method(duet));
    let _ = writeln!(text, "{:<18}{:>14}  {:<29}shows a difference of", "", "mean", "A/A, 95 % interval");
    for metric in &duet.metrics {
        let (name, show) = format_of(&metric.metric);
        let mean = metric.a.map_or_else(|| "–".to_owned(), show);
        let result = match (&metric.ratio, &metric.absent) {
            (Some(ratio), _) => {
                let interval = format!("{:.4}, {:.4}–{:.4}", ratio.estimate, ratio.low, ratio.high);
                format!("{interval:<29}{} or more", percent(ratio.smallest_difference))
            }
            (None, cause) => format!("not estimated: {}", cause.as_deref().unwrap_or("not observed")),
        };
        let _ = writeln!(text, "{name:<18}{mean:>14}  {result}");
    }
    let _ = writeln!(text, "\n{}", scatter(duet));
    for note in notes(duet) {
        let _ = writeln!(text, "note: {note}");
    }
    text
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

fn row(metric: &DuetMetric, confidence: f64, reach: f64) -> String {
    let (name, show) = format_of(&metric.metric);
    let mean = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), show);
    let result = conclusion(metric, confidence);
    let strip =
        metric.ratio.map_or_else(String::new, |ratio| strip(ratio.estimate, ratio.low, ratio.high, reach));
    format!("{name:<18}{:>14}{:>14}  {strip:<17}  {result}", mean(metric.a), mean(metric.b))
}

/// How much of the uncertainty is within starts, and how much between them.
pub(crate) fn scatter(duet: &Duet) -> String {
    let cpu = duet.metrics.iter().find(|metric| metric.metric == "server_cpu_us_per_message");
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
