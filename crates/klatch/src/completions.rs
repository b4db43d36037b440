//! `klatch completions`: a script with which a shell completes commands and options.

use std::process::ExitCode;

use clap::Args;
use clap_complete::{Shell, generate};

use crate::output::print;

/// Print the completions of commands and options for a shell
#[derive(Args)]
pub(crate) struct Completions {
    /// Shell that reads them, for example in ~/.local/share/bash-completion/completions/klatch
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        generate(self.shell, &mut crate::command_line(), "klatch", &mut script);
        print(String::from_utf8(script)?);
        Ok(ExitCode::SUCCESS)
    }
}
