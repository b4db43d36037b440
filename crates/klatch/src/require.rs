//! The options `--require` and `--junit`: limits that results must keep, and what they make of the exit status.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_record::{JudgementStatus, Requirement};
use klatch_report::{Judged, annotations, junit, requirements, worst};

use crate::output::{check_can_write, print_error, print_text, save_text_or_print};
use crate::{BLIND, NOT_MET};

/// Limits of the results.
#[derive(Args, Clone, Default)]
pub(crate) struct RequireArgs {
    /// Limits that the result must keep, judged by its intervals: 'p99 <= 5ms', 'server_cpu_us_per_message < 6', 'errors == 0';
    /// several are separated by semicolons, or the option is repeated; a wrong name lists the metrics
    #[arg(long, value_name = "LIMIT", value_delimiter = ';')]
    pub(crate) require: Vec<Requirement>,
    /// Write the judged requirements as JUnit XML to this file, or - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

impl RequireArgs {
    /// Checks that the file can be written, before anything is measured.
    ///
    /// # Errors
    /// It cannot.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.junit.as_deref().map_or(Ok(()), check_can_write)
    }

    /// Prints the judgements, as the first lines of a result or, where that is JSON, to standard error, and annotates the run of a
    /// workflow of GitHub.
    pub(crate) fn show(&self, judged: &[Judged], json: bool) {
        let text = requirements(judged);
        match json {
            true => text.lines().for_each(print_error),
            false => print_text(text),
        }
        if std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
            annotations(judged).iter().for_each(print_error);
        }
    }

    /// Writes the judgements as JUnit XML, if that is wanted; `suite` is the name of what was measured.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn save(&self, suite: &str, judged: &[Judged], undecided_passes: bool) -> anyhow::Result<()> {
        match &self.junit {
            Some(path) => save_text_or_print(&junit(suite, judged, undecided_passes), path),
            None => Ok(()),
        }
    }
}

/// The exit status of these judgements; `None` if all requirements are met, or if there is none.
pub(crate) fn exit_code(judged: &[Judged], undecided_passes: bool) -> Option<ExitCode> {
    match worst(judged)? {
        JudgementStatus::NotMet => Some(ExitCode::from(NOT_MET)),
        JudgementStatus::Undecided if !undecided_passes => Some(ExitCode::from(BLIND)),
        JudgementStatus::Undecided | JudgementStatus::Met => None,
    }
}
