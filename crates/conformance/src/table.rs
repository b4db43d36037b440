//! Findings as rows of a table.

use crate::{Duty, Finding, Outcome};

/// Width of the column of outcomes, with the space after it.
const STATE_WIDTH: usize = 15;
/// Width of the column of names.
const NAME_WIDTH: usize = 34;

/// A finding as a row of the table. A failed one also shows the expected behaviour.
pub fn row(finding: &Finding) -> String {
    let Finding { name, duty, expected, seen, outcome } = finding;
    let seen = seen.as_deref().unwrap_or_default();
    let indent = " ".repeat(STATE_WIDTH);
    match outcome {
        Outcome::Passed => format!("{:STATE_WIDTH$}{name:NAME_WIDTH$}  {seen}", "passed"),
        Outcome::Failed => {
            let word = format!("{} {}", if *duty == Duty::Must { "FAILED" } else { "failed" }, duty.name());
            format!("{word:STATE_WIDTH$}{name}\n{indent}expected  {expected}\n{indent}seen      {seen}")
        }
        Outcome::NotChecked { reason } => {
            format!("{:STATE_WIDTH$}{name:NAME_WIDTH$}  {reason}", "not checked")
        }
    }
}

/// A summary of all findings: `17 passed, 0 failed, 1 not checked (reason)`. Of those that failed it says how many a score counts on.
pub fn summary(findings: &[Finding]) -> String {
    let passed = findings.iter().filter(|finding| finding.outcome == Outcome::Passed).count();
    let failed = findings.iter().filter(|finding| finding.outcome == Outcome::Failed).count();
    let mut reasons: Vec<&str> = Vec::new();
    for finding in findings {
        if let Outcome::NotChecked { reason } = &finding.outcome {
            reasons.push(reason);
        }
    }
    let not_checked = reasons.len();
    reasons.dedup();
    let suffix = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
    let musts = findings.iter().filter(|finding| finding.fails_a_must()).count();
    let of_them = match (failed, musts) {
        (0, _) => String::new(),
        (_, 0) => " (none that a score counts on)".to_owned(),
        (_, musts) => format!(" ({musts} that a score counts on)"),
    };
    format!("{passed} passed, {failed} failed{of_them}, {not_checked} not checked{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::CheckError;

    #[test]
    fn a_check_that_did_not_run_does_not_count_as_passed() {
        let findings = [
            Finding::new("talk: a", "x", Ok("y".into())),
            Finding::new("talk: b", "x", Err(CheckError::Wrong("z".into()))),
            Finding::new("talk: c", "x", Err(CheckError::NotChecked("no strace".into()))),
        ];
        assert_eq!(
            summary(&findings),
            "1 passed, 1 failed (1 that a score counts on), 1 not checked (no strace)"
        );
        assert_eq!(summary(&findings[..1]), "1 passed, 0 failed, 0 not checked");
    }

    #[test]
    fn rows_are_aligned() {
        let passed = row(&Finding::new("talk: a", "x", Ok("y".into())));
        let skipped = row(&Finding::new("talk: longer", "x", Err(CheckError::NotChecked("y".into()))));
        assert_eq!(passed.find('y'), skipped.rfind('y'));
        let failed = row(&Finding::new("talk: a", "this", Err(CheckError::Wrong("that".into()))));
        assert!(failed.contains("expected  this\n") && failed.ends_with("seen      that"), "{failed}");
    }
}
