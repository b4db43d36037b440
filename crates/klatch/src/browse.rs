//! `klatch browse`: an HTTP server for the results folder, on loopback only.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_report::Browser;
use klatch_report::viewer::Loopback;

use crate::output::print_line;
use crate::report::warn_skipped;

/// Browse the results folder on loopback
///
/// Serves an index of the results, newest first, with search and filters, reports of one or two of them, and metrics over time. A run with --web that writes
/// into the folder can be watched from there. Ctrl-C ends it.
#[derive(Args)]
pub(crate) struct Browse {
    /// Folder with the results
    #[arg(default_value = "results", value_name = "DIR")]
    results: PathBuf,
    /// Port on 127.0.0.1; 0 selects a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

impl Browse {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let browser = Browser::new(self.results, warn_skipped)?;
        let loopback = Loopback::bind(self.port)?;
        print_line(loopback.url());
        crate::output::finish()?;
        loopback.serve(move |request| browser.answer(&request.target));
        Ok(ExitCode::SUCCESS)
    }
}
