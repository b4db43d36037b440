//! `klatch instruments`.

use std::process::ExitCode;

use clap::Args;
use klatch_instruments::{Kernel, availability, shows};
use klatch_record::Support;

/// List what can watch a run, and how each instrument works on this kernel.
#[derive(Args)]
pub(crate) struct Instruments {
    /// Print one JSON object an instrument
    #[arg(long)]
    json: bool,
}

impl Instruments {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        for one in availability(&Kernel::here()) {
            if self.json {
                println!("{}", serde_json::to_string(&one)?);
                continue;
            }
            let (state, lines) = match &one.support {
                Support::Usable { base } => (format!("usable: {base}"), vec![]),
                Support::Fallback { base, why, remedy } => (
                    format!("fallback: {base}"),
                    vec![format!("because {why}"), format!("to change it: {remedy}")],
                ),
                Support::NotAvailable { why, remedy } => {
                    (format!("not available: {why}"), vec![format!("to change it: {remedy}")])
                }
            };
            println!("{:<14}{:<64}{state}", one.instrument.name(), shows(one.instrument));
            lines.iter().for_each(|line| println!("{:<14}{line}", ""));
        }
        Ok(ExitCode::SUCCESS)
    }
}
