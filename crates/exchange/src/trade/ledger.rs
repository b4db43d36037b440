//! What the crowd knows about each user that it plays: everything but the quotes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::order::{Held, Order, OrderKind};
use super::population::{LARGE_BALANCE_CENTS, Population};

/// Orders that the account page shows.
const RECENT_MAX: usize = 5;

/// The account of one user, as far as it is confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserLedger {
    /// Number of the user.
    pub user: u64,
    /// The balance before any order, cents.
    pub open_balance_cents: i64,
    /// The balance now, cents.
    pub balance_cents: i64,
    /// Confirmed logins; a registration is one.
    pub logins: u32,
    /// Logouts that are confirmed.
    pub logouts: u32,
    /// Confirmed updates of the profile.
    pub revision: u32,
    /// The holdings by their ids.
    pub holdings: BTreeMap<u64, Held>,
    /// The orders with the highest ids, highest first; at most five.
    pub recent: Vec<Order>,
    /// Number of all orders.
    pub orders: u64,
    /// Sum of the digests of all orders, modulo 2⁶⁴.
    pub orders_sum: u64,
    /// Whether a request that changes the account had no right reply, so that it may be stored or not.
    pub uncertain: bool,
}

/// The ledgers of the users that a crowd played.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledgers {
    /// The users, each of them once.
    pub users: Vec<UserLedger>,
}

impl UserLedger {
    /// The ledger of a user of the population that nobody has played.
    pub fn first(population: &Population, user: u32) -> UserLedger {
        let first = population.user(user);
        let mut ledger = UserLedger {
            balance_cents: first.balance_cents,
            holdings: first.holdings.iter().copied().collect(),
            ..UserLedger::empty(user.into(), first.open_balance_cents)
        };
        first.orders().for_each(|order| ledger.count_order(order));
        ledger
    }

    /// The ledger of a new user.
    pub(super) fn registered(user: u64) -> UserLedger {
        UserLedger { logins: 1, ..UserLedger::empty(user, LARGE_BALANCE_CENTS) }
    }

    fn empty(user: u64, open_balance_cents: i64) -> UserLedger {
        UserLedger {
            user,
            open_balance_cents,
            balance_cents: open_balance_cents,
            logins: 0,
            logouts: 0,
            revision: 0,
            holdings: BTreeMap::new(),
            recent: Vec::new(),
            orders: 0,
            orders_sum: 0,
            uncertain: false,
        }
    }

    /// Enters a confirmed order.
    pub(super) fn enter(&mut self, order: Order) {
        self.balance_cents += order.gain_cents();
        match order.kind {
            OrderKind::Buy => {
                let Order { symbol, quantity, price_cents, .. } = order;
                self.holdings.insert(order.holding, Held { symbol, quantity, paid_cents: price_cents });
            }
            OrderKind::Sell => {
                self.holdings.remove(&order.holding);
            }
        }
        self.count_order(order);
    }

    fn count_order(&mut self, order: Order) {
        self.orders += 1;
        self.orders_sum = self.orders_sum.wrapping_add(order.digest());
        let place = self.recent.partition_point(|other| other.id > order.id);
        self.recent.insert(place, order);
        self.recent.truncate(RECENT_MAX);
    }

    /// Sum of the digests of the holdings, modulo 2⁶⁴.
    pub(super) fn holdings_sum(&self) -> u64 {
        self.holdings.iter().fold(0, |sum, (id, held)| sum.wrapping_add(held.digest(*id)))
    }

    /// What was paid for the holdings, cents.
    pub(super) fn cost_cents(&self) -> i64 {
        let paid = |held: &Held| i64::from(held.quantity) * i64::from(held.paid_cents);
        self.holdings.values().map(paid).sum()
    }
}
