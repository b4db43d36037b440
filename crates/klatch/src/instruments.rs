//! `klatch instruments`: availability of each instrument on this kernel.

use std::process::ExitCode;

use clap::Args;
use klatch_instruments::{Kernel, availability, description};
use klatch_record::Support;
use klatch_report::{Column, TextTable};

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
        let columns = [Column::name("instrument"), Column::words("what it shows"), Column::words("here")];
        let mut table = TextTable::new(columns);
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
            let state = [vec![state], lines].concat().join("\n");
            table.row([entry.instrument.name(), description(entry.instrument), &state]);
        }
        if !self.json {
            print_line(table);
        }
        Ok(ExitCode::SUCCESS)
    }
}
