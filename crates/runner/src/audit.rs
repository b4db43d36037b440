//! The audit of the database after the runs of workload `trade`: a process of its own looks at what is stored, once the server has
//! stopped, and the result is compared with the ledgers of the crowds.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use klatch_exchange::trade::{AuditFacts, Ledgers, Population, compare_with_ledgers};
use klatch_platforms::{Launch, Line, ProcessError, Processes};
use klatch_record::{Audit, BrokenRule, CONTENT_SEED, Cause, Reason, Record, TradeWorkload, Verdict};
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

/// Audits the database of this workload with `command`, and compares it with the ledgers of all crowds.
///
/// # Errors
/// The audit did not end with a result, or a ledger is missing.
pub(crate) fn audit(
    command: &[String],
    trade: &TradeWorkload,
    ledgers: &[PathBuf],
    all: &Processes,
) -> Result<Audit, AuditError> {
    let mut known = Ledgers::default();
    for path in ledgers {
        known.users.extend(read_ledgers(path)?.users);
    }
    let mut process = all.start(command, &Launch::default())?;
    let deadline = Instant::now() + AUDIT_MAX;
    let text = match process.line(deadline) {
        Line::Text(text) => text,
        Line::Late => return Err(AuditError::Late),
        Line::End => return Err(AuditError::NoResult { stderr: process.final_stderr_tail() }),
    };
    let facts: AuditFacts = serde_json::from_str(&text).map_err(AuditError::NoFacts)?;
    let population = Population { seed: CONTENT_SEED, users: trade.users, quotes: trade.quotes };
    let broken = compare_with_ledgers(&facts, &known, &population).into_iter();
    Ok(Audit {
        orders: facts.orders,
        users: known.users.len() as u64,
        audit_s: facts.seconds,
        broken: broken
            .map(|one| BrokenRule { rule: one.rule, count: one.count, examples: one.examples })
            .collect(),
    })
}

fn read_ledgers(path: &Path) -> Result<Ledgers, AuditError> {
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
