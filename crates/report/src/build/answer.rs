//! The answer in a sentence, with its interval: what the estimates carry, and no more.

use klatch_record::{CellResult, CellStatus, Estimate};
use klatch_stats::{Design, Interval, ratio_of_geometric_means};

use super::metrics::{CPU, Metric, looked_at};
use super::subject::Subject;
use crate::study_of_runs::CONFIDENCE;

/// The answer; why there is none, where there is none.
pub(super) fn sentence(subject: &Subject) -> String {
    if let Some(found) = of_search(subject) {
        return found;
    }
    let metric = looked_at(&subject.result.metric);
    let usable: Vec<usize> =
        subject.cells().filter(|(_, cell)| usable(cell, &metric)).map(|(at, _)| at).collect();
    match (usable.as_slice(), &subject.grid.across) {
        ([], _) => "No answer: no cell has a valid trial.".to_owned(),
        ([only], _) => alone(subject, *only, &metric),
        (several, None) => best(subject, several, &metric),
        (several, Some(_)) => {
            ends(subject, several, &metric).unwrap_or_else(|| best(subject, several, &metric))
        }
    }
}

fn usable(cell: &CellResult, metric: &Metric) -> bool {
    !matches!(cell.status, CellStatus::Failed | CellStatus::Absent)
        && cell.estimates.contains_key(metric.name)
}

fn estimate<'a>(subject: &'a Subject, cell: usize, metric: &Metric) -> &'a Estimate {
    &subject.result.cells[cell].estimates[metric.name]
}

fn alone(subject: &Subject, cell: usize, metric: &Metric) -> String {
    let label = &subject.grid.labels[cell];
    let cpu = subject.result.cells[cell].estimates.get(CPU.name).filter(|_| metric.name != CPU.name);
    let cpu = cpu.map_or(String::new(), |cpu| format!(", at {} of CPU time per message", CPU.told(cpu)));
    match metric.more_is_better {
        true => format!("{label} carries {}{cpu}.", metric.told(estimate(subject, cell, metric))),
        false => {
            format!("{label} needs {} of CPU time per message.", metric.told(estimate(subject, cell, metric)))
        }
    }
}

/// The best, and whether it is shown to be better than the next.
fn best(subject: &Subject, cells: &[usize], metric: &Metric) -> String {
    let mut sorted = cells.to_vec();
    let mean = |cell: &usize| estimate(subject, *cell, metric).mean;
    sorted.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    if metric.more_is_better {
        sorted.reverse();
    }
    // Servers that put deliveries together play another game: the best is told of each class.
    let of_class = |class| {
        let here: Vec<usize> =
            sorted.iter().copied().filter(|cell| subject.class_of(*cell) == class).collect();
        here
    };
    let classes = match subject.is_mixed() {
        true => vec![
            ("Of the class classic, ", of_class(Some(klatch_record::Class::Classic))),
            ("Of the class open, ", of_class(Some(klatch_record::Class::Open))),
        ],
        false => vec![("", sorted)],
    };
    let told = classes.iter().filter(|(_, cells)| !cells.is_empty()).map(|(start, cells)| {
        let text = of_sorted(subject, cells, metric);
        format!("{start}{text}")
    });
    told.collect::<Vec<_>>().join(" ")
}

fn of_sorted(subject: &Subject, sorted: &[usize], metric: &Metric) -> String {
    let label = |cell: usize| subject.grid.labels[cell].as_str();
    let first = sorted[0];
    let does =
        if metric.more_is_better { "carries the most" } else { "needs the least CPU time per message" };
    let start = format!("{} {does}: {}", label(first), metric.told(estimate(subject, first, metric)));
    let Some(&second) = sorted.get(1) else { return start + "." };
    let last = sorted[sorted.len() - 1];
    let against = |other: usize| ratio(subject, other, first, metric);
    match against(second) {
        Some(interval) if !interval.contains(1.0) => {
            format!("{start}, {} that of {}.", times(&interval), label(second))
        }
        Some(_) if last != second => match against(last).filter(|interval| !interval.contains(1.0)) {
            Some(interval) => format!(
                "{start}; no difference to {} can be shown, and it is {} that of {}.",
                label(second),
                times(&interval),
                label(last)
            ),
            None => format!("{start}; no difference among the {} can be shown.", sorted.len()),
        },
        Some(_) => format!("{start}; no difference to {} can be shown.", label(second)),
        None => {
            format!("{start}; whether it differs from {} cannot be told from so few trials.", label(second))
        }
    }
}

/// From one end of the axis to the other: that series which changes most.
fn ends(subject: &Subject, cells: &[usize], metric: &Metric) -> Option<String> {
    let across = subject.grid.across.as_ref()?;
    let series = subject.grid.all_series();
    fn same<'a, T>(of: impl Fn(&'a str) -> T) -> impl Fn(&'a str) -> T {
        of
    }
    let of_series = same(|series| {
        let mut here: Vec<(f64, usize)> = cells
            .iter()
            .filter(|cell| subject.grid.series[**cell] == series)
            .filter_map(|cell| Some((across.values[*cell]?, *cell)))
            .collect();
        here.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (&(from_at, from), &(to_at, to)) = (here.first()?, here.last()?);
        (from_at < to_at).then_some((series, from_at, from, to_at, to))
    });
    let changes: Vec<_> = series.into_iter().filter_map(of_series).collect();
    let sentence = |&(series, from_at, from, to_at, to): &(&str, f64, usize, f64, usize)| {
        let (a, b) = (estimate(subject, from, metric).mean, estimate(subject, to, metric).mean);
        let does = if b < a { "falls" } else { "rises" };
        let interval = ratio(subject, from, to, metric);
        let how = match interval {
            Some(interval) if interval.contains(1.0) => "does not change by what could be shown".to_owned(),
            Some(interval) if across.name == "cpus" => format!("becomes {} as much", times(&interval)),
            Some(interval) => {
                let (one, other) = ((interval.low - 1.0).abs(), (interval.high - 1.0).abs());
                let percent = |part: f64| format!("{:.0}", part * 100.0);
                format!(
                    "{does} by {} % ({}–{} %)",
                    percent((interval.estimate - 1.0).abs()),
                    percent(one.min(other)),
                    percent(one.max(other))
                )
            }
            None => format!("{does} by {:.0} %", (b / a - 1.0).abs() * 100.0),
        };
        let name = metric.title.to_lowercase().replace("cpu", "CPU");
        let of = if series.is_empty() { String::new() } else { format!(" of {series}") };
        let from_to = format!("{} to {} {}", trimmed(from_at), trimmed(to_at), across.axis.label);
        (((b / a).ln().abs()), format!("from {from_to} the {name}{of} {how}"))
    };
    let mut told: Vec<(f64, String)> = changes.iter().map(sentence).collect();
    told.sort_by(|a, b| b.0.total_cmp(&a.0));
    let parts = match told.as_slice() {
        [] => return None,
        [only] => only.1.clone(),
        [most, .., least] => format!("{}; {}", most.1, least.1),
    };
    let mut letters = parts.chars();
    let first = letters.next()?.to_uppercase();
    Some(format!("{first}{}.", letters.as_str()))
}

fn of_search(subject: &Subject) -> Option<String> {
    let searches = subject.cells().filter_map(|(at, cell)| Some((at, cell.search.as_ref()?)));
    let mut sorted: Vec<_> = searches.collect();
    sorted.sort_by(|a, b| b.1.found.unwrap_or(0.0).total_cmp(&a.1.found.unwrap_or(0.0)));
    let told: Vec<String> = sorted
        .iter()
        .take(4)
        .map(|(at, search)| match search.found {
            Some(found) => format!("{} holds {} {}", subject.grid.labels[*at], trimmed(found), search.axis),
            None => format!("{} does not hold even the first step", subject.grid.labels[*at]),
        })
        .collect();
    (!told.is_empty()).then(|| told.join("; ") + ". One visit a step: no interval is told.")
}

fn ratio(subject: &Subject, a: usize, b: usize, metric: &Metric) -> Option<Interval> {
    let (a, b) = (estimate(subject, a, metric), estimate(subject, b, metric));
    // Where trials were picked, no interval is told.
    a.low.zip(b.low)?;
    Some(ratio_of_geometric_means(&a.values, &b.values, Design::Unpaired, CONFIDENCE).ok()?.interval)
}

/// `1.32 × (1.27–1.38)`
fn times(interval: &Interval) -> String {
    format!("{:.2} × ({:.2}–{:.2})", interval.estimate, interval.low, interval.high)
}

fn trimmed(value: f64) -> String {
    if value.fract() == 0.0 { crate::number::grouped(value as u64) } else { format!("{value:.2}") }
}
