//! Stalls of a run: times in which messages were in flight and were not delivered.

use klatch_record::{CrowdGap, Timeline};

use crate::number::time;

/// A delivery is late if it took this multiple of the median, over all intervals, of the maximum latency.
const TIMES_THE_USUAL: f64 = 10.0;
/// Relative resolution of the latencies.
const EXACT: f64 = 1.0 / 16.0;

/// A period without deliveries, or one very late delivery.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stall {
    /// Begin and end, seconds since the gate opened.
    from_s: f64,
    to_s: f64,
    kind: Kind,
    /// Index of the interval in which deliveries resumed.
    pub(super) ends_at: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// There was no delivery at all.
    Idle,
    /// A delivery took `us` µs, `times` the usual maximum.
    Late { us: f64, times: f64 },
}

impl Stall {
    pub(super) fn length_s(&self) -> f64 {
        match self.kind {
            Kind::Idle => self.to_s - self.from_s,
            Kind::Late { us, .. } => us / 1e6,
        }
    }

    /// Whether gaps of the crowd explain it: in half of its time the crowd did not run. When the late delivery of an interval
    /// arrived is not known, so a gap of half of its length anywhere near is enough.
    pub(super) fn is_of_crowd(&self, gaps: &[CrowdGap], width_s: f64) -> bool {
        let (from_s, to_s) = match self.kind {
            Kind::Idle => (self.from_s, self.to_s),
            Kind::Late { us, .. } => (self.to_s - us / 1e6 - width_s, self.to_s + width_s),
        };
        let within = |gap: &CrowdGap| (gap.to_s.min(to_s) - gap.from_s.max(from_s)).max(0.0);
        gaps.iter().map(within).sum::<f64>() >= self.length_s() / 2.0
    }

    pub(super) fn middle_s(&self) -> f64 {
        (self.from_s + self.to_s) / 2.0
    }

    pub(super) fn describe(&self) -> String {
        match self.kind {
            Kind::Idle => format!("no delivery from {:.2} to {:.2} s", self.from_s, self.to_s),
            Kind::Late { us, times } => {
                format!("a delivery at {:.2} s took {}, {times:.0} times the usual", self.to_s, time(us))
            }
        }
    }
}

/// From this latency on a delivery is a stall, µs: a multiple of what is usual. `None` without a delivery.
pub(super) fn late_min_us(timeline: &Timeline) -> Option<f64> {
    let mut longest: Vec<f64> = timeline.intervals.iter().filter_map(|interval| interval.max_us).collect();
    longest.sort_by(f64::total_cmp);
    longest.get(longest.len() / 2).map(|usual_us| usual_us * TIMES_THE_USUAL)
}

/// The stalls of a run in chronological order. An idle interval is a stall only if a delivery right after it had been in
/// flight for all of that time: otherwise no message was due.
pub(super) fn stalls(timeline: &Timeline) -> Vec<Stall> {
    let width_s = timeline.interval_ms as f64 / 1e3;
    let Some(late_min_us) = late_min_us(timeline) else { return Vec::new() };
    let (mut stalls, mut idle) = (Vec::new(), 0);
    for (place, interval) in timeline.intervals.iter().enumerate() {
        let Some(max_us) = interval.max_us else {
            idle += 1;
            continue;
        };
        let idle_s = idle as f64 * width_s;
        let from_s = place as f64 * width_s;
        if idle > 0 && max_us * (1.0 + EXACT) >= idle_s * 1e6 {
            let kind = Kind::Idle;
            stalls.push(Stall { from_s: from_s - idle_s, to_s: from_s, kind, ends_at: place });
        } else if max_us > late_min_us {
            let kind = Kind::Late { us: max_us, times: max_us / late_min_us * TIMES_THE_USUAL };
            let middle_s = from_s + width_s / 2.0;
            stalls.push(Stall { from_s: middle_s, to_s: middle_s, kind, ends_at: place });
        }
        idle = 0;
    }
    stalls
}

#[cfg(test)]
mod tests {
    use klatch_record::IntervalCounts;

    use super::*;

    /// Stalls of a run with intervals of 25 ms and these delivery latencies, ms.
    fn seen(intervals: &[&[u64]]) -> Vec<String> {
        let counts = |latencies: &&[u64]| latencies.iter().map(|ms| (ms * 1_000_000, 1)).collect();
        let latency_ns = intervals.iter().map(counts).collect();
        let timeline = Timeline::from_counts(&IntervalCounts { interval_ms: 25, latency_ns }).unwrap();
        stalls(&timeline).iter().map(Stall::describe).collect()
    }

    #[test]
    fn a_silence_in_which_messages_were_under_way_is_a_stall() {
        assert_eq!(seen(&[&[1], &[1], &[], &[], &[50, 1], &[1]]), ["no delivery from 0.05 to 0.10 s"]);
    }

    #[test]
    fn a_stall_in_a_gap_of_the_crowd_is_the_crowds() {
        let late = Stall { from_s: 6.0, to_s: 6.0, kind: Kind::Late { us: 4.9e6, times: 900.0 }, ends_at: 9 };
        let idle = Stall { from_s: 1.1, to_s: 6.0, kind: Kind::Idle, ends_at: 9 };
        let gaps = |from_s, to_s| [CrowdGap { from_s, to_s }];
        assert!(late.is_of_crowd(&gaps(1.0, 5.98), 0.1) && idle.is_of_crowd(&gaps(1.0, 5.98), 0.1));
        assert!(!late.is_of_crowd(&gaps(7.0, 9.0), 0.1) && !idle.is_of_crowd(&gaps(0.2, 1.0), 0.1));
        assert!(!late.is_of_crowd(&gaps(3.0, 3.002), 0.1) && !idle.is_of_crowd(&gaps(3.0, 3.002), 0.1));
        assert!(!idle.is_of_crowd(&[], 0.1));
    }

    #[test]
    fn a_silence_in_which_nobody_spoke_is_none() {
        assert_eq!(seen(&[&[1], &[], &[], &[1], &[], &[1]]), [""; 0]);
        assert_eq!(seen(&[]), [""; 0]);
    }

    #[test]
    fn a_delivery_that_took_ten_times_the_usual_is_a_stall() {
        assert_eq!(seen(&[&[1], &[2], &[2], &[10], &[2]]), [""; 0]);
        let late = seen(&[&[1], &[2], &[2], &[30, 1], &[2]]);
        assert_eq!(late, ["a delivery at 0.09 s took 30.0 ms, 15 times the usual"]);
    }
}
