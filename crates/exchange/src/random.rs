//! Numbers that are a function of a seed: SplitMix64, which every language of the project computes alike.

/// The increment of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The parts of the workloads that draw from a seed. Each has a sequence of its own.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Text = 1,
    Files = 2,
    Users = 3,
    Ads = 4,
    Lines = 5,
    Table = 6,
    Pages = 7,
    Readers = 8,
    Brokerage = 9,
    Quotes = 10,
    Changes = 11,
    Traders = 12,
    Customers = 13,
    Assemblies = 14,
    Components = 15,
    FirstOrders = 16,
    Dealers = 17,
    Factories = 18,
}

/// The finaliser of SplitMix64: every bit of `z` affects every bit of the result.
const fn mix(mut z: u64) -> u64 {
    z ^= z >> 30;
    z = z.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^= z >> 27;
    z = z.wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Output number `index`, from 0, of a SplitMix64 generator with this seed.
pub(crate) const fn output(seed: u64, index: u64) -> u64 {
    mix(seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP)))
}

/// The seed of one part of the workload.
pub(crate) const fn part_seed(seed: u64, part: Part) -> u64 {
    output(seed, part as u64)
}

/// Scales 32 random bits to a number below `limit`. Its bias is below `limit` / 2³².
pub(crate) const fn scale(bits: u32, limit: u32) -> u32 {
    ((bits as u64 * limit as u64) >> 32) as u32
}

/// A SplitMix64 generator, which is at output `drawn` of its seed.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random { seed, drawn: 0 }
    }

    pub(crate) fn next(&mut self) -> u64 {
        let number = output(self.seed, self.drawn);
        self.drawn += 1;
        number
    }

    /// A number below `limit`, from the upper half of the next output.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        scale((self.next() >> 32) as u32, limit)
    }

    /// Puts a deck in another order: the shuffle of Fisher and Yates.
    pub(crate) fn shuffle<T>(&mut self, deck: &mut [T]) {
        for last in (1..deck.len()).rev() {
            deck.swap(last, self.below(last as u32 + 1) as usize);
        }
    }

    /// A number from 0 to below 1, from the upper 53 bits of the next output.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outputs for seed 1234567, as published with the Java and C versions of SplitMix64.
    #[test]
    fn outputs_are_those_of_split_mix_64() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn scaled_bits_stay_below_the_limit() {
        assert_eq!((scale(0, 9), scale(u32::MAX, 9), scale(u32::MAX, 1)), (0, 8, 0));
    }
}
