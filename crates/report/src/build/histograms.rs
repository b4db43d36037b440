//! Latencies in the formats of other tools: HdrHistogram's interval log and percentiles, and intervals of time as CSV.

use std::fmt::Write;

use hdrhistogram::Histogram;
use jiff::Timestamp;
use klatch_record::{Latency, LatencyError, Record, StageScore};
use thiserror::Error;

use super::subject::Subject;
use crate::read::Source;

/// Lines for each half of the distance to 100 %, as HdrHistogram has by default.
const TICKS_PER_HALF: u32 = 5;

/// Why there is no such file.
#[derive(Debug, Error)]
pub enum HistogramError {
    /// No valid trial has a latency.
    #[error("there is no valid trial with latencies")]
    None,
    /// One distribution was to be made of what differs.
    #[error("a distribution is of one cell, and there are several: {0}; name a folder or records of one")]
    Several(String),
    /// A histogram in a record is broken.
    #[error(transparent)]
    Latency(#[from] LatencyError),
}

/// A latency of a trial with the tag that says of what.
fn tagged<'a>(cell: Option<&str>, record: &'a Record) -> Vec<(String, &'a Latency)> {
    let tag = |what: &str| {
        let whole = cell.map_or_else(|| what.to_owned(), |cell| format!("{cell}/{what}"));
        // A tag ends at a comma, a blank or a line feed.
        whole.replace(|letter: char| letter == ',' || letter.is_whitespace(), "_")
    };
    let kinds: Vec<_> = record.results.kinds().iter().map(|kind| (tag(&kind.name), &kind.latency)).collect();
    let stages = record.stages.iter().flat_map(|scores| &scores.stages);
    let of_stage =
        |stage: &'a StageScore| Some((tag(&format!("stage-{}", stage.number)), stage.latency.as_ref()?));
    match kinds.is_empty() {
        true if record.stages.is_none() => {
            record.latency.iter().map(|latency| (tag("delivery"), latency)).collect()
        }
        _ => kinds.into_iter().chain(stages.filter_map(of_stage)).collect(),
    }
}

/// HdrHistogram's log, format 1.3, with a line for each valid trial and each kind of operation. Values are in ns, `Interval_Max` in ms.
/// A tag is the kind of operation or the number of the stage, after the cell if there are several. A workload with kinds and stages has
/// each operation under both.
///
/// # Errors
/// No valid trial has a latency.
pub fn hlog(source: &Source) -> Result<String, HistogramError> {
    let subject = Subject::new(source);
    let mut lines = Vec::new();
    for (place, cell) in subject.cells() {
        let label = (subject.result.cells.len() > 1).then_some(cell.id.as_str());
        for record in subject.trials_of(place) {
            let start_s =
                record.started_at.parse::<Timestamp>().map_or(0.0, |time| time.as_millisecond() as f64 / 1e3);
            let all = tagged(label, record).into_iter();
            lines.extend(all.map(|(tag, latency)| (start_s, record.score.elapsed_s, tag, latency)));
        }
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let start_s = lines.first().ok_or(HistogramError::None)?.0;
    let mut text = format!(
        "#[Klatch {}, {}; values in ns]\n#[Histogram log format version 1.3]\n#[StartTime: {start_s:.3} (seconds since epoch)]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        subject.result.klatch.version, subject.result.name
    );
    for (at_s, elapsed_s, tag, latency) in lines {
        let (at_s, max_ms) = (at_s - start_s, latency.max_us / 1e3);
        let _ = writeln!(text, "Tag={tag},{at_s:.3},{elapsed_s:.3},{max_ms:.3},{}", latency.histogram);
    }
    Ok(text)
}

/// HdrHistogram's table of percentiles for plots, of the latency in all valid trials of a cell together, in ms.
///
/// # Errors
/// No valid trial has a latency, or there are several cells.
pub fn hgrm(source: &Source) -> Result<String, HistogramError> {
    let subject = Subject::new(source);
    if subject.result.cells.len() > 1 {
        let cells: Vec<&str> = subject.cells().map(|(_, cell)| cell.id.as_str()).collect();
        return Err(HistogramError::Several(cells.join(", ")));
    }
    let latencies: Vec<&Latency> = subject
        .cells()
        .flat_map(|(place, _)| subject.trials_of(place))
        .filter_map(|it| it.latency.as_ref())
        .collect();
    let merged = Latency::merge(latencies.into_iter())?.ok_or(HistogramError::None)?;
    Ok(distribution(&merged.histogram_ns()?))
}

/// The table as the reference implementation prints it, without its line about its memory.
fn distribution(histogram: &Histogram<u64>) -> String {
    let ms = |ns: f64| ns / 1e6;
    let mut text =
        format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut seen = 0;
    for step in histogram.iter_quantiles(TICKS_PER_HALF) {
        seen += step.count_since_last_iteration();
        let (value, share) = (ms(step.value_iterated_to() as f64), step.quantile_iterated_to());
        let _ = match share < 1.0 {
            true => writeln!(text, "{value:>12.3} {share:.12} {seen:>10} {:>14.2}", 1.0 / (1.0 - share)),
            false => writeln!(text, "{value:>12.3} {share:.12} {seen:>10}"),
        };
    }
    let (mean, deviation, max) = (ms(histogram.mean()), ms(histogram.stdev()), ms(histogram.max() as f64));
    let _ = writeln!(text, "#[Mean    = {mean:>12.3}, StdDeviation   = {deviation:>12.3}]");
    let _ = writeln!(text, "#[Max     = {max:>12.3}, Total count    = {:>12}]", histogram.len());
    text
}

/// The intervals of time of every valid trial as CSV: deliveries or operations and their latency, µs.
///
/// # Errors
/// No valid trial has them.
pub fn timeline_csv(source: &Source) -> Result<String, HistogramError> {
    let subject = Subject::new(source);
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let mut write = |row: [String; 8]| writer.write_record(row).expect("memory takes everything");
    let head = [
        "cell",
        "started_at",
        "number",
        "from_s",
        "deliveries",
        "latency_p50_us",
        "latency_p99_us",
        "latency_max_us",
    ];
    write(head.map(str::to_owned));
    let mut count = 0;
    for (place, cell) in subject.cells() {
        for record in subject.trials_of(place) {
            let Some(timeline) = &record.over_time else { continue };
            for (at, interval) in timeline.intervals.iter().enumerate() {
                let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
                let from_s = (at as u64 * timeline.interval_ms) as f64 / 1e3;
                count += 1;
                write([
                    crate::write::plain(cell.id.clone()),
                    crate::write::plain(record.started_at.clone()),
                    record.number.to_string(),
                    from_s.to_string(),
                    interval.deliveries.to_string(),
                    number(interval.p50_us),
                    number(interval.p99_us),
                    number(interval.max_us),
                ]);
            }
        }
    }
    match count {
        0 => Err(HistogramError::None),
        _ => Ok(String::from_utf8(writer.into_inner().expect("memory takes everything"))
            .expect("it was text before")),
    }
}
