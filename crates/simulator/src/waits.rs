//! How long woken tasks wait in a run queue.

use hdrhistogram::Histogram;
use serde::{Serialize, Serializer};

use crate::events::Cycles;

/// Longest wait that is told apart, in cycles: some ten minutes at 7 GHz.
const LONGEST: Cycles = 1 << 42;

/// Times from a wake-up until a CPU has chosen the task, in cycles, to 1 %. Waits after a preemption or a yield are not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Waits(Histogram<u64>);

impl Eq for Waits {}

impl Default for Waits {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST, 2).expect("the bounds are valid"))
    }
}

impl Waits {
    pub(crate) fn record(&mut self, cycles: Cycles) {
        self.0.saturating_record(cycles);
    }

    /// How many waits there were.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The wait that this share of all waits does not exceed, in cycles; 0 if there were none.
    pub fn quantile(&self, share: f64) -> Cycles {
        self.0.value_at_quantile(share)
    }

    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut since = self.0.clone();
        since.subtract(&earlier.0).expect("the later histogram has the waits of the earlier one");
        Self(since)
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut sum = self.0.clone();
        sum.add(&other.0).expect("both have the same bounds");
        Self(sum)
    }
}

/// Its distribution: each distinct wait in cycles with its count.
impl Serialize for Waits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_seq(self.0.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())))
    }
}

#[test]
fn a_part_of_a_run_has_its_own_waits() {
    let mut waits = Waits::default();
    waits.record(100);
    let earlier = waits.clone();
    (0..99).for_each(|_| waits.record(7));
    let since = waits.since(&earlier);
    assert_eq!((since.count(), since.quantile(0.99)), (99, 7));
    assert_eq!(since.plus(&earlier), waits);
    assert_eq!(serde_json::to_string(&since).unwrap(), "[[7,99]]");
}
