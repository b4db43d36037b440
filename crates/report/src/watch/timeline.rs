//! A run over its time, in a bounded number of moments.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeSeq, Serializer};

/// Most moments that are kept. If there are more, each two become one.
const MOMENTS_MAX: usize = 240;

/// What the crowd reported until a moment, and what happened since the moment before.
#[derive(Clone, Debug, PartialEq)]
struct Moment {
    /// Since the gate opened, s.
    at_s: f64,
    /// Deliveries or replies that were due so far, and those that came.
    due: u64,
    received: u64,
    /// Latencies since the moment before: ns, and how often. Histograms can be merged exactly, percentiles cannot.
    latency_ns: BTreeMap<u64, u64>,
    /// CPUs that server and crowd used lately.
    cpus: [Option<f64>; 2],
}

/// The moments of a run, and the latencies of all of it.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    moments: Vec<Moment>,
    /// Reports of the crowd in a moment.
    span: u32,
    /// Reports in the last moment.
    filled: u32,
    latency_ns: BTreeMap<u64, u64>,
}

impl Timeline {
    pub(super) fn new() -> Timeline {
        Timeline { moments: Vec::new(), span: 1, filled: 0, latency_ns: BTreeMap::new() }
    }

    /// Adds a report of the crowd: what is due and what was received by then, and the latencies since the last report.
    pub(super) fn add(
        &mut self,
        at_s: f64,
        (due, received): (u64, u64),
        latency_ns: &[(u64, u64)],
        cpus: [Option<f64>; 2],
    ) {
        let report = Moment { at_s, due, received, latency_ns: latency_ns.iter().copied().collect(), cpus };
        add_counts(&mut self.latency_ns, &report.latency_ns);
        match self.moments.last_mut() {
            Some(last) if self.filled < self.span => {
                *last = joined(last, &report);
                self.filled += 1;
            }
            _ => {
                self.moments.push(report);
                self.filled = 1;
            }
        }
        if self.moments.len() > MOMENTS_MAX && self.filled == self.span {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let odd = self.moments.len() % 2 == 1;
        let pair = |pair: &[Moment]| match pair {
            [a, b] => joined(a, b),
            one => one[0].clone(),
        };
        self.moments = self.moments.chunks(2).map(pair).collect();
        self.filled = if odd { self.span } else { 2 * self.span };
        self.span *= 2;
    }

    /// p50, p99, p99.9 and the longest latency of the whole run so far, µs; `None` before the first delivery.
    pub(super) fn latency_us(&self) -> Option<[f64; 4]> {
        let counts = &self.latency_ns;
        (!counts.is_empty()).then(|| [0.5, 0.99, 0.999, 1.0].map(|quantile| quantile_us(counts, quantile)))
    }
}

/// Each moment is an array, as names would be most of the bytes: time in s, due/s, received/s, p50, p99 and longest latency in µs, CPUs
/// of the server, CPUs of the crowd.
impl Serialize for Timeline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.moments.len()))?;
        let (mut at_s, mut due, mut received) = (0.0, 0, 0);
        for moment in &self.moments {
            let elapsed_s = moment.at_s - at_s;
            let rate = |now: u64, before: u64| {
                (elapsed_s > 0.0).then(|| (now.saturating_sub(before) as f64 / elapsed_s).round())
            };
            let counts = &moment.latency_ns;
            let latency = |quantile| (!counts.is_empty()).then(|| rounded(quantile_us(counts, quantile)));
            list.serialize_element(&[
                Some(rounded(moment.at_s)),
                rate(moment.due, due),
                rate(moment.received, received),
                latency(0.5),
                latency(0.99),
                latency(1.0),
                moment.cpus[0].map(rounded),
                moment.cpus[1].map(rounded),
            ])?;
            (at_s, due, received) = (moment.at_s, moment.due, moment.received);
        }
        list.end()
    }
}

/// Two moments as one.
fn joined(earlier: &Moment, later: &Moment) -> Moment {
    let mut latency_ns = earlier.latency_ns.clone();
    add_counts(&mut latency_ns, &later.latency_ns);
    Moment { latency_ns, ..later.clone() }
}

fn add_counts(sum: &mut BTreeMap<u64, u64>, counts: &BTreeMap<u64, u64>) {
    for (&value, &count) in counts {
        *sum.entry(value).or_default() += count;
    }
}

/// The value below or at which this share of the counted values are, µs.
fn quantile_us(counts: &BTreeMap<u64, u64>, quantile: f64) -> f64 {
    let total: u64 = counts.values().sum();
    let rank = ((total as f64 * quantile).ceil() as u64).max(1);
    let mut below = 0;
    let reached = |(_, count): &(&u64, &u64)| {
        below += *count;
        below >= rank
    };
    counts.iter().find(reached).map_or(0.0, |(&ns, _)| ns as f64 / 1e3)
}

/// Three decimals: more is noise, and most of the bytes.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(timeline: &Timeline) -> Vec<Vec<Option<f64>>> {
        serde_json::from_value(serde_json::to_value(timeline).unwrap()).unwrap()
    }

    #[test]
    fn a_moment_has_rates_and_percentiles_of_its_time() {
        let mut timeline = Timeline::new();
        timeline.add(0.5, (1_000, 900), &[(1_000_000, 99), (8_000_000, 1)], [Some(1.0), None]);
        timeline.add(1.0, (3_000, 3_000), &[(2_000_000, 100)], [Some(1.25), Some(0.5)]);
        assert_eq!(
            json(&timeline),
            [
                [
                    Some(0.5),
                    Some(2_000.0),
                    Some(1_800.0),
                    Some(1_000.0),
                    Some(1_000.0),
                    Some(8_000.0),
                    Some(1.0),
                    None
                ],
                [
                    Some(1.0),
                    Some(4_000.0),
                    Some(4_200.0),
                    Some(2_000.0),
                    Some(2_000.0),
                    Some(2_000.0),
                    Some(1.25),
                    Some(0.5)
                ],
            ]
        );
        // 99 of 200 are at 1 ms, so half of them are not.
        assert_eq!(timeline.latency_us(), Some([2_000.0, 2_000.0, 8_000.0, 8_000.0]));
    }

    #[test]
    fn a_long_run_stays_bounded_and_loses_no_count() {
        let mut timeline = Timeline::new();
        for report in 1..=10_000_u64 {
            timeline.add(report as f64 / 2.0, (report * 10, report * 10), &[(report, 1)], [None; 2]);
        }
        let moments = json(&timeline);
        assert!((MOMENTS_MAX / 2..=MOMENTS_MAX + 1).contains(&moments.len()), "{}", moments.len());
        assert_eq!(moments.last().unwrap()[0], Some(5_000.0));
        assert!(moments.iter().all(|moment| moment[2] == Some(20.0)), "{moments:?}");
        let counted: u64 = timeline.moments.iter().flat_map(|moment| moment.latency_ns.values()).sum();
        assert_eq!(counted, 10_000);
        assert_eq!(timeline.latency_us().unwrap()[3], 10.0);
    }
}
