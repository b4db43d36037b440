//! `klatch instruments`: availability of each instrument on this kernel.

use std::process::ExitCode;

use clap::Args;
use klatch_instruments::{Kernel, availability};

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
        let found = availability(&Kernel::detect());
        if self.json {
            for entry in &found {
                print_line(serde_json::to_string(entry)?);
            }
        } else {
            print_line(klatch_report::instruments(&found));
        }
        Ok(ExitCode::SUCCESS)
    }
}
