//! Results of a schedule in stages: what was intended in each, what was achieved, and which is the first that does not keep up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::merge::MergeError;
use crate::sums::sum;
use crate::{Latency, LatencyError, Stage, Stages};

/// Time after the end of a stage in which its last replies may arrive: latency is no backlog.
pub const STAGE_GRACE_S: f64 = 0.1;

/// Share of what a stage intends that must be achieved.
pub const STAGE_KEEPS_UP_SHARE: f64 = 0.99;

/// Counts of one stage of a crowd, in the order of the stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageCounts {
    /// Replies to, or deliveries of, all that was due in the stage and was sent.
    pub intended: u64,
    /// Those that arrived until 0.1 s after the end of the stage.
    pub in_time: u64,
    /// Latencies of all, from the intended time: lowest value of a bucket in ns, and how often.
    pub latency_ns: Vec<(u64, u64)>,
}

/// Results by stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageScores {
    /// Number of the first stage that does not keep up; `null` if all keep up.
    pub first_behind: Option<u32>,
    /// The stages that last for a time, in order.
    pub stages: Vec<StageScore>,
}

/// Result of one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageScore {
    /// Its number, from 1. Jumps of the rate, which take no time, have one too.
    pub number: u32,
    /// Its begin, seconds after the opening of the gate.
    pub from_s: f64,
    /// Its end, in the same form.
    pub to_s: f64,
    /// Rate of each party or user at its begin, 1/s.
    pub from_per_s: f64,
    /// Rate of each party or user at its end, 1/s.
    pub to_per_s: f64,
    /// Replies to all that was due in the stage and was sent; of chat, deliveries.
    pub intended: u64,
    /// Those that arrived until 0.1 s after the end of the stage.
    pub in_time: u64,
    /// Intended replies or deliveries by the time of the stage, 1/s.
    pub intended_per_s: f64,
    /// Those in time by the time of the stage, 1/s.
    pub achieved_per_s: f64,
    /// Whether at least 99 % of what was intended was achieved.
    pub keeps_up: bool,
    /// Latency of all that was due in the stage, from the intended time; `null` if nothing arrived.
    pub latency: Option<Latency>,
}

impl StageScore {
    fn new(number: u32, stage: &Stage, intended: u64, in_time: u64, latency: Option<Latency>) -> StageScore {
        let of = StageScore {
            number,
            from_s: stage.begin_s,
            to_s: stage.end_s(),
            from_per_s: stage.from_per_s,
            to_per_s: stage.to_per_s,
            intended,
            in_time,
            intended_per_s: 0.0,
            achieved_per_s: 0.0,
            keeps_up: false,
            latency,
        };
        of.derived()
    }

    /// The same with what follows from its counts.
    fn derived(self) -> StageScore {
        let per_s = |count: u64| count as f64 / (self.to_s - self.from_s);
        StageScore {
            intended_per_s: per_s(self.intended),
            achieved_per_s: per_s(self.in_time),
            keeps_up: self.in_time as f64 >= STAGE_KEEPS_UP_SHARE * self.intended as f64,
            ..self
        }
    }
}

impl StageScores {
    fn new(stages: Vec<StageScore>) -> StageScores {
        let first_behind = stages.iter().find(|stage| !stage.keeps_up).map(|stage| stage.number);
        StageScores { first_behind, stages }
    }

    /// The scores of a crowd that counted this; `None` if it reported no stages.
    ///
    /// # Errors
    /// A latency is out of the range of the histogram.
    pub fn from_counts(stages: &Stages, counts: &[StageCounts]) -> Result<Option<StageScores>, LatencyError> {
        let mut scores = Vec::new();
        for (number, (stage, counts)) in (1..).zip(stages.all().iter().zip(counts)) {
            if stage.time_s > 0.0 {
                let latency = Latency::from_counts_ns(&counts.latency_ns)?;
                scores.push(StageScore::new(number, stage, counts.intended, counts.in_time, latency));
            }
        }
        Ok((!counts.is_empty()).then(|| StageScores::new(scores)))
    }

    /// The first stage that does not keep up; `None` if all keep up.
    pub fn behind(&self) -> Option<&StageScore> {
        self.stages.iter().find(|stage| Some(stage.number) == self.first_behind)
    }

    /// The scores of all together, with all that is derived from counts derived anew. `None` if there are none.
    ///
    /// # Errors
    /// A histogram cannot be read, or counts are too large to be added.
    pub fn merge<'a>(all: impl Iterator<Item = &'a StageScores>) -> Result<Option<StageScores>, MergeError> {
        let mut by_number: BTreeMap<u32, Vec<&StageScore>> = BTreeMap::new();
        for stage in all.flat_map(|scores| &scores.stages) {
            by_number.entry(stage.number).or_default().push(stage);
        }
        let mut stages = Vec::new();
        for same in by_number.values() {
            let merged = StageScore {
                intended: sum("what a stage intended", same.iter().map(|stage| stage.intended))?,
                in_time: sum("what a stage achieved", same.iter().map(|stage| stage.in_time))?,
                latency: Latency::merge(same.iter().filter_map(|stage| stage.latency.as_ref()))?,
                ..same[0].clone()
            };
            stages.push(merged.derived());
        }
        Ok((!stages.is_empty()).then(|| StageScores::new(stages)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(counts: &[(u64, u64, u64)]) -> StageScores {
        let stages: Stages = "2s:100,0s:10,1s:10".parse().unwrap();
        let counts: Vec<StageCounts> = counts
            .iter()
            .map(|&(intended, in_time, ns)| StageCounts {
                intended,
                in_time,
                latency_ns: vec![(ns, intended)],
            })
            .collect();
        StageScores::from_counts(&stages, &counts).unwrap().unwrap()
    }

    #[test]
    fn a_stage_that_achieves_99_per_cent_of_its_rate_keeps_up() {
        let all = scores(&[(100, 99, 1_000), (0, 0, 1_000), (200, 197, 5_000)]);
        let [first, last] = &all.stages[..] else { panic!("a jump takes no time: {all:?}") };
        assert_eq!((first.number, first.from_s, first.to_s, first.keeps_up), (1, 0.0, 2.0, true));
        assert_eq!((first.intended_per_s, first.achieved_per_s), (50.0, 49.5));
        assert_eq!((last.number, last.from_per_s, last.to_per_s, last.keeps_up), (3, 10.0, 10.0, false));
        assert_eq!((all.first_behind, all.behind()), (Some(3), Some(last)));
        let idle = scores(&[(0, 0, 1_000), (0, 0, 1_000), (0, 0, 1_000)]);
        assert_eq!((idle.first_behind, &idle.stages[0].latency), (None, &None), "nothing was due");
    }

    #[test]
    fn stages_of_shards_are_judged_together() {
        let one = scores(&[(100, 90, 1_000), (0, 0, 1_000), (10, 10, 5_000)]);
        let other = scores(&[(900, 900, 2_000), (0, 0, 1_000), (10, 10, 5_000)]);
        assert_eq!(one.first_behind, Some(1));
        let merged = StageScores::merge([&one, &other].into_iter()).unwrap().unwrap();
        assert_eq!(merged.first_behind, None, "990 of 1000");
        assert_eq!(merged, scores_of_both());
        assert_eq!(StageScores::merge(std::iter::empty()).unwrap(), None);
    }

    fn scores_of_both() -> StageScores {
        let stages: Stages = "2s:100,0s:10,1s:10".parse().unwrap();
        let counts = |intended, in_time, latency_ns| StageCounts { intended, in_time, latency_ns };
        let all = [
            counts(1_000, 990, vec![(1_000, 100), (2_000, 900)]),
            StageCounts::default(),
            counts(20, 20, vec![(5_000, 20)]),
        ];
        StageScores::from_counts(&stages, &all).unwrap().unwrap()
    }
}
