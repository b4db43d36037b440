//! The stages of a schedule: what each intended and achieved, its latency, and the first that does not keep up.

use klatch_record::{Latency, Record, STAGE_GRACE_S, STAGE_KEEPS_UP_SHARE, StageScore, StageScores};

use super::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Place, Point};
use crate::stages_text::{ramp, sentence, unit};

/// Most cells whose stages are drawn; each has two charts.
const CELLS_MAX: usize = 4;

/// A sentence for each cell about the first stage that does not keep up, in the trial in which it comes first; empty without stages.
pub(super) fn answer(subject: &Subject) -> String {
    let cells = subject.cells().filter_map(|(place, _)| {
        let trials: Vec<&Record> =
            subject.trials_of(place).filter(|record| record.stages.is_some()).collect();
        let behind = |record: &&Record| record.stages.as_ref().and_then(|stages| stages.first_behind);
        let first = trials.iter().min_by_key(|record| behind(record).unwrap_or(u32::MAX))?;
        let text = sentence(first.stages.as_ref()?, first.workload.kind());
        let same = trials.iter().filter(|record| behind(record) == behind(first)).count();
        let how_often = match trials.len() {
            1 => String::new(),
            all => format!(", in {same} of {all} trials"),
        };
        let name = match subject.result.cells.len() {
            1 => String::new(),
            _ => format!("{}: ", subject.grid.labels[place]),
        };
        Some(format!(" {name}{}{how_often}.", text.trim_end_matches('.')))
    });
    cells.collect()
}

/// The stages of a cell, with the counts of all its trials.
struct InTrials {
    scores: StageScores,
    trials: usize,
}

impl InTrials {
    fn new<'a>(trials: impl Iterator<Item = &'a Record>) -> Option<InTrials> {
        let all: Vec<&StageScores> = trials.filter_map(|record| record.stages.as_ref()).collect();
        let scores = StageScores::merge(all.iter().copied()).ok()??;
        Some(InTrials { scores, trials: all.len() })
    }

    /// Points for each stage: its series, and their values as far as it has them.
    fn points<const N: usize>(
        &self,
        of: impl Fn(&StageScore) -> [(&'static str, Option<f64>); N],
    ) -> Vec<Point> {
        let points = |stage: &StageScore| {
            let place = format!("{}: {}/s", stage.number, ramp(stage));
            let point = |(series, value): (&str, Option<f64>)| {
                let point = Point::plain(series, Place::Named(place.clone()), value?);
                Some(Point { n: Some(self.trials as u64), ..point })
            };
            of(stage).into_iter().filter_map(point).collect::<Vec<_>>()
        };
        self.scores.stages.iter().flat_map(points).collect()
    }
}

pub(super) fn charts(subject: &Subject) -> Vec<Chart> {
    let of_cell = |(place, _)| {
        let (label, kind) = (&subject.grid.labels[place], subject.trials_of(place).next()?.workload.kind());
        let stages = InTrials::new(subject.trials_of(place))?;
        Some([rates(place, label, &stages, &unit(kind)), latency(place, label, &stages)])
    };
    subject.cells().filter_map(of_cell).take(CELLS_MAX).flatten().collect()
}

fn rates(place: usize, label: &str, stages: &InTrials, unit: &str) -> Chart {
    let mean = |sum: f64| Some(sum / stages.trials as f64);
    Chart {
        id: format!("stages-{place}"),
        title: format!("Intended and achieved rate by stage: {label}"),
        caption: format!(
            "A stage keeps up if at least {} % of what was due in it had arrived {STAGE_GRACE_S} s after its end.",
            100.0 * STAGE_KEEPS_UP_SHARE
        ),
        kind: ChartKind::Bars,
        x: Axis::words("stage"),
        y: Axis::linear(unit, "1/s"),
        points: stages.points(|stage| {
            [("intended", mean(stage.intended_per_s)), ("achieved", mean(stage.achieved_per_s))]
        }),
        marks: Vec::new(),
    }
}

fn latency(place: usize, label: &str, stages: &InTrials) -> Chart {
    let percentiles = |stage: &StageScore| {
        let ms = |us: fn(&Latency) -> f64| stage.latency.as_ref().map(|latency| us(latency) / 1e3);
        [
            ("p50", ms(|latency| latency.p50_us)),
            ("p99", ms(|latency| latency.p99_us)),
            ("p99.9", ms(|latency| latency.p999_us)),
        ]
    };
    Chart {
        id: format!("stages-latency-{place}"),
        title: format!("Latency by stage: {label}"),
        caption: "From the intended time, of what was due in the stage.".to_owned(),
        kind: ChartKind::Bars,
        x: Axis::words("stage"),
        y: Axis::linear("latency", "ms"),
        points: stages.points(percentiles),
        marks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use klatch_record::{StageCounts, StageScores, samples::record};

    use super::*;
    use crate::read::{Run, Source};

    #[test]
    fn the_answer_names_the_first_stage_that_does_not_keep_up() {
        let trial = |number: u32, in_time: u64| {
            let counts = [(100, 100), (400, in_time)].map(|(intended, in_time)| StageCounts {
                intended,
                in_time,
                latency_ns: vec![(1_000_000, intended)],
            });
            let mut record = record(1, 0, 9.0);
            record.number = number;
            record.stages = StageScores::from_counts(&"2s:100,2s:300".parse().unwrap(), &counts).unwrap();
            record
        };
        let subject = |records: Vec<Record>| {
            let run = |record| Run { record, file: PathBuf::new(), cell: None };
            Subject::new(&Source {
                runs: records.into_iter().map(run).collect(),
                ..Source::empty(PathBuf::new())
            })
        };
        let one = subject(vec![trial(1, 200)]);
        let sentence = " Stage 2 (100 to 300/s of each user) is the first that does not keep up: 100 of 200 deliveries/s.";
        assert_eq!(answer(&one), sentence);
        let three = subject(vec![trial(1, 400), trial(2, 300), trial(3, 200)]);
        assert!(answer(&three).ends_with(" deliveries/s, in 2 of 3 trials."), "{}", answer(&three));
        let [rates, latency] = &charts(&three)[..] else { panic!("two charts") };
        let shown = |chart: &Chart| -> Vec<(String, String, Option<f64>)> {
            chart.points.iter().map(|point| (point.series.clone(), point.x.to_string(), point.y)).collect()
        };
        assert_eq!(
            shown(rates)[2..],
            [
                ("intended".to_owned(), "2: 100 to 300/s".to_owned(), Some(200.0)),
                ("achieved".to_owned(), "2: 100 to 300/s".to_owned(), Some(150.0)),
            ]
        );
        assert_eq!((shown(latency).len(), latency.points[5].n), (6, Some(3)));
        assert_eq!(answer(&subject(vec![record(1, 0, 9.0)])), "");
    }
}
