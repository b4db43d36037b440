//! The price of a quote, as a function of the seed, its symbol and the number of its changes.

use super::population::Population;
use crate::random::{Part, output, part_seed, scale};

/// More changes of a quote than any run makes. A number above it is a fault of the server, not a price to compute.
const CHANGES_MAX: u32 = 10_000_000;

/// The price after a change, cents. `draw` is below 21.
pub fn next_price(price_cents: u32, draw: u32) -> u32 {
    match price_cents {
        1 => 600,
        40_001.. => price_cents.div_ceil(2),
        _ => (price_cents * (90 + draw) + 50) / 100,
    }
}

/// The prices of all quotes, each computed once.
pub struct Prices {
    population: Population,
    changes_seed: u64,
    /// The prices of each symbol so far, by number of changes.
    chains: Vec<Vec<u32>>,
}

impl Prices {
    /// Prices of this population, none of them computed yet.
    pub fn new(population: Population) -> Prices {
        let chains = vec![Vec::new(); population.quotes as usize];
        Prices { population, changes_seed: part_seed(population.seed, Part::Changes), chains }
    }

    /// The price before any change, cents. It is drawn again, so that no chain is read.
    pub(super) fn open_cents(&self, symbol: u32) -> u32 {
        self.population.open_cents(symbol)
    }

    /// The price after so many changes, cents; `None` if there is no such symbol, or if no run makes so many changes.
    pub fn price_cents(&mut self, symbol: u32, changes: u32) -> Option<u32> {
        let chain = self.chains.get_mut(symbol as usize)?;
        if changes > CHANGES_MAX {
            return None;
        }
        if chain.is_empty() {
            chain.push(self.population.open_cents(symbol));
        }
        let seed = output(self.changes_seed, symbol.into());
        while chain.len() <= changes as usize {
            let last = chain[chain.len() - 1];
            let bits = output(seed, chain.len() as u64 - 1);
            chain.push(next_price(last, scale((bits >> 32) as u32, 21)));
        }
        Some(chain[changes as usize])
    }
}
