//! `klatch man`: the manual pages, made of the same texts as `--help`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_mangen::Man;

use crate::output::print;

/// Print the manual page, or write those of all commands
#[derive(Args)]
pub(crate) struct Manual {
    /// Write klatch.1 and a page for each command into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Manual {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        // The template of --help groups the commands; a manual page has sections of its own.
        let klatch = crate::Klatch::command().disable_help_subcommand(true);
        match self.out {
            Some(folder) => {
                std::fs::create_dir_all(&folder)
                    .and_then(|()| clap_mangen::generate_to(klatch, &folder))
                    .with_context(|| format!("cannot write manual pages into {}", folder.display()))?;
            }
            None => {
                let mut page = Vec::new();
                Man::new(klatch).render(&mut page)?;
                print(String::from_utf8(page)?);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
