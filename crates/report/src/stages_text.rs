//! The stages of a schedule as text: a table, and which is the first that does not keep up.

use klatch_record::{Record, StageScore, StageScores, WorkloadKind};

use crate::number::{plain, three_digits, time};
use crate::table::{Column, TextTable};

/// What a stage intends and achieves, in the plural.
pub(crate) fn unit(kind: WorkloadKind) -> String {
    match kind {
        WorkloadKind::Chat => "deliveries".to_owned(),
        other => format!("{}s", other.operation_name()),
    }
}

/// What has a schedule of its own, in the singular.
fn owner(kind: WorkloadKind) -> &'static str {
    match kind {
        WorkloadKind::Chat => "user",
        other => other.party_name(),
    }
}

/// The rates of a stage: `100 to 500`, or one that does not change.
pub(crate) fn ramp(stage: &StageScore) -> String {
    match stage.from_per_s == stage.to_per_s {
        true => stage.to_per_s.to_string(),
        false => format!("{} to {}", stage.from_per_s, stage.to_per_s),
    }
}

/// The first stage that does not keep up, in a sentence; or that all keep up.
pub(crate) fn sentence(scores: &StageScores, kind: WorkloadKind) -> String {
    let (Some(stage), unit) = (scores.behind(), unit(kind)) else {
        return match scores.stages.as_slice() {
            [_] => "The stage keeps up.".to_owned(),
            all => format!("All {} stages keep up.", all.len()),
        };
    };
    format!(
        "Stage {} ({}/s of each {}) is the first that does not keep up: {} of {} {unit}/s.",
        stage.number,
        ramp(stage),
        owner(kind),
        three_digits(stage.achieved_per_s),
        three_digits(stage.intended_per_s),
    )
}

/// Each stage of a run, and the sentence; empty without stages.
pub(crate) fn stages(record: &Record) -> String {
    let Some(scores) = &record.stages else { return String::new() };
    let kind = record.workload.kind();
    let owner = owner(kind);
    let mut table = TextTable::new([
        Column::number("stage"),
        Column::name("time"),
        Column::name(format!("1/s of each {owner}")),
        Column::number("intended/s"),
        Column::number("achieved/s"),
        Column::number("p50").less(2),
        Column::number("p99"),
        Column::number("p99.9").less(1),
        Column::name("keeps up"),
    ]);
    for stage in &scores.stages {
        let latency = |of: fn(&klatch_record::Latency) -> f64| {
            stage.latency.as_ref().map_or_else(String::new, |latency| time(of(latency)))
        };
        table.row([
            stage.number.to_string(),
            format!("{} to {} s", plain(stage.from_s), plain(stage.to_s)),
            ramp(stage),
            three_digits(stage.intended_per_s),
            three_digits(stage.achieved_per_s),
            latency(|latency| latency.p50_us),
            latency(|latency| latency.p99_us),
            latency(|latency| latency.p999_us),
            if stage.keeps_up { "yes" } else { "no" }.to_owned(),
        ]);
    }
    format!("\n{table}\n{}\n", sentence(scores, kind))
}

#[cfg(test)]
mod tests {
    use klatch_record::{StageCounts, Workload};

    use super::*;

    #[test]
    fn the_first_stage_that_does_not_keep_up_is_named() {
        let of = |in_time: [u64; 3]| {
            let counts = in_time.map(|in_time| StageCounts { intended: 1_000, in_time, latency_ns: vec![] });
            StageScores::from_counts(&"10s:200,0s:100,10s:100".parse().unwrap(), &counts).unwrap().unwrap()
        };
        assert_eq!(sentence(&of([990, 1_000, 1_000]), WorkloadKind::Rr), "All 2 stages keep up.");
        assert_eq!(
            sentence(&of([900, 1_000, 500]), WorkloadKind::Rr),
            "Stage 1 (0 to 200/s of each connection) is the first that does not keep up: 90.0 of 100 transactions/s."
        );
        assert_eq!(
            sentence(&of([1_000, 1_000, 500]), WorkloadKind::Chat),
            "Stage 3 (100/s of each user) is the first that does not keep up: 50.0 of 100 deliveries/s."
        );
    }

    #[test]
    fn each_stage_is_a_row() {
        let mut record = klatch_record::samples::record(1, 0, 9.0);
        assert_eq!(stages(&record), "");
        record.workload = Workload::Rr(klatch_record::RrWorkload::default());
        let counts = [(200, 200), (900, 700)].map(|(intended, in_time)| StageCounts {
            intended,
            in_time,
            latency_ns: vec![(2_000_000, intended)],
        });
        record.stages = StageScores::from_counts(&"2s:200,2.5s:520".parse().unwrap(), &counts).unwrap();
        let text = crate::table::at_width(120, || stages(&record));
        insta::assert_snapshot!(text);
    }
}
