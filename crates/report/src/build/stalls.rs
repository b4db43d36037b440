//! Stalls of a run: moments in which messages were under way and did not come.

use klatch_record::Timeline;

use crate::number::time;

/// A delivery that took so many times as long as the longest of an interval in the middle does.
const TIMES_THE_USUAL: f64 = 10.0;
/// Times are exact to so much.
const EXACT: f64 = 1.0 / 16.0;

/// A stall.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stall {
    /// When it began and ended, seconds.
    from_s: f64,
    to_s: f64,
    kind: Kind,
    /// The interval in which deliveries came again.
    pub(super) ends_at: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// Nothing at all came.
    Silent,
    /// A delivery took so many times as long as is usual, µs.
    Late { us: f64, times: f64 },
}

impl Stall {
    pub(super) fn length_s(&self) -> f64 {
        match self.kind {
            Kind::Silent => self.to_s - self.from_s,
            Kind::Late { us, .. } => us / 1e6,
        }
    }

    pub(super) fn middle_s(&self) -> f64 {
        (self.from_s + self.to_s) / 2.0
    }

    pub(super) fn says(&self) -> String {
        match self.kind {
            Kind::Silent => format!("nothing came from {:.2} to {:.2} s", self.from_s, self.to_s),
            Kind::Late { us, times } => {
                format!("a delivery at {:.2} s took {}, {times:.0} times the usual", self.to_s, time(us))
            }
        }
    }
}

/// The stalls of a run, in their order. Whoever says nothing hears nothing: silence is a stall only if what came after it had been
/// under way for as long.
pub(super) fn stalls(timeline: &Timeline) -> Vec<Stall> {
    let width_s = timeline.interval_ms as f64 / 1e3;
    let mut longest: Vec<f64> = timeline.intervals.iter().filter_map(|interval| interval.max_us).collect();
    longest.sort_by(f64::total_cmp);
    let Some(usual_us) = longest.get(longest.len() / 2).copied() else { return Vec::new() };
    let (mut stalls, mut silent) = (Vec::new(), 0);
    for (place, interval) in timeline.intervals.iter().enumerate() {
        let Some(max_us) = interval.max_us else {
            silent += 1;
            continue;
        };
        let silent_s = silent as f64 * width_s;
        let from_s = place as f64 * width_s;
        if silent > 0 && max_us * (1.0 + EXACT) >= silent_s * 1e6 {
            let kind = Kind::Silent;
            stalls.push(Stall { from_s: from_s - silent_s, to_s: from_s, kind, ends_at: place });
        } else if max_us > usual_us * TIMES_THE_USUAL {
            let kind = Kind::Late { us: max_us, times: max_us / usual_us };
            let middle_s = from_s + width_s / 2.0;
            stalls.push(Stall { from_s: middle_s, to_s: middle_s, kind, ends_at: place });
        }
        silent = 0;
    }
    stalls
}

#[cfg(test)]
mod tests {
    use klatch_record::IntervalCounts;

    use super::*;

    /// Intervals of 25 ms with a delivery of each of these latencies in ms.
    fn seen(intervals: &[&[u64]]) -> Vec<String> {
        let counts = |latencies: &&[u64]| latencies.iter().map(|ms| (ms * 1_000_000, 1)).collect();
        let latency_ns = intervals.iter().map(counts).collect();
        let timeline = Timeline::from_counts(&IntervalCounts { interval_ms: 25, latency_ns }).unwrap();
        stalls(&timeline).iter().map(Stall::says).collect()
    }

    #[test]
    fn a_silence_in_which_messages_were_under_way_is_a_stall() {
        assert_eq!(seen(&[&[1], &[1], &[], &[], &[50, 1], &[1]]), ["nothing came from 0.05 to 0.10 s"]);
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
