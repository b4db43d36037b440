//! The first state of every account and quote, as functions of a seed.

use super::order::{FEE_CENTS, Held, Order, OrderKind};
use crate::random::{Part, Random, output, part_seed};

/// Most holdings that a user can have at first. Ids of first orders and holdings are the user's number times this, and up.
const HOLDINGS_MAX: u32 = 10;
/// Open balance of user 0, and of every new user, cents.
pub(super) const LARGE_BALANCE_CENTS: i64 = 100_000_000;

/// The users and quotes that a server loads before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Population {
    /// Seed of all draws.
    pub seed: u64,
    /// Number of users, at least 1.
    pub users: u32,
    /// Number of quotes, at least 1.
    pub quotes: u32,
}

/// A user as the server loads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstUser {
    /// The balance before any order, cents.
    pub open_balance_cents: i64,
    /// The balance after the first orders, cents.
    pub balance_cents: i64,
    /// The holdings, by their ids. Each was bought by the order with the same id.
    pub holdings: Vec<(u64, Held)>,
}

impl Population {
    /// The first price of a quote, cents.
    pub fn open_cents(&self, symbol: u32) -> u32 {
        let mut quote = Random::new(output(part_seed(self.seed, Part::Quotes), symbol.into()));
        100 + quote.below(19_901)
    }

    /// The user `user`, below [`Population::users`].
    pub fn user(&self, user: u32) -> FirstUser {
        let mut random = Random::new(output(part_seed(self.seed, Part::Brokerage), user.into()));
        let drawn = 20_000_000 + i64::from(random.below(10_000_001));
        let open_balance_cents = if user == 0 { LARGE_BALANCE_CENTS } else { drawn };
        let count = random.below(HOLDINGS_MAX + 1);
        let mut balance_cents = open_balance_cents;
        let mut holdings = Vec::new();
        for index in 0..count {
            let symbol = random.below(self.quotes);
            let quantity = 1 + random.below(200);
            let paid_cents = self.open_cents(symbol);
            balance_cents -= i64::from(quantity) * i64::from(paid_cents) + FEE_CENTS;
            let id = u64::from(user * HOLDINGS_MAX + index);
            holdings.push((id, Held { symbol, quantity, paid_cents }));
        }
        FirstUser { open_balance_cents, balance_cents, holdings }
    }
}

impl FirstUser {
    /// The orders that bought the holdings, by ascending id.
    pub fn orders(&self) -> impl DoubleEndedIterator<Item = Order> {
        self.holdings.iter().map(|(id, held)| Order {
            id: *id,
            kind: OrderKind::Buy,
            symbol: held.symbol,
            quantity: held.quantity,
            price_cents: held.paid_cents,
            changes: 0,
            holding: *id,
        })
    }
}
