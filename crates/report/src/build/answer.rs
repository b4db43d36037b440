//! The answer of the report: one sentence with its interval.

use klatch_record::{
    CellResult, CellStatus, Estimate, MESSAGES_PER_S, Metric, SearchResult, Warning, WarningKind, Workload,
};
use klatch_stats::{Design, Interval, Sample, ratio_of_geometric_means};

use super::search::in_axis;
use super::subject::Subject;
use crate::metric::{ShownMetric, study_metric, throughput_and_cpu};
use crate::model::DISTURBED;
use crate::study_of_runs::CONFIDENCE;

/// The answer, or the reason why the data give none.
pub(super) fn sentence(subject: &Subject) -> String {
    if let Some(answer) = search_answer(subject) {
        return answer;
    }
    let metric = metric_of(subject);
    let usable: Vec<usize> =
        subject.cells().filter(|(_, cell)| usable(cell, metric)).map(|(at, _)| at).collect();
    match (usable.as_slice(), &subject.grid.across) {
        ([], _) => "No answer: there is no valid trial.".to_owned(),
        ([only], _) => match undisturbed(subject, &[*only], metric) {
            Some(cpu) => format!("{DISTURBED} {}", alone(subject, *only, cpu)),
            None => alone(subject, *only, metric),
        },
        (several, None) => match undisturbed(subject, several, metric) {
            Some(cpu) => format!("{DISTURBED} {}", best(subject, several, cpu)),
            None => best(subject, several, metric),
        },
        (several, Some(across)) => {
            // CPU time does not say how many CPUs are worth it.
            let cpu = undisturbed(subject, several, metric).filter(|_| across.name != "cpus");
            let by_cpu = cpu.and_then(|cpu| Some(format!("{DISTURBED} {}", ends(subject, several, cpu)?)));
            by_cpu
                .or_else(|| falls(subject, several, metric))
                .or_else(|| ends(subject, several, metric))
                .unwrap_or_else(|| best(subject, several, metric))
        }
    }
}

/// The metric that decides: that of the study, and of runs the throughput in the unit of their workload.
fn metric_of(subject: &Subject) -> &'static Metric {
    match study_metric(&subject.result.metric) {
        metric if metric.name == MESSAGES_PER_S => throughput_and_cpu(&subject.result)[0],
        metric => metric,
    }
}

/// The best cell and the next of a source, if the answer cannot say which of them is better; `None` if it can, or is about something else.
pub(super) fn undecided(subject: &Subject) -> Option<(usize, usize)> {
    if subject.grid.across.is_some() || search_answer(subject).is_some() {
        return None;
    }
    let metric = metric_of(subject);
    let cells: Vec<usize> =
        subject.cells().filter(|(_, cell)| usable(cell, metric)).map(|(at, _)| at).collect();
    let metric = undisturbed(subject, &cells, metric).unwrap_or(metric);
    let (_, sorted) = classes(subject, &cells, metric).into_iter().next()?;
    let &[first, second, ..] = sorted.as_slice() else { return None };
    let shown = lead(subject, &sorted, metric).is_some_and(|best| !best.ratio.contains(1.0));
    (!shown).then_some((first, second))
}

/// CPU time in place of a throughput that other programs or the hypervisor disturbed; `None` if nobody did, or if a cell has none.
fn undisturbed(subject: &Subject, cells: &[usize], metric: &Metric) -> Option<&'static Metric> {
    let disturbs = |warning: &Warning| matches!(warning.kind, WarningKind::MachineBusy | WarningKind::Steal);
    let of_cells = subject.result.cells.iter().flat_map(|cell| &cell.warnings);
    let of_runs = subject.runs.iter().flat_map(|run| &run.record.warnings);
    let disturbed = of_cells.chain(of_runs).any(disturbs);
    let [_, cpu] = throughput_and_cpu(&subject.result);
    let all_have = cells.iter().all(|&cell| usable(&subject.result.cells[cell], cpu));
    (metric.more_is_better() && disturbed && all_have).then_some(cpu)
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
    let [_, cpu_metric] = throughput_and_cpu(&subject.result);
    let title = &cpu_metric.title;
    let cpu = subject.result.cells[cell].estimates.get(cpu_metric.name).filter(|_| metric.more_is_better());
    let cpu = cpu.map_or(String::new(), |cpu| format!(", at {} of {title}", cpu_metric.with_interval(cpu)));
    match metric.more_is_better() {
        true => format!("{label} carries {}{cpu}.", metric.with_interval(estimate(subject, cell, metric))),
        false => {
            format!("{label} needs {} of {title}.", metric.with_interval(estimate(subject, cell, metric)))
        }
    }
}

/// Names the best cell and whether its lead is significant, at a confidence that holds for all pairs together.
fn best(subject: &Subject, cells: &[usize], metric: &Metric) -> String {
    let sentences = classes(subject, cells, metric).into_iter().map(|(start, cells)| {
        let text = best_of_sorted(subject, &cells, metric);
        format!("{start}{text}")
    });
    sentences.collect::<Vec<_>>().join(" ")
}

/// The cells of each class, the best first, with the beginning of the sentence about them.
fn classes(subject: &Subject, cells: &[usize], metric: &Metric) -> Vec<(&'static str, Vec<usize>)> {
    let mut sorted = cells.to_vec();
    let mean = |cell: &usize| estimate(subject, *cell, metric).mean;
    sorted.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    if metric.more_is_better() {
        sorted.reverse();
    }
    // An open server batches deliveries and so does less work per message: each class has its own best.
    let of_class = |class| {
        let members: Vec<usize> =
            sorted.iter().copied().filter(|cell| subject.class_of(*cell) == class).collect();
        members
    };
    let mut classes = match subject.is_mixed() {
        true => vec![
            (
                "Of the servers of class classic (one write for each delivery), ",
                of_class(Some(klatch_record::Class::Classic)),
            ),
            (
                "Of those of class open (deliveries may share a write), ",
                of_class(Some(klatch_record::Class::Open)),
            ),
        ],
        false => vec![("", sorted)],
    };
    classes.retain(|(_, cells)| !cells.is_empty());
    classes
}

/// The lead of the best of these cells. `None` if trials that were selected by their values, or too few of them, allow no interval.
fn lead(subject: &Subject, sorted: &[usize], metric: &Metric) -> Option<klatch_stats::Best> {
    let picked = sorted.iter().any(|&cell| estimate(subject, cell, metric).low.is_none());
    let samples: Vec<Sample<'_>> =
        sorted.iter().map(|&cell| subject.sample(cell, estimate(subject, cell, metric))).collect();
    klatch_stats::best(&samples, metric.more_is_better(), CONFIDENCE).ok().filter(|_| !picked)
}

fn best_of_sorted(subject: &Subject, sorted: &[usize], metric: &Metric) -> String {
    let label = |place: usize| subject.grid.labels[sorted[place]].as_str();
    let does = match metric.more_is_better() {
        true => "carries the most".to_owned(),
        false => format!("needs the least {}", metric.title),
    };
    let start =
        format!("{} {does}: {}", label(0), metric.with_interval(estimate(subject, sorted[0], metric)));
    if sorted.len() == 1 {
        return start + ".";
    }
    let Some(best) = lead(subject, sorted, metric) else {
        return format!(
            "{start}; whether it differs from {} cannot be determined from so few trials.",
            label(1)
        );
    };
    let level = match sorted.len() {
        2 => String::new(),
        many => format!(" ({:.0} % for all {} pairs together)", CONFIDENCE * 100.0, many * (many - 1) / 2),
    };
    if !best.ratio.contains(1.0) {
        return format!("{start}, {} that of {}{level}.", times(&best.ratio), label(1));
    }
    // Geometric means may order the cells differently than means do.
    let alike: Vec<&str> = (0..sorted.len()).filter(|&at| at != 0 && !best.worse[at]).map(label).collect();
    match alike.as_slice() {
        [] => format!("{start}; no difference to {} can be shown{level}.", label(1)),
        all if all.len() + 1 == sorted.len() => match all {
            [only] => format!("{start}; no difference to {only} can be shown{level}."),
            _ => format!("{start}; no difference among the {} can be shown{level}.", sorted.len()),
        },
        some => format!(
            "{start}; no difference to {} can be shown, and the others are behind{level}.",
            some.join(", ")
        ),
    }
}

/// Names the series in which the most CPUs carry less than fewer do, and the series that carries most with them. `None` without such a
/// series, and for other axes.
fn falls(subject: &Subject, cells: &[usize], metric: &Metric) -> Option<String> {
    let across =
        subject.grid.across.as_ref().filter(|across| across.name == "cpus" && metric.more_is_better())?;
    let mean = |cell: usize| estimate(subject, cell, metric).mean;
    // The peak is selected, so the intervals must hold for all cells together (Bonferroni).
    let confidence = 1.0 - (1.0 - CONFIDENCE) / cells.len() as f64;
    let (mut parts, mut lasts) = (Vec::new(), Vec::new());
    for series in subject.grid.all_series() {
        let of_series = cells.iter().copied().filter(|&cell| subject.grid.series[cell] == series);
        let mut along: Vec<(f64, usize)> =
            of_series.filter_map(|cell| Some((across.values[cell]?, cell))).collect();
        along.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(&(last_at, last)) = along.last() else { continue };
        lasts.push((series, last_at, last));
        let peak = along.iter().max_by(|a, b| mean(a.1).total_cmp(&mean(b.1)));
        let Some(&(peak_at, peak)) = peak.filter(|(_, cell)| *cell != last) else { continue };
        let Some(ratio) = ratio(subject, peak, last, metric, confidence).filter(|ratio| ratio.high < 1.0)
        else {
            continue;
        };
        let under = if series.is_empty() { String::new() } else { format!(" under {series}") };
        parts.push(format!(
            "{} CPUs carry less than {}{under}: {} against {}, {}",
            trimmed(last_at),
            trimmed(peak_at),
            metric.show(mean(last)),
            metric.show(mean(peak)),
            times(&ratio)
        ));
    }
    let most = lasts.iter().max_by(|a, b| mean(a.2).total_cmp(&mean(b.2))).filter(|_| lasts.len() > 1);
    let most = most.map_or(String::new(), |(series, at, cell)| {
        format!(" {series} carries the most with {} CPUs: {}.", trimmed(*at), metric.show(mean(*cell)))
    });
    (!parts.is_empty()).then(|| {
        let level = format!(" ({:.0} % for all cells together)", CONFIDENCE * 100.0);
        let most = uppercase_first(most.trim_start());
        format!("{}{level}. {most}", parts.join("; ")).trim_end().to_owned()
    })
}

/// The text with a capital letter.
fn uppercase_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Describes the change from one end of the axis to the other, for the series with the largest and the smallest change.
fn ends(subject: &Subject, cells: &[usize], metric: &Metric) -> Option<String> {
    let across = subject.grid.across.as_ref()?;
    let series = subject.grid.all_series();
    fn same<'a, T>(of: impl Fn(&'a str) -> T) -> impl Fn(&'a str) -> T {
        of
    }
    let of_series = same(|series| {
        let mut along: Vec<(f64, usize)> = cells
            .iter()
            .filter(|cell| subject.grid.series[**cell] == series)
            .filter_map(|cell| Some((across.values[*cell]?, *cell)))
            .collect();
        along.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (&(from_at, from), &(to_at, to)) = (along.first()?, along.last()?);
        (from_at < to_at).then_some((series, from_at, from, to_at, to))
    });
    let changes: Vec<_> = series.into_iter().filter_map(of_series).collect();
    // The largest and the smallest are selected from all series, so their intervals must hold together (Bonferroni).
    let confidence = 1.0 - (1.0 - CONFIDENCE) / changes.len().max(1) as f64;
    let sentence = |&(series, from_at, from, to_at, to): &(&str, f64, usize, f64, usize)| {
        let (a, b) = (estimate(subject, from, metric).mean, estimate(subject, to, metric).mean);
        let does = if b < a { "falls" } else { "rises" };
        let interval = ratio(subject, from, to, metric, confidence);
        let name = metric.title;
        let of = if series.is_empty() { String::new() } else { format!(" of {series}") };
        let from_to = format!("from {} to {} {}", trimmed(from_at), trimmed(to_at), across.axis.label);
        let how = match interval {
            Some(interval) if interval.contains(1.0) => {
                return ((b / a).ln().abs(), format!("{from_to} no change of the {name}{of} can be shown"));
            }
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
        ((b / a).ln().abs(), format!("{from_to} the {name}{of} {how}"))
    };
    let mut sentences: Vec<(f64, String)> = changes.iter().map(sentence).collect();
    sentences.sort_by(|a, b| b.0.total_cmp(&a.0));
    let parts = match sentences.as_slice() {
        [] => return None,
        [only] => only.1.clone(),
        [most, .., least] => format!(
            "{}; {} ({:.0} % for {} together)",
            most.1,
            least.1,
            CONFIDENCE * 100.0,
            if sentences.len() == 2 {
                "both series".to_owned()
            } else {
                format!("all {} series", sentences.len())
            }
        ),
    };
    Some(uppercase_first(&parts) + ".")
}

fn search_answer(subject: &Subject) -> Option<String> {
    let searches = subject.cells().filter_map(|(at, cell)| Some((at, cell.search.as_ref()?)));
    let mut sorted: Vec<_> = searches.collect();
    sorted.sort_by(|a, b| b.1.value.unwrap_or(0.0).total_cmp(&a.1.value.unwrap_or(0.0)));
    let sentences: Vec<String> = sorted
        .iter()
        .take(4)
        .map(|(at, search)| {
            let label = &subject.grid.labels[*at];
            let users = users_in(subject, *at, search);
            match (search.value, search.low.zip(search.high)) {
                (Some(limit), Some((low, high))) => format!(
                    "{label} holds {} {} ({}–{})",
                    in_axis(limit),
                    search.axis,
                    in_axis(low),
                    in_axis(high)
                ),
                (Some(limit), None) if search.ended_at_maximum() => format!(
                    "{label} holds at least {} {}{users}; the search ended there, so raise {}",
                    in_axis(limit),
                    search.axis,
                    search.key_of_maximum()
                ),
                (Some(limit), None) => format!("{label} holds {} {}{users}", in_axis(limit), search.axis),
                (None, _) => {
                    let cause = search.cause.as_deref().unwrap_or("nothing was tried");
                    format!("{label} does not hold even the first step: {cause}")
                }
            }
        })
        .collect();
    let one_pass = sorted.iter().all(|(_, search)| search.low.is_none());
    let end = if one_pass { ". One pass: there is no interval." } else { "." };
    (!sentences.is_empty()).then(|| sentences.join("; ") + end)
}

/// The users of so many rooms in parentheses; empty for other axes.
fn users_in(subject: &Subject, at: usize, search: &SearchResult) -> String {
    let per_room = subject.runs_of(at).find_map(|run| match &run.record.workload {
        Workload::Chat(chat) if search.axis == "rooms" => Some(f64::from(chat.users)),
        _ => None,
    });
    let users =
        per_room.zip(search.value).map(|(per_room, rooms)| crate::number::grouped((per_room * rooms) as u64));
    users.map_or_else(String::new, |users| format!(" ({users} users)"))
}

fn ratio(subject: &Subject, a: usize, b: usize, metric: &Metric, confidence: f64) -> Option<Interval> {
    let (a_estimate, b_estimate) = (estimate(subject, a, metric), estimate(subject, b, metric));
    // Trials that were selected by their values allow no interval.
    a_estimate.low.zip(b_estimate.low)?;
    let (a, b) = (subject.sample(a, a_estimate), subject.sample(b, b_estimate));
    Some(ratio_of_geometric_means(a, b, Design::Unpaired, confidence).ok()?.interval)
}

/// Formats a ratio with its interval as `1.32 × (1.27–1.38)`.
fn times(interval: &Interval) -> String {
    format!("{:.2} × ({:.2}–{:.2})", interval.estimate, interval.low, interval.high)
}

fn trimmed(value: f64) -> String {
    if value.fract() == 0.0 { crate::number::grouped(value as u64) } else { format!("{value:.2}") }
}
