//! `klatch doctor`: what this machine can do, and the command that closes each gap.

mod files;
mod finding;
mod kernel;
mod noise;
mod servers;
mod size;

use std::process::ExitCode;

use clap::Args;

use self::finding::Finding;
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
        let findings = [
            kernel::machine(),
            size::findings()?,
            noise::findings(),
            files::findings(),
            kernel::instruments(),
            kernel::schedulers(),
            servers::findings()?,
        ]
        .concat();
        if self.json {
            for finding in &findings {
                print_line(serde_json::to_string(finding)?);
            }
        } else {
            print_all(&findings);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_all(findings: &[Finding]) {
    let mut topic = "";
    for finding in findings {
        if finding.topic != topic {
            print_line(format_args!("{}{}", if topic.is_empty() { "" } else { "\n" }, finding.topic));
            topic = finding.topic;
        }
        print_text(format_args!("{finding}\n"));
    }
    let gaps = findings.iter().filter(|finding| finding.is_gap).count();
    let number = if gaps == 1 { "1 gap".to_owned() } else { format!("{gaps} gaps") };
    print_line(format_args!("\n{number}; `klatch run` needs none of them closed"));
}
