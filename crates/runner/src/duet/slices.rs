//! Pairs of slices: one of each side, one after the other or at the same time.

use std::time::{Duration, Instant};

use fastrand::Rng;
use klatch_record::{Slice, SlicePair};

use crate::RunError;
use crate::duet::placement::Placement;
use crate::duet::sides::Sides;

/// Share of a slice's duration that the paused side may use as CPU time. A JVM's timers use 0.1 to 0.3 %.
const DISTURBED_SHARE: f64 = 0.02;
/// A slice with fewer messages than this is too short to be compared.
const MESSAGES_MIN: u64 = 20;

/// How to cut time into slices.
pub(crate) struct Slicing {
    /// Length of a slice without its margins.
    pub(crate) slice: Duration,
    /// Both sides run at the same time.
    pub(crate) together: bool,
    /// Time zero of [`SlicePair::at_s`].
    pub(crate) began: Instant,
}

/// The pairs of one start.
#[derive(Default)]
pub(crate) struct Pairs {
    pub(crate) pairs: Vec<SlicePair>,
    pub(crate) disturbed: u32,
    /// The side whose crowd has ended by itself.
    pub(crate) ended: Option<usize>,
}

impl Pairs {
    /// Number of pairs, those that were left out included.
    pub(crate) fn made(&self) -> usize {
        self.pairs.len() + self.disturbed as usize
    }
}

impl Slicing {
    /// Makes one pair and adds it to `pairs`.
    pub(crate) fn pair(
        &self,
        sides: &mut dyn Sides,
        rng: &mut Rng,
        pairs: &mut Pairs,
    ) -> Result<(), RunError> {
        let (at_s, a_first) = (self.began.elapsed().as_secs_f64(), rng.bool());
        let placement = Placement::random(rng);
        let made = if self.together { self.both(sides)? } else { self.in_turn(sides, a_first, placement)? };
        match made {
            Made::Ended(side) => pairs.ended = Some(side),
            Made::Disturbed => pairs.disturbed += 1,
            Made::Pair(a, b) => pairs.pairs.push(SlicePair { at_s, a_first, a, b }),
        }
        Ok(())
    }

    fn in_turn(
        &self,
        sides: &mut dyn Sides,
        a_first: bool,
        placement: Option<Placement>,
    ) -> Result<Made, RunError> {
        let mut slices = [None, None];
        let mut disturbed = false;
        for side in if a_first { [0, 1] } else { [1, 0] } {
            let (paused_ns, began) = (sides.cpu_ns(1 - side), Instant::now());
            sides.begin_slice(side, placement)?;
            std::thread::sleep(self.slice);
            slices[side] = sides.end_slice(side)?;
            if slices[side].is_none() {
                return Ok(Made::Ended(side));
            }
            let used_s = (sides.cpu_ns(1 - side).saturating_sub(paused_ns)) as f64 / 1e9;
            disturbed |= used_s > DISTURBED_SHARE * began.elapsed().as_secs_f64();
        }
        Ok(made(slices, disturbed))
    }

    fn both(&self, sides: &mut dyn Sides) -> Result<Made, RunError> {
        sides.begin_slice(0, None)?;
        sides.begin_slice(1, None)?;
        std::thread::sleep(self.slice);
        let mut slices = [None, None];
        for (side, slice) in slices.iter_mut().enumerate() {
            *slice = sides.end_slice(side)?;
            if slice.is_none() {
                return Ok(Made::Ended(side));
            }
        }
        Ok(made(slices, false))
    }
}

enum Made {
    Pair(Slice, Slice),
    Disturbed,
    Ended(usize),
}

fn made(slices: [Option<Slice>; 2], disturbed: bool) -> Made {
    match slices {
        [Some(a), Some(b)] if !disturbed && a.messages.min(b.messages) >= MESSAGES_MIN => Made::Pair(a, b),
        _ => Made::Disturbed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sides that use CPU time as scripted: `leaks[n]` is the other side's CPU time during slice `n`, ns.
    struct Scripted {
        leaks: Vec<u64>,
        slices: usize,
        cpu_ns: [u64; 2],
        ends_at: usize,
    }

    impl Sides for Scripted {
        fn begin_slice(&mut self, side: usize, _: Option<Placement>) -> Result<(), RunError> {
            self.cpu_ns[1 - side] += self.leaks.get(self.slices).copied().unwrap_or(0);
            Ok(())
        }

        fn end_slice(&mut self, side: usize) -> Result<Option<Slice>, RunError> {
            self.slices += 1;
            self.cpu_ns[side] += 1_000_000;
            let cpu_s = Some(0.001);
            let slice = Slice {
                messages: 100,
                elapsed_s: 0.001,
                server_cpu_s: cpu_s,
                crowd_cpu_s: cpu_s,
                latency_p50_us: Some(1.0),
                latency_p99_us: Some(2.0),
                end_margin_ms: 0.0,
            };
            Ok((self.slices <= self.ends_at).then_some(slice))
        }

        fn cpu_ns(&self, side: usize) -> u64 {
            self.cpu_ns[side]
        }

        fn all_cpu_ns(&self) -> u64 {
            self.cpu_ns.iter().sum()
        }
    }

    fn run(leaks: Vec<u64>, ends_at: usize, slices: usize) -> Pairs {
        let slicing = Slicing { slice: Duration::from_millis(1), together: false, began: Instant::now() };
        let mut sides = Scripted { leaks, slices: 0, cpu_ns: [0; 2], ends_at };
        let (mut pairs, mut rng) = (Pairs::default(), Rng::with_seed(1));
        while sides.slices < slices && pairs.ended.is_none() {
            slicing.pair(&mut sides, &mut rng, &mut pairs).unwrap();
        }
        pairs
    }

    #[test]
    fn a_pair_with_work_of_the_paused_side_is_left_out_and_counted() {
        let pairs = run(vec![0, 0, 0, 10_000_000], usize::MAX, 6);
        assert_eq!((pairs.pairs.len(), pairs.disturbed, pairs.ended), (2, 1, None));
    }

    #[test]
    fn a_side_that_ends_is_named() {
        let pairs = run(Vec::new(), 4, 100);
        assert_eq!(pairs.pairs.len(), 2);
        assert!(pairs.ended.is_some());
    }
}
