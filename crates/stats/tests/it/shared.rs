//! Random numbers for simulations, and what chance allows for their counts.

use fastrand::Rng;

/// Standard errors that a simulated rate may be off by: one simulation in a thousand would be (one-sided).
const CHANCE: f64 = 3.09;

/// A standard normal number (Box and Muller 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// A count out of simulations.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rate {
    pub(crate) count: u32,
    pub(crate) of: u32,
}

impl Rate {
    pub(crate) fn add(&mut self, counts: bool) {
        self.count += u32::from(counts);
        self.of += 1;
    }

    pub(crate) fn percent(self) -> f64 {
        f64::from(self.count) / f64::from(self.of) * 100.0
    }

    /// Whether a true rate of this many per cent, or less, can have led to this count.
    pub(crate) fn can_be_at_most(self, percent: f64) -> bool {
        self.percent() <= percent + self.chance(percent)
    }

    /// Whether a true rate of this many per cent, or more, can have led to this count.
    pub(crate) fn can_be_at_least(self, percent: f64) -> bool {
        self.percent() >= percent - self.chance(percent)
    }

    /// What chance adds to a true rate, by the binomial distribution.
    fn chance(self, percent: f64) -> f64 {
        CHANCE * (percent * (100.0 - percent) / f64::from(self.of)).sqrt()
    }
}
