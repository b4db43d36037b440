//! `klatch doctor`: what this machine can do, and the command that closes each gap.

use std::process::ExitCode;

use clap::Args;
use klatch_report::doctor::{findings, text};

use crate::output::{print_line, print_text};

/// List what this machine can do, and what closes each gap
///
/// A gap limits what can be run here, or how far its numbers can be trusted. Nothing is changed.
#[derive(Args)]
pub(crate) struct Doctor {
    /// Print one JSON object per finding
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let findings = findings()?;
        match self.json {
            true => {
                for finding in &findings {
                    print_line(serde_json::to_string(finding)?);
                }
            }
            false => print_text(text(&findings)),
        }
        Ok(ExitCode::SUCCESS)
    }
}
