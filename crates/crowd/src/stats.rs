//! The statistics of one worker: counts, latencies and examples of faults.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use klatch_exchange::orders;
use klatch_exchange::trade::UserLedger;
use klatch_exchange::web::PostEntry;
#[cfg(test)]
use klatch_record::WorkloadKind;
use klatch_record::{
    CrowdResult, EXAMPLES_MAX, Fault, FaultKind, IntervalCounts, Latency, MergeError, OperationKindScore,
    Results, Stages, Stranger, TlsSession,
};

use crate::gaps::Gaps;
use crate::histogram::{add, new_histogram, recorded};
use crate::protocol::{printable, shown};
use crate::stage_stats::StageStats;
use crate::timeline::{Counts, Timeline};

pub(crate) struct CrowdStats {
    /// Latencies of the intervals that have ended.
    latency_ns: Histogram<u32>,
    /// Latencies of the current interval. Deliveries are recorded here alone, so the time line costs nothing a delivery.
    current_ns: Histogram<u32>,
    current_ends_ns: u64,
    /// The time from which a delivery ends the interval, ns. Always 0 with stages, in which each delivery is counted too.
    look_ns: u64,
    /// Counts by stage; `None` without stages.
    stages: Option<StageStats>,
    timeline: Timeline,
    /// Latencies since the last pause, of the intervals that have ended.
    since_pause_ns: Histogram<u32>,
    lag_ns: Histogram<u32>,
    /// From the beginning of a new connection to the return of its user.
    reconnect_ns: Histogram<u32>,
    strangers: BTreeMap<(u32, Vec<u8>), u64>,
    /// The time of the last verified delivery, ns; 0 if there was none.
    pub(crate) last_ns: u64,
    pub(crate) sent: u64,
    /// What TLS agreed to; `None` without TLS.
    pub(crate) tls: Option<TlsSession>,
    pub(crate) received: u64,
    /// The POSTs of `web` that the server confirmed.
    pub(crate) posts: Vec<PostEntry>,
    /// The users of `trade` that were played.
    pub(crate) ledgers: Vec<UserLedger>,
    /// The customers and the work of `orders`.
    pub(crate) order_ledgers: orders::Ledgers,
    /// Latencies of each operation of `trade` and `orders`.
    operations_ns: BTreeMap<&'static str, Histogram<u32>>,
    counts: [u64; 7],
    /// What is particular to the workload; known when the parties have settled.
    pub(crate) results: Option<Results>,
    faults: Vec<Fault>,
    /// The gaps of the worker's loop.
    pub(crate) gaps: Gaps,
}

impl CrowdStats {
    pub(crate) fn new() -> CrowdStats {
        CrowdStats {
            latency_ns: new_histogram(),
            current_ns: new_histogram(),
            current_ends_ns: 0,
            look_ns: 0,
            stages: None,
            tls: None,
            timeline: Timeline::new(),
            since_pause_ns: new_histogram(),
            lag_ns: new_histogram(),
            reconnect_ns: new_histogram(),
            strangers: BTreeMap::new(),
            last_ns: 0,
            sent: 0,
            received: 0,
            posts: Vec::new(),
            ledgers: Vec::new(),
            order_ledgers: orders::Ledgers::default(),
            operations_ns: BTreeMap::new(),
            counts: [0; 7],
            results: None,
            faults: Vec::new(),
            gaps: Gaps::default(),
        }
    }

    /// Records a verified delivery that arrived at `now_ns` and had the intended send time `meant_ns`. The gate opened at
    /// `gate_ns`.
    pub(crate) fn record_delivery(&mut self, gate_ns: u64, now_ns: u64, meant_ns: u64) {
        if now_ns >= self.look_ns {
            self.look(gate_ns, now_ns, meant_ns);
        }
        self.received += 1;
        // Threads may read the clock in one order and get here in another.
        self.last_ns = self.last_ns.max(now_ns);
        // The text is checked before its time is used, so the difference fits.
        self.current_ns.saturating_record(now_ns.saturating_sub(meant_ns));
    }

    /// Ends the interval if it is over, and counts the delivery in its stage. Without stages no delivery costs more than a comparison.
    #[cold]
    fn look(&mut self, gate_ns: u64, now_ns: u64, meant_ns: u64) {
        if now_ns >= self.current_ends_ns {
            self.end_interval();
            self.current_ends_ns = gate_ns + self.timeline.advance_to(now_ns.saturating_sub(gate_ns));
        }
        match &mut self.stages {
            Some(stages) => stages.record_delivery(gate_ns, now_ns, meant_ns),
            None => self.look_ns = self.current_ends_ns,
        }
    }

    /// Makes what follows count by stage, if there are stages.
    pub(crate) fn begin_stages(&mut self, stages: Option<&Stages>) {
        self.stages = stages.map(StageStats::new);
    }

    /// Counts what was sent with the intended time `meant_ns`, to which so many replies or deliveries must come.
    pub(crate) fn record_due(&mut self, gate_ns: u64, meant_ns: u64, replies: u64) {
        self.stages.iter_mut().for_each(|stages| stages.record_due(gate_ns, meant_ns, replies));
    }

    /// Counts a verified operation whose latency is not among those of the run.
    pub(crate) fn record_without_latency(&mut self, now_ns: u64) {
        self.received += 1;
        self.last_ns = self.last_ns.max(now_ns);
    }

    /// Latencies of intervals that have ended since the last call.
    pub(crate) fn take_new_latencies(&mut self) -> Option<Counts> {
        self.timeline.take_new_latencies()
    }

    /// Latencies since the last call: lowest value of a bucket in ns, and how often.
    pub(crate) fn take_since_pause(&mut self) -> Vec<(u64, u64)> {
        self.end_interval();
        let latency_ns = recorded(&self.since_pause_ns).collect();
        self.since_pause_ns.reset();
        latency_ns
    }

    #[cold]
    fn end_interval(&mut self) {
        for (ns, count) in recorded(&self.current_ns) {
            self.timeline.add(ns, count);
            self.latency_ns.saturating_record_n(ns, count as u32);
            self.since_pause_ns.saturating_record_n(ns, count as u32);
        }
        self.current_ns.reset();
    }

    /// Records the latency of one operation among those of its name.
    pub(crate) fn record_operation(&mut self, name: &'static str, latency_ns: u64) {
        self.operations_ns.entry(name).or_insert_with(new_histogram).saturating_record(latency_ns);
    }

    /// The operations of each kind so far.
    pub(crate) fn kinds(&self) -> Vec<OperationKindScore> {
        let counts = self.operations_ns.iter().map(|(name, ns)| (*name, recorded(ns).collect())).collect();
        OperationKindScore::from_counts(&counts).expect("histograms of a worker can be packed")
    }

    /// The times of reconnects so far; `None` if there was none.
    pub(crate) fn reconnects(&self) -> Option<Latency> {
        let counts: Vec<(u64, u64)> = recorded(&self.reconnect_ns).collect();
        Latency::from_counts_ns(&counts).expect("histograms of a worker can be packed")
    }

    pub(crate) fn record_lag(&mut self, lag_ns: u64) {
        self.lag_ns.saturating_record(lag_ns);
    }

    pub(crate) fn record_tls(&mut self, session: TlsSession) {
        self.tls = self.tls.take().into_iter().chain([session]).reduce(TlsSession::with);
    }

    pub(crate) fn record_reconnect(&mut self, duration_ns: u64) {
        self.reconnect_ns.saturating_record(duration_ns);
    }

    pub(crate) fn record_fault(&mut self, fault: Fault) {
        self.counts[fault.kind as usize] += fault.count;
        if self.faults.len() < EXAMPLES_MAX {
            self.faults.push(Fault { detail: fault.detail.map(printable), ..fault });
        }
    }

    /// Records a client outside the crowd that is in `room`, and the `messages` that it sent there.
    pub(crate) fn record_stranger(&mut self, room: u32, nick: &[u8], messages: u64) {
        let listed =
            self.strangers.len() < EXAMPLES_MAX || self.strangers.contains_key(&(room, nick.to_vec()));
        if listed {
            *self.strangers.entry((room, nick.to_vec())).or_default() += messages;
        }
    }

    /// Adds everything to `result`.
    ///
    /// # Errors
    /// The result is of another workload, or counts are too large to be added.
    pub(crate) fn merge_into(mut self, result: &mut CrowdResult) -> Result<(), MergeError> {
        self.end_interval();
        let count = |kind: FaultKind| self.counts[kind as usize];
        result.sent += self.sent;
        result.tls = result.tls.take().into_iter().chain(self.tls).reduce(TlsSession::with);
        result.received += self.received;
        result.lost += count(FaultKind::Lost);
        result.unsent += count(FaultKind::Unsent);
        result.duplicated += count(FaultKind::Duplicated);
        result.reordered += count(FaultKind::Reordered);
        result.corrupted += count(FaultKind::Corrupted);
        result.unexpected += count(FaultKind::Unexpected);
        result.wrong += count(FaultKind::Wrong);
        if let Some(results) = &self.results {
            result.results = result.results.with(results)?;
        }
        result.faults.extend(self.faults);
        result.faults.truncate(EXAMPLES_MAX);
        let named =
            |((room, nick), messages): ((u32, Vec<u8>), u64)| Stranger { room, nick: shown(&nick), messages };
        result.strangers.extend(self.strangers.into_iter().map(named));
        result.strangers.truncate(EXAMPLES_MAX);
        add(&mut result.latency_ns, &self.latency_ns);
        add(&mut result.send_lag_ns, &self.lag_ns);
        if let Some(stages) = self.stages {
            stages.merge_into(&mut result.stages);
        }
        let over_time = result.over_time.take().into_iter().chain([self.timeline.counts()]);
        result.over_time = IntervalCounts::together(over_time);
        Ok(())
    }
}

#[cfg(test)]
impl CrowdStats {
    /// The result of a crowd with this worker alone.
    pub(crate) fn into_result(self) -> CrowdResult {
        let results = Results::none(self.results.as_ref().map_or(WorkloadKind::Chat, Results::workload));
        let mut result = CrowdResult { results, ..CrowdResult::default() };
        self.merge_into(&mut result).unwrap();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_stats_add_up() {
        let mut result = CrowdResult::default();
        for room in 1..=2 {
            let mut stats = CrowdStats::new();
            stats.record_delivery(1_000, 5_000, 2_000);
            stats.record_delivery(1_000, 9_000_000, 1_000_000);
            stats.record_delivery(1_000, 60_000_000, 59_000_000);
            assert_eq!(
                stats.take_new_latencies().map(|new_latencies| new_latencies.into_values().sum()),
                Some(2_u64)
            );
            stats.record_stranger(room, b"eve", 0);
            stats.record_stranger(room, b"eve", 1);
            stats.merge_into(&mut result).unwrap();
        }
        assert_eq!(result.received, 6);
        let [(short, 2), (_, 2), (long, 2)] = result.latency_ns[..] else {
            panic!("{:?}", result.latency_ns)
        };
        assert_eq!((short, long / 8_192), (3_000, 8_000_000 / 8_192), "the lowest values of the buckets");
        let over_time = result.over_time.unwrap().latency_ns;
        let deliveries: Vec<u64> =
            over_time.iter().map(|counts| counts.iter().map(|(_, count)| count).sum()).collect();
        assert_eq!(deliveries, [4, 0, 2]);
        assert_eq!(
            result.strangers.iter().map(|s| (s.room, s.messages)).collect::<Vec<_>>(),
            [(1, 1), (2, 1)]
        );
    }

    #[test]
    fn examples_are_few_and_counts_complete() {
        let mut stats = CrowdStats::new();
        for sequence in 0..100 {
            let kind = FaultKind::Duplicated;
            let (user, speaker, sequence) = (Some(1), Some(2), Some(sequence));
            stats.record_fault(Fault {
                kind,
                connection: None,
                reader: None,
                room: 1,
                user,
                speaker,
                sequence,
                count: 1,
                detail: None,
            });
        }
        let result = stats.into_result();
        assert_eq!((result.duplicated, result.faults.len(), result.lost), (100, EXAMPLES_MAX, 0));
    }
}
