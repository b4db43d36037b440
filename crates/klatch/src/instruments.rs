//! `klatch instruments`: availability of each instrument on this kernel.

use std::process::ExitCode;

use clap::Args;
use klatch_instruments::{Kernel, availability, description};
use klatch_record::Support;

use crate::output::print_line;

/// List what can observe a run on this kernel
#[derive(Args)]
pub(crate) struct Instruments {
    /// Print one JSON object per instrument
    #[arg(long)]
    json: bool,
}

impl Instruments {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        for entry in availability(&Kernel::detect()) {
            if self.json {
                print_line(serde_json::to_string(&entry)?);
                continue;
            }
            let (state, lines) = match &entry.support {
                Support::Usable { base } => (format!("usable: {base}"), vec![]),
                Support::Fallback { base, why, remedy } => (
                    format!("fallback: {base}"),
                    vec![format!("cause: {why}"), format!("to change it: {remedy}")],
                ),
                Support::NotAvailable { why, remedy } => {
                    (format!("not available: {why}"), vec![format!("to change it: {remedy}")])
                }
            };
            print_line(format_args!(
                "{:<14}{:<64}{state}",
                entry.instrument.name(),
                description(entry.instrument)
            ));
            lines.iter().for_each(|line| print_line(format_args!("{:<14}{line}", "")));
        }
        Ok(ExitCode::SUCCESS)
    }
}
