//! The report of a duet: pairs over time, how the estimate settled, and the distribution of the ratios.

use std::path::Path;

use klatch_record::{
    Duet, DuetEnd, DuetMetric, MESSAGES_PER_S, Metric, PairResult, RatioEstimate, SERVER_CPU, SlicePair,
};
use klatch_stats::{Design, Ratio, ratio_of_geometric_means};

use super::commands::{fixed, shell_line};
use crate::difference::{Sides, distinct, noun, sentence};
use crate::duet::{conclusion, method, notes, scatter, sides, title};
use crate::model::{
    Axis, Chart, ChartKind, Command, Fact, Mark, Number, Place, Point, REPORT_SCHEMA_NAME, RatioRow,
    RatioTable, Report, Section, Standing, Verdict,
};
use crate::number::about;
use crate::requirement::judged_duet;

/// What the classes of servers are, where an answer compares both.
const CLASSES: &str = "Servers of class classic make one write for each delivery; those of class open may put deliveries together, so they \
    do less work.";

/// With fewer starts an interval over them is too wide to be drawn.
const STARTS_MIN: usize = 3;
/// Number of columns on each side of the middle of the distribution.
const COLUMNS: i32 = 12;

/// The metrics that are drawn, in the order of preference.
const DRAWN: [&str; 2] = [SERVER_CPU, MESSAGES_PER_S];

/// The report of a duet that was read from `path`.
pub fn duet_report(path: &Path, duet: &Duet) -> Report {
    let drawn = drawn(duet);
    let pairs = drawn.map(|metric| section(duet, metric));
    let why = super::why::section(path, duet).into_iter().chain(super::exact::section(duet));
    let sections = why.chain(pairs).collect();
    let side = |name: &str| fixed(path).join(name).display().to_string();
    Report {
        schema: REPORT_SCHEMA_NAME.to_owned(),
        title: title(duet),
        question: format!("How does {} compare with {}, slice by slice?", duet.b.name, duet.a.name),
        answer: answer(duet),
        verdict: verdict(duet),
        requirements: judged_duet(duet),
        warnings: Vec::new(),
        cells: Vec::new(),
        percentiles: Vec::new(),
        axes: Vec::new(),
        ratios: vec![table(duet)],
        sections,
        rules: vec![
            "In each pair of slices both sides run once, in random order, while the other is paused without messages in flight. The \
             ratio of a start is the geometric mean of the ratios of its pairs. With three or more starts the 95 % interval is over \
             the starts, else over batches of pairs."
                .to_owned(),
            scatter(duet),
        ],
        runs: Vec::new(),
        environments: vec![duet.started_at.replace('T', " ")],
        facts: facts(duet),
        commands: vec![Command {
            what: "the records of both sides as an ordinary comparison".to_owned(),
            line: shell_line(&["klatch".to_owned(), "compare".to_owned(), side("a"), side("b")]),
        }],
        instruments: Vec::new(),
        footnotes: Vec::new(),
        sources: vec![path.display().to_string()],
        klatch: Some(duet.klatch.clone()),
        started_at: Some(duet.started_at.clone()),
        ended_at: None,
    }
}

/// The answer of the report of a duet.
pub(crate) fn duet_answer(duet: &Duet) -> String {
    answer(duet)
}

/// The first metric of [`DRAWN`] that the slices have.
fn drawn(duet: &Duet) -> Option<&'static Metric> {
    DRAWN.into_iter().filter_map(Metric::named).find(|metric| {
        let first = duet.starts.iter().flat_map(|start| &start.pairs).next();
        first.is_some_and(|pair| ratio(metric, pair).is_some())
    })
}

/// The ratio B / A of a pair.
fn ratio(metric: &Metric, pair: &SlicePair) -> Option<f64> {
    Some(metric.of_slice(&pair.b)? / metric.of_slice(&pair.a)?)
}

fn metric_of<'a>(duet: &'a Duet, name: &str) -> Option<&'a DuetMetric> {
    duet.metrics.iter().find(|metric| metric.metric == name)
}

fn answer(duet: &Duet) -> String {
    let compared = |name: &str| {
        let metric = metric_of(duet, name)?;
        Some((metric, metric.ratio?))
    };
    let Some((metric, ratio)) = DRAWN.into_iter().find_map(compared) else {
        return "No answer: there are too few pairs.".to_owned();
    };
    capital(sentence(&metric.metric, &ratio, duet.confidence, sides(duet)) + ".")
}

/// A sentence about no side begins with a capital letter; the name of a side stays as it is.
fn capital(mut sentence: String) -> String {
    if sentence.starts_with("no ") {
        sentence[..1].make_ascii_uppercase();
    }
    sentence
}

fn verdict(duet: &Duet) -> Verdict {
    let (standing, text) = match &duet.end {
        DuetEnd::Complete => (Standing::Valid, method(duet)),
        DuetEnd::Hopeless { needed_s } => {
            let needed = about(*needed_s);
            (Standing::Wide, format!("{}; the width that was asked for takes {needed}", method(duet)))
        }
        DuetEnd::Interrupted => (Standing::Partly, format!("interrupted; {}", method(duet))),
        DuetEnd::Failed { side, reasons } => {
            (Standing::Partly, format!("{} failed: {reasons}", duet.side(*side).name))
        }
    };
    let standing = if duet.starts.is_empty() { Standing::Nothing } else { standing };
    Verdict { standing, text }
}

fn table(duet: &Duet) -> RatioTable {
    RatioTable {
        cell: String::new(),
        a: duet.a.name.clone(),
        b: duet.b.name.clone(),
        method: method(duet),
        rows: rows(&duet.metrics, duet.confidence, sides(duet).unit),
        center: "mean".to_owned(),
        caveats: notes(duet),
    }
}

/// The table of one cell and its reference in a study of duets.
pub(super) fn pair_table(pair: &PairResult, unit: &str) -> RatioTable {
    RatioTable {
        cell: String::new(),
        a: pair.a.clone(),
        b: pair.b.clone(),
        method: format!(
            "geometric mean of the ratios of {} pairs of slices in {} starts",
            pair.slices, pair.starts
        ),
        rows: rows(&pair.metrics, pair.confidence, unit),
        center: "mean".to_owned(),
        caveats: pair.failures.clone(),
    }
}

/// For each reference of a study of duets, the cell of each class that needs the least CPU time of the server; `unit` is that of the work,
/// and `class_of` the class of a cell as a word, empty unless servers of both classes are compared.
pub(super) fn pairs_answer(
    pairs: &[PairResult],
    unit: &str,
    class_of: impl Fn(&str) -> &'static str,
) -> Option<String> {
    let cpu = |pair: &PairResult| {
        let metric = pair.metrics.iter().find(|metric| metric.metric == SERVER_CPU)?;
        Some((pair.b.clone(), pair.a.clone(), metric.ratio?, pair.confidence))
    };
    let all: Vec<_> = pairs.iter().filter_map(cpu).collect();
    let shown: Vec<_> = all.iter().filter(|(_, _, ratio, _)| ratio.shows_difference()).collect();
    if shown.is_empty() {
        let text = || format!("No difference can be shown in the server's CPU time per {unit}.");
        return (!all.is_empty()).then(text);
    }
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for (b, a, ..) in &shown {
        let group = (a.as_str(), class_of(b));
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let least = |(a, class): &(&str, &str)| {
        let of_group = shown.iter().filter(|(b, base, ..)| base == a && class_of(b) == *class);
        let (b, a, ratio, confidence) = of_group.min_by(|x, y| x.2.estimate.total_cmp(&y.2.estimate))?;
        let class = if class.is_empty() { String::new() } else { format!("of class {class}, ") };
        Some(format!("{class}{}", sentence(SERVER_CPU, ratio, *confidence, Sides { a, b, unit })))
    };
    let leasts: Vec<String> = groups.iter().filter_map(least).collect();
    let is_mixed = groups.iter().any(|(_, class)| !class.is_empty());
    let each = if leasts.len() < shown.len() { "; the least: " } else { ": " };
    Some(format!(
        "In {} of {} pairs the server's CPU time per {unit} differs{each}{}.{}",
        shown.len(),
        all.len(),
        leasts.join("; "),
        if is_mixed { format!(" {CLASSES}") } else { String::new() }
    ))
}

fn rows(metrics: &[DuetMetric], confidence: f64, unit: &str) -> Vec<RatioRow> {
    let number = |ratio: &RatioEstimate| Number { value: ratio.estimate, low: ratio.low, high: ratio.high };
    let row = |metric: &DuetMetric| RatioRow {
        metric: metric.metric.clone(),
        name: noun(&metric.metric, unit),
        a: metric.a,
        b: metric.b,
        ratio: metric.ratio.as_ref().map(number),
        conclusion: conclusion(metric, confidence),
    };
    metrics.iter().map(row).collect()
}

fn facts(duet: &Duet) -> Vec<Fact> {
    let fact =
        |name: &str, value: String| Fact { name: name.to_owned(), values: vec![value], differs: false };
    let workload = &duet.workload;
    let described = match workload.chat() {
        Some(chat) => format!("{} rooms of {} users", chat.rooms, chat.users),
        None => format!("{} connections", workload.connections()),
    };
    vec![
        fact(&duet.a.name, format!("{}, crowd {}", duet.a.platform, duet.a.crowd)),
        fact(&duet.b.name, format!("{}, crowd {}", duet.b.platform, duet.b.crowd)),
        fact("workload", described),
        fact("slice", format!("{:.0} ms", duet.slice_ms)),
        fact("seed", duet.seed.to_string()),
    ]
}

fn section(duet: &Duet, metric: &Metric) -> Section {
    let charts = [pairs_chart(duet, metric), running_chart(duet, metric), distribution_chart(duet, metric)];
    Section {
        id: "pairs".to_owned(),
        title: format!("{}: {}", axis_label(duet), noun(metric.name, sides(duet).unit)),
        lead: None,
        charts: charts.into_iter().filter(|chart| !chart.points.is_empty()).collect(),
        tables: Vec::new(),
        flames: Vec::new(),
    }
}

/// The ratio, by the names of the sides.
fn axis_label(duet: &Duet) -> String {
    let [a, b] = distinct([&duet.a.name, &duet.b.name]);
    format!("{b} / {a}")
}

fn ratio_axis(duet: &Duet) -> Axis {
    Axis::linear(&axis_label(duet), "")
}

/// The line at which both sides are equal.
fn equal() -> Mark {
    Mark { label: "both are equal".to_owned(), line: [(None, Some(1.0)), (None, Some(1.0))] }
}

fn pairs_chart(duet: &Duet, metric: &Metric) -> Chart {
    let mut points = Vec::new();
    for start in &duet.starts {
        for pair in &start.pairs {
            let series = format!("start {}", start.number);
            points
                .extend(ratio(metric, pair).map(|ratio| Point::plain(&series, Place::At(pair.at_s), ratio)));
        }
    }
    // Readers cannot distinguish more than a few series by colour.
    if duet.starts.len() > 6 {
        points.iter_mut().for_each(|point| "pair".clone_into(&mut point.series));
    }
    Chart {
        id: "pairs-over-time".to_owned(),
        title: "Every pair".to_owned(),
        caption: format!(
            "The ratio of each pair of slices, {}, over the time of the duet.",
            noun(metric.name, sides(duet).unit)
        ),
        kind: ChartKind::Dots,
        x: Axis::linear("time", "s"),
        y: ratio_axis(duet),
        points,
        marks: vec![equal()],
    }
}

/// How the estimate and its interval settle as starts are added.
fn running_chart(duet: &Duet, metric: &Metric) -> Chart {
    let starts = metric_of(duet, metric.name).map(|metric| metric.starts.as_slice()).unwrap_or_default();
    let running = |count: usize| {
        let ones = vec![1.0; count];
        let Ratio { interval, .. } =
            ratio_of_geometric_means(&ones, &starts[..count].to_vec(), Design::Paired, duet.confidence)
                .ok()?;
        let point = Point::plain("all starts so far", Place::At(count as f64), interval.estimate);
        Some(Point { low: Some(interval.low), high: Some(interval.high), n: Some(count as u64), ..point })
    };
    let each = starts
        .iter()
        .zip(1..)
        .map(|(ratio, number)| Point::plain("each start", Place::At(f64::from(number)), *ratio));
    let mut points: Vec<Point> = (STARTS_MIN..=starts.len()).filter_map(running).collect();
    if !points.is_empty() {
        points.extend(each);
    }
    Chart {
        id: "running-estimate".to_owned(),
        title: "How the estimate settled".to_owned(),
        caption: format!(
            "The ratio of each start, and the estimate of all starts so far with its {:.0} % interval.",
            duet.confidence * 100.0
        ),
        kind: ChartKind::Dots,
        x: Axis::linear("starts", ""),
        y: ratio_axis(duet),
        points,
        marks: vec![equal()],
    }
}

fn distribution_chart(duet: &Duet, metric: &Metric) -> Chart {
    let pairs = duet.starts.iter().flat_map(|start| &start.pairs);
    let ratios: Vec<f64> = pairs.filter_map(|pair| ratio(metric, pair)).collect();
    let (center, step) = width(&ratios);
    let column = |ratio: f64| (((ratio - center) / step).round() as i32).clamp(-COLUMNS, COLUMNS);
    let points = (-COLUMNS..=COLUMNS).map(|place| {
        let count = ratios.iter().filter(|ratio| column(**ratio) == place).count();
        Point::plain("pairs", Place::At(center + (f64::from(place) - 0.5) * step), count as f64)
    });
    Chart {
        id: "distribution".to_owned(),
        title: "Distribution of the ratios".to_owned(),
        caption: format!(
            "How many pairs have which ratio, {}. The first and last column contain all that are farther out.",
            noun(metric.name, sides(duet).unit)
        ),
        kind: ChartKind::Columns,
        x: ratio_axis(duet),
        y: Axis::linear("pairs", ""),
        points: if ratios.is_empty() { Vec::new() } else { points.collect() },
        marks: Vec::new(),
    }
}

/// The middle of a distribution, and the width of a column: a quarter of the standard deviation.
fn width(ratios: &[f64]) -> (f64, f64) {
    let count = ratios.len().max(1) as f64;
    let center = ratios.iter().sum::<f64>() / count;
    let variance = ratios.iter().map(|ratio| (ratio - center).powi(2)).sum::<f64>() / count;
    (center, (variance.sqrt() / 4.0).max(1e-4))
}
