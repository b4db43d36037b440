//! The audit of the database after the runs of workloads `trade` and `orders`: a process of its own looks at what is stored, once the server has
//! stopped, and the result is compared with the ledgers of the crowds.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use klatch_exchange::audited;
use klatch_exchange::{orders, trade};
use klatch_platforms::{Launch, Line, ProcessError, Processes};
use klatch_record::{
    Audit, BrokenRule, CONTENT_SEED, Cause, OrdersWorkload, Reason, Record, TradeWorkload, Verdict, Workload,
};
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Longest time of an audit.
const AUDIT_MAX: Duration = Duration::from_secs(300);

/// Why a database could not be audited. The runs then are neither valid nor invalid.
#[derive(Debug, Error)]
pub(crate) enum AuditError {
    /// The process of the audit cannot be started.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The process of the audit ended without a result.
    #[error("the audit ended without a result; standard error: {stderr}")]
    NoResult {
        /// Last lines of its standard error.
        stderr: String,
    },
    /// The database died, and cannot be started again.
    #[error("{0}")]
    Database(String),
    /// The audit took too long.
    #[error("the audit was stopped after {} s", AUDIT_MAX.as_secs())]
    Late,
    /// The result of the audit has another form.
    #[error("the result of the audit cannot be read: {0}")]
    NoFacts(serde_json::Error),
    /// A crowd left no ledgers.
    #[error("cannot read the ledgers {path}: {source}", path = path.display())]
    NoLedgers {
        /// The file that the crowd was to write.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// A workload with a database.
pub(crate) enum Audited {
    Trade(TradeWorkload),
    Orders(OrdersWorkload),
}

impl Audited {
    /// The workload, if it has a database.
    pub(crate) fn of(workload: &Workload) -> Option<Audited> {
        match workload {
            Workload::Trade(trade) => Some(Audited::Trade(trade.clone())),
            Workload::Orders(orders) => Some(Audited::Orders(orders.clone())),
            _ => None,
        }
    }
}

/// Audits the database of this workload with `command`, and compares it with the ledgers of all crowds.
///
/// # Errors
/// The audit did not end with a result, or a ledger is missing.
pub(crate) fn audit(
    (command, launch): &(Vec<String>, Launch),
    workload: &Audited,
    ledgers: &[PathBuf],
    all: &Processes,
) -> Result<Audit, AuditError> {
    let _shown = all.show("auditing the database");
    let mut process = all.start(command, launch)?;
    let deadline = Instant::now() + AUDIT_MAX;
    let text = match process.line(deadline) {
        Line::Text(text) => text,
        Line::Late => return Err(AuditError::Late),
        Line::End => return Err(AuditError::NoResult { stderr: process.final_stderr_tail() }),
    };
    match workload {
        Audited::Trade(trade) => compare_trade(&text, trade, ledgers),
        Audited::Orders(orders) => compare_orders(&text, orders, ledgers),
    }
}

fn compare_trade(text: &str, workload: &TradeWorkload, ledgers: &[PathBuf]) -> Result<Audit, AuditError> {
    let mut known = trade::Ledgers::default();
    for path in ledgers {
        known.users.extend(read_ledgers::<trade::Ledgers>(path)?.users);
    }
    let facts: trade::AuditFacts = serde_json::from_str(text).map_err(AuditError::NoFacts)?;
    let population = trade::Population { seed: CONTENT_SEED, users: workload.users, quotes: workload.quotes };
    let broken = trade::compare_with_ledgers(&facts, &known, &population);
    Ok(audit_record(facts.orders, known.users.len(), facts.seconds, broken))
}

fn compare_orders(text: &str, workload: &OrdersWorkload, ledgers: &[PathBuf]) -> Result<Audit, AuditError> {
    let mut known = orders::Ledgers::default();
    for path in ledgers {
        known.add(read_ledgers(path)?);
    }
    let facts: orders::AuditFacts = serde_json::from_str(text).map_err(AuditError::NoFacts)?;
    let population = orders::Population { seed: CONTENT_SEED, rate: workload.population };
    let broken = orders::compare_with_ledgers(&facts, &known, &population);
    Ok(audit_record(facts.orders, known.customers.len(), facts.seconds, broken))
}

/// The part of a record, from what was found and compared.
fn audit_record(orders: u64, accounts: usize, audit_s: f64, broken: Vec<audited::BrokenRule>) -> Audit {
    let rule =
        |one: audited::BrokenRule| BrokenRule { rule: one.rule, count: one.count, examples: one.examples };
    Audit { orders, users: accounts as u64, audit_s, broken: broken.into_iter().map(rule).collect() }
}

fn read_ledgers<T: DeserializeOwned>(path: &Path) -> Result<T, AuditError> {
    let no_ledgers = |source| AuditError::NoLedgers { path: path.to_owned(), source };
    let text = std::fs::read(path).map_err(no_ledgers)?;
    serde_json::from_slice(&text).map_err(|error| no_ledgers(error.into()))
}

/// Adds the audit to a record. A broken rule makes it invalid; without an audit it is unknown.
pub(crate) fn with_audit(record: Record, audit: &Result<Audit, AuditError>) -> Record {
    let mut reasons = record.verdict.reasons;
    match audit {
        Ok(audit) => {
            reasons.extend(audit.broken.iter().map(|one| Reason::new(Cause::Audit, one.to_string())))
        }
        Err(error) => {
            reasons.push(Reason::new(Cause::Unaudited, format!("the database was not audited: {error}")))
        }
    }
    let audit = audit.as_ref().ok().cloned();
    Record { verdict: Verdict::from_reasons(reasons), audit, ..record }
}

#[cfg(test)]
mod tests {
    use klatch_record::{Status, samples};

    use super::*;

    #[test]
    fn a_broken_rule_makes_a_run_invalid_and_no_audit_makes_it_unknown() {
        let audit = |broken| Ok(Audit { orders: 1, users: 1, audit_s: 0.1, broken });
        let rule = BrokenRule { rule: "money".into(), count: 2, examples: vec!["user 7".into()] };
        assert_eq!(with_audit(samples::record(1, 0, 9.0), &audit(vec![])).verdict.status, Status::Valid);
        let broken = with_audit(samples::record(1, 0, 9.0), &audit(vec![rule]));
        assert_eq!(broken.verdict.status, Status::Invalid);
        assert_eq!(broken.verdict.messages(), "audit: money broken 2 times, first: user 7");
        let unknown = with_audit(samples::record(1, 0, 9.0), &Err(AuditError::Late));
        assert_eq!((unknown.verdict.status, unknown.audit), (Status::Unknown, None));
    }
}
