//! Compares what the audit found in the database with the ledgers of the crowds.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::ledger::{Ledgers, UserLedger};
use super::population::Population;

/// Most examples of one rule.
const EXAMPLES_MAX: usize = 20;

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

/// A rule that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BrokenRule {
    /// The name of the rule.
    pub rule: String,
    /// How often it is broken.
    pub count: u64,
    /// The first places where it is broken.
    pub examples: Vec<String>,
}

/// A difference between database and ledgers, or a rule that the database breaks by itself.
pub type AuditFinding = BrokenRule;

/// One user of the database, as an array: user, balance, logins, logouts, revision, orders, sum of their digests, holdings, sum of
/// their digests, digest of the last order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct StoredUser(u64, i64, u32, u32, i64, u64, Digest, u64, Digest, Digest);

/// 64 bits as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest(u64);

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let digits = String::deserialize(deserializer)?;
        u64::from_str_radix(&digits, 16).map(Digest).map_err(serde::de::Error::custom)
    }
}

/// The findings of the database itself, and every difference from the ledgers. Users that no crowd played must be as loaded.
pub fn compare_with_ledgers(
    facts: &AuditFacts,
    ledgers: &Ledgers,
    population: &Population,
) -> Vec<AuditFinding> {
    let mut expected: BTreeMap<u64, UserLedger> =
        ledgers.users.iter().map(|one| (one.user, one.clone())).collect();
    for user in 0..population.users {
        expected.entry(user.into()).or_insert_with(|| UserLedger::first(population, user));
    }
    let mut differences = Differences::default();
    for stored in &facts.users {
        match expected.remove(&stored.0) {
            Some(ledger) => differences.compare(&ledger, stored),
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
    broken.chain(differences.0.into_values()).collect()
}

#[derive(Default)]
struct Differences(BTreeMap<&'static str, BrokenRule>);

impl Differences {
    fn add(&mut self, rule: &'static str, example: String) {
        let new = || BrokenRule { rule: rule.to_owned(), count: 0, examples: Vec::new() };
        let broken = self.0.entry(rule).or_insert_with(new);
        broken.count += 1;
        if broken.examples.len() < EXAMPLES_MAX {
            broken.examples.push(example);
        }
    }

    fn compare(&mut self, ledger: &UserLedger, stored: &StoredUser) {
        let StoredUser(
            user,
            balance,
            logins,
            logouts,
            revision,
            orders,
            orders_sum,
            holdings,
            held_sum,
            last,
        ) = *stored;
        let confirmed_sum = orders_sum.0.wrapping_sub(ledger.orders_sum);
        // The request in flight when the run broke off may be stored or not. An order among them is the last one.
        let is_last_more = orders == ledger.orders + 1 && confirmed_sum == last.0;
        let may_be_more =
            ledger.uncertain && (is_last_more || (orders == ledger.orders && confirmed_sum == 0));
        if orders < ledger.orders {
            self.add(
                "confirmed",
                format!("user {user}: {orders} orders are stored, {} were confirmed", ledger.orders),
            );
        } else if orders > ledger.orders && !may_be_more {
            self.add(
                "confirmed",
                format!("user {user}: {orders} orders are stored, only {} were confirmed", ledger.orders),
            );
        } else if confirmed_sum != 0 && !may_be_more {
            self.add(
                "confirmed",
                format!("user {user}: an order is stored that differs from the confirmed one"),
            );
        }
        if ledger.uncertain {
            return;
        }
        let mut same = |what: &str, stored: i64, expected: i64| {
            if stored != expected {
                self.add("ledger", format!("user {user}: {what} {stored} instead of {expected}"));
            }
        };
        same("balance", balance, ledger.balance_cents);
        same("logins", logins.into(), ledger.logins.into());
        same("logouts", logouts.into(), ledger.logouts.into());
        same("profile revision", revision, ledger.revision.into());
        same("number of holdings", holdings as i64, ledger.holdings.len() as i64);
        if holdings == ledger.holdings.len() as u64 && held_sum.0 != ledger.holdings_sum() {
            self.add("ledger", format!("user {user}: a holding differs from the one in the ledger"));
        }
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
