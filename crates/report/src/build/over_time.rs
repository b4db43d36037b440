//! Deliveries and their latency over the time of a trial, with its stalls.

use klatch_record::{CrowdGap, Interval, Record, Role, Status, Timeline};

use super::stalls::{Stall, late_min_us, stalls};
use super::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Mark, Place, Point, Scale};
use crate::number::{three_digits, time};

/// Largest number of cells with charts.
const CELLS_MAX: usize = 4;
/// Largest number of stalls that a chart marks; the longest are preferred.
const STALLS_MAX: usize = 3;
/// The last interval ends with the run. If it is shorter than this share of the width, it has no rate.
const LAST_SHARE_MIN: f64 = 0.5;

/// The name of a percentile and its value in an interval, µs.
type Percentile = (&'static str, fn(&Interval) -> Option<f64>);

const PERCENTILES: [Percentile; 3] = [
    ("p50", |interval| interval.p50_us),
    ("p99", |interval| interval.p99_us),
    ("max", |interval| interval.max_us),
];

/// The trial that represents its cell.
struct Drawn<'a> {
    label: &'a str,
    record: &'a Record,
    timeline: &'a Timeline,
    stalls: Vec<Stall>,
    /// The choice of the trial in words, for the caption.
    selection: String,
}

pub(super) fn charts(subject: &Subject) -> Vec<Chart> {
    let cells = subject.evenly(CELLS_MAX, |place| !trials_with_timeline(subject, place).is_empty());
    let drawn: Vec<Drawn<'_>> = cells.iter().filter_map(|place| Drawn::select(subject, *place)).collect();
    let with = subject.cells().filter(|(place, _)| !trials_with_timeline(subject, *place).is_empty()).count();
    let left_out = match with > drawn.len() {
        true => format!(" {} of {with} cells are drawn.", drawn.len()),
        false => String::new(),
    };
    // A single moment is no course.
    if drawn.iter().all(|one| one.timeline.intervals.len() < 2) {
        return Vec::new();
    }
    let mut charts = vec![throughput(&drawn, &left_out)];
    charts.extend(drawn.iter().enumerate().map(|(place, one)| latency(place + 1, one)));
    charts
}

/// The trials with a timeline: the valid ones, or all if none is valid.
fn trials_with_timeline(subject: &Subject, cell: usize) -> Vec<(&Record, &Timeline)> {
    let trials = subject
        .runs_of(cell)
        .map(|run| &run.record)
        .filter(|record| record.role == Role::Trial && subject.is_of_estimate(cell, record));
    let timed: Vec<_> = trials.filter_map(|record| Some((record, record.over_time.as_ref()?))).collect();
    let good = |(record, _): &(&Record, &Timeline)| record.verdict.status == Status::Valid;
    if timed.iter().any(good) { timed.into_iter().filter(good).collect() } else { timed }
}

impl<'a> Drawn<'a> {
    /// The trial of a cell with the longest stall; the last trial if none stalled.
    fn select(subject: &'a Subject, cell: usize) -> Option<Drawn<'a>> {
        let timed = trials_with_timeline(subject, cell);
        let trials = timed.len();
        let longest = |stalls: &[Stall]| stalls.iter().map(Stall::length_s).fold(0.0, f64::max);
        let seen =
            timed.into_iter().map(|(record, timeline)| (record, timeline, of_server(record, timeline)));
        let (record, timeline, stalls) = seen.max_by(|a, b| longest(&a.2).total_cmp(&longest(&b.2)))?;
        let place = subject.runs.iter().position(|run| std::ptr::eq(&run.record, record))?;
        let which = match (trials, stalls.is_empty()) {
            (1, _) => "Of the only trial".to_owned(),
            (_, true) => format!("Of run {}, the last of {trials} trials", place + 1),
            (_, false) => format!("Of run {}, that of {trials} trials with the longest stall", place + 1),
        };
        let selection = format!("{which}; in intervals of {} ms.", timeline.interval_ms);
        Some(Drawn { label: &subject.grid.labels[cell], record, timeline, stalls, selection })
    }

    /// The times in which a crowd of the trial did not run.
    fn gaps(&self) -> impl Iterator<Item = &CrowdGap> {
        self.record.shards.iter().flat_map(|shard| &shard.gaps)
    }

    /// Middle and width of each interval, seconds. The last one ends with the run.
    fn spans(&self) -> impl Iterator<Item = (f64, f64)> {
        let width_s = self.timeline.interval_ms as f64 / 1e3;
        let end_s = self.record.score.elapsed_s;
        (0..self.timeline.intervals.len()).map(move |place| {
            let from_s = place as f64 * width_s;
            let span_s = (end_s - from_s).clamp(0.0, width_s);
            (from_s + span_s / 2.0, span_s)
        })
    }
}

/// The stalls of a run that no gap of its crowd explains.
fn of_server(record: &Record, timeline: &Timeline) -> Vec<Stall> {
    let gaps: Vec<CrowdGap> = record.shards.iter().flat_map(|shard| shard.gaps.clone()).collect();
    let width_s = timeline.interval_ms as f64 / 1e3;
    stalls(timeline).into_iter().filter(|stall| !stall.is_of_crowd(&gaps, width_s)).collect()
}

fn throughput(drawn: &[Drawn<'_>], left_out: &str) -> Chart {
    let mut points = Vec::new();
    for one in drawn {
        let width_s = one.timeline.interval_ms as f64 / 1e3;
        for (interval, (middle_s, span_s)) in one.timeline.intervals.iter().zip(one.spans()) {
            if span_s >= width_s * LAST_SHARE_MIN {
                let rate = interval.deliveries as f64 / span_s;
                let point = Point::plain(one.label, Place::At(rounded(middle_s)), rate.round());
                points.push(Point { n: Some(interval.deliveries), ..point });
            }
        }
    }
    Chart {
        id: "deliveries-over-time".to_owned(),
        title: "Deliveries over the time of a run".to_owned(),
        caption: format!(
            "From the opening of the gate to the last delivery; n is the number of deliveries. The trial of \
             each cell is that of the charts of latency below.{left_out}"
        ),
        kind: ChartKind::Lines,
        x: Axis::linear("time", "s"),
        y: Axis::linear("Deliveries", "deliveries/s"),
        points,
        marks: Vec::new(),
    }
}

fn latency(number: usize, one: &Drawn<'_>) -> Chart {
    let mut points = Vec::new();
    for (name, of) in PERCENTILES {
        for (place, (interval, (middle_s, _))) in one.timeline.intervals.iter().zip(one.spans()).enumerate() {
            let Some(us) = of(interval) else { continue };
            let stall = one.stalls.iter().find(|stall| name == "max" && stall.ends_at == place);
            let point = Point::plain(name, Place::At(rounded(middle_s)), rounded(us / 1e3));
            let detail = stall.map(|stall| format!("stall: {}", stall.describe()));
            points.push(Point { n: Some(interval.deliveries), detail, ..point });
        }
    }
    let mut longest: Vec<&Stall> = one.stalls.iter().collect();
    longest.sort_by(|a, b| b.length_s().total_cmp(&a.length_s()));
    let named = &longest[..longest.len().min(STALLS_MAX)];
    let stalls = match one.stalls.len() {
        0 => " None of the trials stalled.".to_owned(),
        1 => " It stalled once.".to_owned(),
        few @ ..=STALLS_MAX => format!(" It stalled {few} times."),
        many => format!(" It stalled {many} times; the {STALLS_MAX} longest are named."),
    };
    let mark = |stall: &&Stall| {
        let at = Some(stall.middle_s());
        Mark { label: format!("stall: {}", stall.describe()), line: [(at, None), (at, None)] }
    };
    let (gaps, crowd) = crowd_gaps(one);
    Chart {
        id: format!("latency-over-time-{number}"),
        title: format!("Latency over the time of a run: {}", one.label),
        caption: format!("{}{stalls}{crowd}", one.selection),
        kind: ChartKind::Lines,
        x: Axis::linear("time", "s"),
        y: Axis::linear("Latency", "ms").on(Scale::Log),
        points,
        marks: named.iter().map(mark).chain(gaps).collect(),
    }
}

/// The marks of the times in which the crowd did not run, the longest ones, and what the caption says of them. Those that are too short to
/// look like a stall of the server have no mark.
fn crowd_gaps(one: &Drawn<'_>) -> (Vec<Mark>, String) {
    let mut gaps: Vec<&CrowdGap> = one.gaps().collect();
    let Some(longest) = gaps.iter().max_by(|a, b| a.length_s().total_cmp(&b.length_s())) else {
        return (Vec::new(), String::new());
    };
    let sum_s: f64 = gaps.iter().map(|gap| gap.length_s()).sum();
    let times = match gaps.len() {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    let caption = format!(
        " The crowd itself did not run {times}, for {} in all and {} at most: no stall of the server.",
        time(sum_s * 1e6),
        time(longest.length_s() * 1e6)
    );
    let marked_us = late_min_us(one.timeline).unwrap_or(f64::INFINITY);
    gaps.retain(|gap| gap.length_s() * 1e6 >= marked_us);
    gaps.sort_by(|a, b| b.length_s().total_cmp(&a.length_s()));
    gaps.truncate(STALLS_MAX);
    let mark = |gap: &&CrowdGap| {
        let at = Some((gap.from_s + gap.to_s) / 2.0);
        let label = format!("the crowd did not run from {:.3} to {:.3} s", gap.from_s, gap.to_s);
        Mark { label, line: [(at, None), (at, None)] }
    };
    (gaps.iter().map(mark).collect(), caption)
}

/// Drops digits without meaning: the page contains thousands of points twice.
fn rounded(value: f64) -> f64 {
    three_digits(value * 1e3).replace(',', "").parse::<f64>().map_or(value, |shown| shown / 1e3)
}
