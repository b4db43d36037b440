//! Compares what the audit found in the database with the ledgers of the crowds.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ledger::{CustomerLedger, Ledgers, ProductionLedger, Unconfirmed};
use super::population::Population;
use crate::audited::{BrokenRule, Differences, Digest};

/// What was confirmed is stored, and nothing else is.
const CONFIRMED: &str = "confirmed";

/// What the audit prints about a database.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AuditFacts {
    /// Every customer that is stored.
    customers: Vec<StoredCustomer>,
    /// Number of all orders.
    pub orders: u64,
    /// Number of work orders in state 4.
    complete: u64,
    /// Sum of their digests.
    complete_sum: Digest,
    /// Number of work orders in other states.
    unfinished: u64,
    /// Number of purchases that were delivered.
    delivered: u64,
    /// Sum of their digests.
    delivered_sum: Digest,
    /// The rules that the database breaks by itself.
    broken: Vec<BrokenRule>,
    /// Time that the audit took, seconds.
    pub seconds: f64,
}

/// One customer of the database, as an array: customer, what it owes, orders, sum of their digests, digest of the last order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct StoredCustomer(u32, i64, u64, Digest, Digest);

/// The findings of the database itself, and every difference from the ledgers. Customers for which no crowd made requests must be as
/// loaded.
pub fn compare_with_ledgers(
    facts: &AuditFacts,
    ledgers: &Ledgers,
    population: &Population,
) -> Vec<BrokenRule> {
    let mut expected: BTreeMap<u32, &CustomerLedger> =
        ledgers.customers.iter().map(|one| (one.customer, one)).collect();
    let mut missing = vec![true; population.customers() as usize];
    let mut differences = Differences::default();
    for stored in &facts.customers {
        match missing.get_mut(stored.0 as usize) {
            Some(missing) if *missing => *missing = false,
            _ => differences.add(CONFIRMED, format!("customer {} is stored, and was not loaded", stored.0)),
        }
        match expected.remove(&stored.0) {
            Some(ledger) => compare_customer(&mut differences, ledger, stored),
            None if stored.0 < population.customers() => {
                let first = CustomerLedger::first(population, stored.0);
                compare_customer(&mut differences, &first, stored);
            }
            None => {}
        }
    }
    for (customer, _) in missing.iter().enumerate().filter(|(_, missing)| **missing) {
        differences.add(CONFIRMED, format!("customer {customer} is not stored"));
    }
    compare_production(&mut differences, &ledgers.production, facts);
    facts.broken.iter().cloned().chain(differences.into_rules()).collect()
}

/// The numbers of an account that is as its ledger has it.
fn as_stored(ledger: &CustomerLedger) -> StoredCustomer {
    let last = ledger.orders.values().next_back().map_or(0, super::order::Order::digest);
    let (owed_cents, orders) = (ledger.owed_cents, ledger.orders.len() as u64);
    StoredCustomer(ledger.customer, owed_cents, orders, Digest(ledger.orders_sum()), Digest(last))
}

/// Whether the account is as it would be with the change that has no right reply.
fn has_unconfirmed(ledger: &CustomerLedger, base: &StoredCustomer, stored: &StoredCustomer) -> bool {
    match &ledger.unconfirmed {
        None => false,
        Some(Unconfirmed::Several) => stored.2 >= base.2,
        Some(Unconfirmed::New { total_cents, .. }) => {
            // The id of the new order is not known, so neither is its digest. It is the last order.
            let is_one_more = stored.2 == base.2 + 1 && stored.1 == base.1 + total_cents;
            is_one_more && stored.3.0.wrapping_sub(base.3.0) == stored.4.0
        }
        Some(Unconfirmed::Changed(order)) => {
            let mut changed = ledger.clone();
            changed.enter(order.clone());
            as_stored(&changed) == *stored
        }
    }
}

fn compare_customer(differences: &mut Differences, ledger: &CustomerLedger, stored: &StoredCustomer) {
    let base = as_stored(ledger);
    if base == *stored || has_unconfirmed(ledger, &base, stored) {
        return;
    }
    let StoredCustomer(customer, owed_cents, orders, sum, last) = *stored;
    let confirmed = base.2;
    let orders_differ = if orders < confirmed {
        Some(format!("{orders} orders are stored, {confirmed} were confirmed"))
    } else if orders > confirmed {
        Some(format!("{orders} orders are stored, only {confirmed} were confirmed"))
    } else if (sum, last) != (base.3, base.4) {
        Some("an order is stored that differs from the confirmed one".to_owned())
    } else {
        None
    };
    if let Some(difference) = orders_differ {
        differences.add(CONFIRMED, format!("customer {customer}: {difference}"));
    }
    if owed_cents != base.1 {
        differences
            .add("ledger", format!("customer {customer}: {owed_cents} cents owed instead of {}", base.1));
    }
}

/// What has a number and a sum of digests.
struct Counted {
    stored: (u64, Digest),
    confirmed: (u64, u64),
    /// Those that may be stored beside the confirmed ones.
    maybe: u64,
}

fn compare_production(differences: &mut Differences, ledger: &ProductionLedger, facts: &AuditFacts) {
    let work_orders = Counted {
        stored: (facts.complete, facts.complete_sum),
        confirmed: (ledger.complete, ledger.complete_sum),
        maybe: ledger.maybe_complete,
    };
    let deliveries = Counted {
        stored: (facts.delivered, facts.delivered_sum),
        confirmed: (ledger.delivered, ledger.delivered_sum),
        maybe: ledger.maybe_delivered,
    };
    for (name, counted) in
        [("work orders are complete", work_orders), ("purchases are delivered", deliveries)]
    {
        let Counted { stored: (stored, sum), confirmed: (confirmed, confirmed_sum), maybe } = counted;
        if stored < confirmed || stored > confirmed + maybe {
            let count = stored.abs_diff(confirmed);
            differences.add_several(CONFIRMED, count, format!("{stored} {name}, {confirmed} were confirmed"));
        } else if stored == confirmed && sum.0 != confirmed_sum {
            differences.add(CONFIRMED, format!("{name} that differ from the confirmed ones"));
        }
    }
    if facts.unfinished > ledger.unfinished {
        let unfinished = facts.unfinished - ledger.unfinished;
        differences.add_several(
            "unfinished",
            unfinished,
            format!("{unfinished} work orders are in a state below 4, and no factory left them"),
        );
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
