//! A duet as text for a terminal.

use std::fmt::Write;

use klatch_record::{Duet, DuetMetric, DuetSide, DuetStart, LATENCY_P99, PairResult, SERVER_CPU};

use crate::comparison::TableOfSides;
use crate::difference::{Sides, percent, short};
use crate::metric;
use crate::number::three_digits;
use crate::table::{Column, TextTable};

/// A duet as text: the sides, how they were compared, a line for each metric, and what the interval contains.
pub fn duet(duet: &Duet) -> String {
    let mut text = format!("{}\n{}\n\n", title(duet), method(duet));
    let mut table = TableOfSides::new("mean", [&duet.a.name, &duet.b.name]);
    let together = not_compared(duet);
    for metric in &duet.metrics {
        let values = [mean(metric, metric.a), mean(metric, metric.b)];
        let result = match together {
            Some(_) => "not compared".to_owned(),
            None => conclusion(metric, duet.confidence),
        };
        let name = metric::title(&metric.metric);
        table.row(name, values, metric.ratio.as_ref(), reach(duet), &result);
    }
    let _ = writeln!(text, "{table}\n");
    let _ = match together {
        Some(cause) => writeln!(text, "not compared: {cause}"),
        None => writeln!(text, "{}", scatter(duet)),
    };
    for note in notes(duet) {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// The reason why no metric is compared, if all have the same.
fn not_compared(duet: &Duet) -> Option<&str> {
    let (first, others) = duet.metrics.split_first()?;
    let cause = first.absent.as_deref().filter(|_| first.ratio.is_none())?;
    let has = |metric: &DuetMetric| metric.ratio.is_none() && metric.absent.as_deref() == Some(cause);
    (!others.is_empty() && others.iter().all(has)).then_some(cause)
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

/// The cells of a study of duets beside their references, a table for each reference.
pub(crate) fn pairs(pairs: &[PairResult]) -> String {
    let mut references: Vec<&str> = Vec::new();
    for pair in pairs {
        if !references.contains(&pair.a.as_str()) {
            references.push(&pair.a);
        }
    }
    let mut text = String::new();
    for reference in references {
        let of = pairs.iter().filter(|pair| pair.a == reference);
        let _ = write!(text, "\n{}", against(reference, &of.collect::<Vec<_>>()));
    }
    text
}

/// Cells beside their reference: the CPU time of the server, and ratios of what else counts.
fn against(reference: &str, pairs: &[&PairResult]) -> String {
    let shared = shared_parts(reference, pairs);
    let own = |id: &str| {
        let parts = id.split('_').filter(|part| !shared.contains(part));
        parts.collect::<Vec<_>>().join("_")
    };
    let shared = if shared.is_empty() { String::new() } else { format!(" ({})", shared.join(", ")) };
    let mut table = TextTable::new([
        Column::name(""),
        Column::number("starts").less(3),
        Column::number("server CPU"),
        Column::words("compared"),
        Column::number("throughput").less(1),
        Column::number("p99").less(2),
    ]);
    for pair in pairs {
        let metric = |name: &str| pair.metrics.iter().find(|metric| metric.metric == name);
        let cpu = metric(SERVER_CPU);
        let ratio = |name: &str| match metric(name).and_then(|metric| metric.ratio) {
            Some(ratio) if ratio.shows_difference() => format!("{} ×", three_digits(ratio.estimate)),
            _ => "–".to_owned(),
        };
        let throughput = pair.metrics.iter().find(|metric| metric.metric.ends_with("s_per_s"));
        table.row([
            own(&pair.b),
            pair.starts.to_string(),
            cpu.map_or_else(String::new, |cpu| mean(cpu, cpu.b)),
            cpu.map_or_else(String::new, |cpu| conclusion(cpu, pair.confidence)),
            throughput.map_or_else(String::new, |metric| ratio(&metric.metric)),
            ratio(LATENCY_P99),
        ]);
    }
    let failures = pairs.iter().flat_map(|pair| {
        pair.failures.iter().map(|failure| format!("{}: failed: {failure}\n", own(&pair.b)))
    });
    format!("beside {}{shared}\n{table}\n{}", own(reference), failures.collect::<String>())
}

/// The parts of a cell's name, but for the first, that the reference and all cells beside it share: of `redis_pacing-turns`, `pacing-turns`.
fn shared_parts<'a>(reference: &'a str, pairs: &[&PairResult]) -> Vec<&'a str> {
    let has = |id: &str, part: &str| id.split('_').any(|one| one == part);
    let parts = reference.split('_').skip(1);
    parts.filter(|part| pairs.iter().all(|pair| has(&pair.b, part))).collect()
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
