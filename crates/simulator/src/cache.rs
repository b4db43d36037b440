//! How much of a task's data is cold when the task returns to a CPU: the footprint model of Thiebaut and Stone (1987) and of
//! Squillante and Lazowska (1993). A share of exp(-x) of its lines is left after other tasks have loaded x times the cache's size.

use crate::events::Cycles;

/// 1.0 in the fixed-point numbers of this module.
const ONE: u64 = 1 << 32;
/// exp(-1/32) in the same.
const STEP: u64 = 4_162_825_044;
/// Entries up to exp(-8); below that nothing is left.
const ENTRIES: usize = 257;

/// exp(-x) for x in steps of 1/32.
pub(crate) struct Decay([u64; ENTRIES]);

impl Decay {
    pub(crate) fn new() -> Self {
        let mut table = [ONE; ENTRIES];
        for at in 1..ENTRIES {
            table[at] = (table[at - 1] * STEP) >> 32;
        }
        Self(table)
    }

    /// The part of `bytes` that is cold after others have loaded `loaded` bytes into a cache of `size` bytes.
    pub(crate) fn cold_part(&self, bytes: u64, loaded: u64, size: u64) -> Cycles {
        let at = usize::try_from(loaded.saturating_mul(32) / size).unwrap_or(usize::MAX);
        let cold = self.0.get(at).map_or(ONE, |left| ONE - left);
        u64::try_from((u128::from(bytes) * u128::from(cold)) >> 32).expect("a part of a u64")
    }
}

#[test]
fn a_cache_that_was_loaded_once_over_keeps_a_third() {
    let decay = Decay::new();
    assert_eq!(decay.cold_part(1000, 0, 1 << 20), 0);
    assert_eq!(decay.cold_part(1000, 1 << 20, 1 << 20), 632);
    assert_eq!(decay.cold_part(1000, u64::MAX, 1 << 20), 1000);
}
