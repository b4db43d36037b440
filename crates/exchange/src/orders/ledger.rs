//! What the crowd knows about its customers and about the work that it has confirmed.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::order::{Line, Order, Purchase, WorkOrder};
use super::population::Population;

/// The account of one customer, as far as it is confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerLedger {
    /// Number of the customer.
    pub customer: u32,
    /// Discount, hundredths of a per cent.
    pub discount: u32,
    /// The most that it may owe, cents.
    pub limit_cents: i64,
    /// What it owes, cents.
    pub owed_cents: i64,
    /// All its orders by their ids.
    pub orders: BTreeMap<u64, Order>,
    /// Whether a request was made that can change the account.
    pub is_changed: bool,
    /// What may be stored too, because a reply is missing or wrong.
    pub unconfirmed: Option<Unconfirmed>,
}

/// A change without a right reply: it may be stored or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unconfirmed {
    /// A new order, whose id is not known.
    New {
        /// Its total with the discount, cents.
        total_cents: i64,
        /// The lines that it has.
        lines: Vec<Line>,
    },
    /// The state of an order after a change, or after it was cancelled.
    Changed(Order),
    /// More than one change, so the account is not compared.
    Several,
}

/// What factories and suppliers have confirmed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductionLedger {
    /// Number of work orders that are complete.
    pub complete: u64,
    /// Sum of their digests, modulo 2⁶⁴.
    pub complete_sum: u64,
    /// Number of purchases that were delivered.
    pub delivered: u64,
    /// Sum of their digests, modulo 2⁶⁴.
    pub delivered_sum: u64,
    /// Work orders that were left before they were complete, as the run broke off or a reply was wrong.
    pub unfinished: u64,
    /// Of those, the ones whose last step had no right reply, so that they may be complete.
    pub maybe_complete: u64,
    /// Deliveries without a right reply, so that they may be stored.
    pub maybe_delivered: u64,
}

/// The ledgers of a crowd.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledgers {
    /// Runs of the same start of the server, so that a later one draws other numbers.
    pub runs: u32,
    /// The customers for which requests were made, each of them once.
    pub customers: Vec<CustomerLedger>,
    /// What factories and suppliers have confirmed.
    pub production: ProductionLedger,
}

impl CustomerLedger {
    /// The ledger of a customer of the population for which no request was made.
    pub fn first(population: &Population, customer: u32) -> CustomerLedger {
        let first = population.customer(customer);
        CustomerLedger {
            customer,
            discount: first.discount,
            limit_cents: first.limit_cents,
            owed_cents: first.order.total_cents,
            orders: [(first.order.id, first.order)].into(),
            is_changed: false,
            unconfirmed: None,
        }
    }

    /// Whether the customer would owe more than it may, if it owed `more_cents` more.
    pub(super) fn is_above_limit(&self, more_cents: i64) -> bool {
        self.owed_cents + more_cents > self.limit_cents
    }

    /// Enters a confirmed order, or its confirmed new state.
    pub(super) fn enter(&mut self, order: Order) {
        let owed = |order: &Order| if order.is_cancelled { 0 } else { order.total_cents };
        self.owed_cents += owed(&order) - self.orders.get(&order.id).map_or(0, owed);
        self.orders.insert(order.id, order);
    }

    /// Records a change without a right reply.
    pub(super) fn record_unconfirmed(&mut self, change: Unconfirmed) {
        self.unconfirmed = Some(if self.unconfirmed.is_none() { change } else { Unconfirmed::Several });
    }

    /// Sum of the digests of the orders, modulo 2⁶⁴.
    pub(super) fn orders_sum(&self) -> u64 {
        self.orders.values().fold(0, |sum, order| sum.wrapping_add(order.digest()))
    }
}

impl ProductionLedger {
    pub(super) fn record_complete(&mut self, work_order: &WorkOrder) {
        self.complete += 1;
        self.complete_sum = self.complete_sum.wrapping_add(work_order.digest());
    }

    pub(super) fn record_delivered(&mut self, purchase: &Purchase) {
        self.delivered += 1;
        self.delivered_sum = self.delivered_sum.wrapping_add(purchase.digest());
    }

    /// Adds what another part of the crowd, or an earlier run, has confirmed.
    pub fn add(&mut self, other: &ProductionLedger) {
        self.complete += other.complete;
        self.complete_sum = self.complete_sum.wrapping_add(other.complete_sum);
        self.delivered += other.delivered;
        self.delivered_sum = self.delivered_sum.wrapping_add(other.delivered_sum);
        self.unfinished += other.unfinished;
        self.maybe_complete += other.maybe_complete;
        self.maybe_delivered += other.maybe_delivered;
    }
}

impl Ledgers {
    /// Adds the ledgers of a crowd with other customers.
    pub fn add(&mut self, other: Ledgers) {
        self.runs = self.runs.max(other.runs);
        self.customers.extend(other.customers);
        self.production.add(&other.production);
    }

    /// These ledgers of a run after those of earlier runs of the same start.
    #[must_use]
    pub fn after(mut self, earlier: Ledgers) -> Ledgers {
        let played: HashSet<u32> = self.customers.iter().map(|ledger| ledger.customer).collect();
        self.customers
            .extend(earlier.customers.into_iter().filter(|ledger| !played.contains(&ledger.customer)));
        self.production.add(&earlier.production);
        self.runs = earlier.runs + 1;
        self
    }

    /// The seed of the next run: each run of a start draws other numbers.
    pub fn seed_of_next_run(&self, seed: u64) -> u64 {
        seed.wrapping_add(u64::from(self.runs) << 32)
    }
}

/// The ids that a server has given out, as no id is given twice.
#[derive(Debug)]
pub struct UsedIds {
    first_order: u64,
    orders: HashSet<u64>,
    work_orders: HashSet<u64>,
}

impl UsedIds {
    /// The ids that are used before a run.
    pub fn new(population: &Population, ledgers: &Ledgers) -> UsedIds {
        let orders = ledgers.customers.iter().flat_map(|customer| customer.orders.keys().copied()).collect();
        UsedIds { first_order: population.first_new_order(), orders, work_orders: HashSet::new() }
    }

    /// Uses the id of a new order. Returns whether it is a new id.
    pub(super) fn use_order(&mut self, id: u64) -> bool {
        id >= self.first_order && self.orders.insert(id)
    }

    /// Uses the id of a new work order. Returns whether it is a new id.
    pub(super) fn use_work_order(&mut self, id: u64) -> bool {
        self.work_orders.insert(id)
    }
}
