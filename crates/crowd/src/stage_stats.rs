//! Counts of a worker by stage of the schedule.

use hdrhistogram::Histogram;
use klatch_record::{STAGE_GRACE_S, StageCounts, Stages};

use crate::histogram::{add, new_histogram};

pub(crate) struct StageStats {
    /// The end of each stage, ns after the opening of the gate.
    ends_ns: Vec<u64>,
    stages: Vec<OneStage>,
}

#[derive(Default)]
struct OneStage {
    intended: u64,
    in_time: u64,
    /// `None` before the first delivery.
    latency_ns: Option<Histogram<u32>>,
}

impl StageStats {
    pub(crate) fn new(stages: &Stages) -> StageStats {
        let end_ns = |stage: &klatch_record::Stage| (stage.end_s() * 1e9) as u64;
        let ends_ns: Vec<u64> = stages.all().iter().map(end_ns).collect();
        StageStats { stages: ends_ns.iter().map(|_| OneStage::default()).collect(), ends_ns }
    }

    /// The place of the stage in which a moment lies: before its end. Nothing is due after the last one.
    fn place(&self, since_gate_ns: u64) -> usize {
        self.ends_ns.partition_point(|end_ns| *end_ns <= since_gate_ns).min(self.ends_ns.len() - 1)
    }

    pub(crate) fn record_due(&mut self, gate_ns: u64, meant_ns: u64, replies: u64) {
        let place = self.place(meant_ns.saturating_sub(gate_ns));
        self.stages[place].intended += replies;
    }

    pub(crate) fn record_delivery(&mut self, gate_ns: u64, now_ns: u64, meant_ns: u64) {
        let place = self.place(meant_ns.saturating_sub(gate_ns));
        let grace_ns = (STAGE_GRACE_S * 1e9) as u64;
        let is_in_time = now_ns.saturating_sub(gate_ns) <= self.ends_ns[place] + grace_ns;
        let stage = &mut self.stages[place];
        stage.in_time += u64::from(is_in_time);
        let latency_ns = stage.latency_ns.get_or_insert_with(new_histogram);
        latency_ns.saturating_record(now_ns.saturating_sub(meant_ns));
    }

    /// Adds the counts of each stage to those of `all`.
    pub(crate) fn merge_into(self, all: &mut Vec<StageCounts>) {
        all.resize_with(self.stages.len(), StageCounts::default);
        for (sum, stage) in all.iter_mut().zip(self.stages) {
            sum.intended += stage.intended;
            sum.in_time += stage.in_time;
            stage.latency_ns.iter().for_each(|latency_ns| add(&mut sum.latency_ns, latency_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_belongs_to_the_stage_in_which_its_request_was_due() {
        let mut stats = StageStats::new(&"1s:10,0s:20,1s:20".parse().unwrap());
        let gate_ns = 5_000_000_000;
        for (due_ms, reply_ms) in [(0, 1), (999, 1_100), (999, 1_101), (1_000, 1_001), (1_999, 9_000)] {
            let (due_ns, reply_ns) = (gate_ns + due_ms * 1_000_000, gate_ns + reply_ms * 1_000_000);
            stats.record_due(gate_ns, due_ns, 1);
            stats.record_delivery(gate_ns, reply_ns, due_ns);
        }
        let mut all = Vec::new();
        stats.merge_into(&mut all);
        let mut more = StageStats::new(&"1s:10,0s:20,1s:20".parse().unwrap());
        more.record_due(gate_ns, gate_ns, 3);
        more.merge_into(&mut all);
        let counts: Vec<_> = all
            .iter()
            .map(|stage| {
                (stage.intended, stage.in_time, stage.latency_ns.iter().map(|(_, count)| count).sum())
            })
            .collect();
        assert_eq!(counts, [(6, 2, 3), (0, 0, 0_u64), (2, 1, 2)]);
    }
}
