//! Compares what the audit found in the database with the ledgers of the crowds.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ledger::{Ledgers, UserLedger};
use super::population::Population;
use crate::audited::{BrokenRule, Differences, Digest};

/// The rule by which a quote has the changes and the volume of its orders.
const VOLUMES: &str = "volumes";

/// What the audit prints about a database.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AuditFacts {
    /// Every user that is stored.
    users: Vec<StoredUser>,
    /// The rules that the database breaks by itself.
    pub broken: Vec<BrokenRule>,
    /// Number of all orders.
    pub orders: u64,
    /// Time that the audit took, seconds.
    pub seconds: f64,
}

/// One user of the database, as an array: user, balance, logins, logouts, revision, orders, sum of their digests, holdings, sum of
/// their digests, digest of the last order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct StoredUser(u64, i64, u32, u32, i64, u64, Digest, u64, Digest, Digest);

/// The findings of the database itself, and every difference from the ledgers. Users that no crowd played must be as loaded.
pub fn compare_with_ledgers(
    facts: &AuditFacts,
    ledgers: &Ledgers,
    population: &Population,
) -> Vec<BrokenRule> {
    let mut expected: BTreeMap<u64, UserLedger> =
        ledgers.users.iter().map(|one| (one.user, one.clone())).collect();
    for user in 0..population.users {
        expected.entry(user.into()).or_insert_with(|| UserLedger::first(population, user));
    }
    let mut differences = Differences::default();
    for stored in &facts.users {
        match expected.remove(&stored.0) {
            Some(ledger) => compare(&mut differences, &ledger, stored),
            None => {
                differences.add("confirmed", format!("user {} is stored, and nobody registered it", stored.0))
            }
        }
    }
    for missing in expected.values().filter(|one| !one.uncertain) {
        differences.add("confirmed", format!("user {} is not stored", missing.user));
    }
    // The second transaction of an order in flight may be missing, so its quote lags behind.
    let uncertain = ledgers.users.iter().filter(|one| one.uncertain).count() as u64;
    let is_lag = |one: &&BrokenRule| one.rule == VOLUMES && one.count <= uncertain;
    let broken = facts.broken.iter().filter(|one| !is_lag(one)).cloned();
    broken.chain(differences.into_rules()).collect()
}

/// Adds what differs between one user and its ledger.
fn compare(differences: &mut Differences, ledger: &UserLedger, stored: &StoredUser) {
    let StoredUser(user, balance, logins, logouts, revision, orders, orders_sum, holdings, held_sum, last) =
        *stored;
    let confirmed_sum = orders_sum.0.wrapping_sub(ledger.orders_sum);
    // The request in flight when the run broke off may be stored or not. An order among them is the last one.
    let is_last_more = orders == ledger.orders + 1 && confirmed_sum == last.0;
    let may_be_more = ledger.uncertain && (is_last_more || (orders == ledger.orders && confirmed_sum == 0));
    if orders < ledger.orders {
        differences.add(
            "confirmed",
            format!("user {user}: {orders} orders are stored, {} were confirmed", ledger.orders),
        );
    } else if orders > ledger.orders && !may_be_more {
        differences.add(
            "confirmed",
            format!("user {user}: {orders} orders are stored, only {} were confirmed", ledger.orders),
        );
    } else if confirmed_sum != 0 && !may_be_more {
        differences
            .add("confirmed", format!("user {user}: an order is stored that differs from the confirmed one"));
    }
    if ledger.uncertain {
        return;
    }
    let mut same = |what: &str, stored: i64, expected: i64| {
        if stored != expected {
            differences.add("ledger", format!("user {user}: {what} {stored} instead of {expected}"));
        }
    };
    same("balance", balance, ledger.balance_cents);
    same("logins", logins.into(), ledger.logins.into());
    same("logouts", logouts.into(), ledger.logouts.into());
    same("profile revision", revision, ledger.revision.into());
    same("number of holdings", holdings as i64, ledger.holdings.len() as i64);
    if holdings == ledger.holdings.len() as u64 && held_sum.0 != ledger.holdings_sum() {
        differences.add("ledger", format!("user {user}: a holding differs from the one in the ledger"));
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
