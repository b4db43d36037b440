//! The draws of one trader: operations from a deck, users from another, symbols and quantities. They are a function of the seed and
//! the trader's number.

use std::ops::Range;

use super::operation::{Mix, OperationKind};
use crate::random::{Part, Random, output, part_seed};

/// Most quotes of one request.
const QUOTES_MAX: u32 = 10;
/// Most shares of one order.
const SHARES_MAX: u32 = 200;

pub(super) struct Script {
    random: Random,
    mix: Mix,
    quotes: u32,
    own_users: Range<u32>,
    operations: Vec<OperationKind>,
    users: Vec<u32>,
    /// Sells that became buys, and are still to be made up for.
    sell_deficit: u32,
}

impl Script {
    pub(super) fn new(seed: u64, trader: u32, mix: Mix, quotes: u32, own_users: Range<u32>) -> Script {
        let random = Random::new(output(part_seed(seed, Part::Traders), trader.into()));
        Script { random, mix, quotes, own_users, operations: Vec::new(), users: Vec::new(), sell_deficit: 0 }
    }

    /// The next operation of a session. `holds_nothing` is `None` if the holdings of its user are not known. A sell becomes a buy if
    /// there is nothing to sell, and a later buy becomes a sell in its place.
    pub(super) fn next_operation(&mut self, holds_nothing: Option<bool>) -> OperationKind {
        match self.draw_operation() {
            OperationKind::Sell if holds_nothing == Some(true) => {
                self.add_missing_sell();
                OperationKind::Buy
            }
            OperationKind::Buy if self.sell_deficit > 0 && holds_nothing == Some(false) => {
                self.sell_deficit -= 1;
                OperationKind::Sell
            }
            operation => operation,
        }
    }

    /// Lets a later buy be a sell, since this sell became a buy.
    pub(super) fn add_missing_sell(&mut self) {
        self.sell_deficit += 1;
    }

    fn draw_operation(&mut self) -> OperationKind {
        if self.operations.is_empty() {
            self.operations.extend(self.mix.deck());
            self.random.shuffle(&mut self.operations);
        }
        self.operations.pop().expect("a deck has cards")
    }

    /// The user of the next session. No user comes again before all others did.
    pub(super) fn next_user(&mut self) -> u32 {
        if self.users.is_empty() {
            self.users.extend(self.own_users.clone());
            self.random.shuffle(&mut self.users);
        }
        self.users.pop().expect("a trader has users")
    }

    /// The symbols of the next request for quotes: 1 to 10.
    pub(super) fn symbols(&mut self) -> Vec<u32> {
        let count = 1 + self.random.below(QUOTES_MAX);
        (0..count).map(|_| self.random.below(self.quotes)).collect()
    }

    /// The number of shares to buy: 1 to 200.
    pub(super) fn quantity(&mut self) -> u32 {
        1 + self.random.below(SHARES_MAX)
    }

    /// One of `count` things, from 0.
    pub(super) fn index(&mut self, count: usize) -> usize {
        self.random.below(count as u32) as usize
    }
}
