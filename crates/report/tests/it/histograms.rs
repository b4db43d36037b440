//! Latencies in the formats of HdrHistogram. Its reference implementation, in Java, reads the same files in a test of its own.

use std::path::Path;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use klatch_record::Class;
use klatch_testing::assert_committed;

use crate::support::{add, in_stages, study};
use klatch_report::{HistogramError, Source, hgrm, hlog, timeline_csv};

const WRITES: &str = "KLATCH_WRITE_VECTORS";

fn three_trials() -> Source {
    let mut study = study("local", "Which platform carries the chat best?");
    add(&mut study, &[("platform", "native-epoll")], Class::Classic, &[130_000.0, 131_000.0, 128_900.0]);
    study
}

fn vector(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name)
}

/// Tag and number of values of each line.
fn read_back(log: &str) -> Vec<(String, u64)> {
    let entries =
        IntervalLogIterator::new(log.as_bytes()).map(|entry| entry.expect("the log is well formed"));
    let lines = entries.filter_map(|entry| match entry {
        LogEntry::Interval(line) => Some(line),
        _ => None,
    });
    let count = |text: &str| {
        let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).unwrap();
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        histogram.len()
    };
    lines.map(|line| (line.tag().unwrap().to_string(), count(line.encoded_histogram()))).collect()
}

#[test]
fn logs_and_percentiles_are_those_that_the_reference_reads() {
    let source = three_trials();
    let log = hlog(&source).unwrap();
    assert_eq!(read_back(&log), [1, 2, 3].map(|_| ("delivery".to_owned(), 380_000)));
    assert_committed(&vector("latency.hlog"), &log, WRITES);
    assert_committed(&vector("latency.hgrm"), &hgrm(&source).unwrap(), WRITES);
}

#[test]
fn stages_are_tags_of_a_log() {
    let mut source = three_trials();
    in_stages(&mut source);
    let tags = [("stage-1", 1_000), ("stage-3", 12_000), ("stage-4", 2_000)];
    let expected: Vec<(String, u64)> =
        (0..3).flat_map(|_| tags.map(|(tag, count)| (tag.to_owned(), count))).collect();
    assert_eq!(read_back(&hlog(&source).unwrap()), expected, "a jump takes no time");
}

#[test]
fn several_cells_are_tags_of_a_log_and_no_distribution() {
    let mut source = three_trials();
    add(&mut source, &[("platform", "java, virtual threads")], Class::Classic, &[100_000.0]);
    let tags: Vec<String> = read_back(&hlog(&source).unwrap()).into_iter().map(|(tag, _)| tag).collect();
    let mut distinct = tags.clone();
    distinct.sort();
    distinct.dedup();
    assert!(tags.len() == 4 && distinct.len() == 2, "{tags:?}");
    assert!(
        distinct.iter().all(|tag| tag.ends_with("/delivery") && !tag.contains([',', ' '])),
        "{distinct:?}"
    );
    assert!(matches!(hgrm(&source), Err(HistogramError::Several(_))));
    assert!(matches!(hlog(&study("empty", "Nothing?")), Err(HistogramError::None)));
}

#[test]
fn intervals_of_time_are_lines_of_csv() {
    let mut source = three_trials();
    crate::support::time(&mut source);
    let csv = timeline_csv(&source).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "cell,started_at,number,from_s,deliveries,latency_p50_us,latency_p99_us,latency_max_us"
    );
    assert!(lines.len() > 40 && lines[2].split(',').nth(3) == Some("0.25"), "{csv}");
}
