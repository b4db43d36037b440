//! `--web`: a page that shows the runs as they happen.

use std::path::Path;

use clap::Args;
use klatch_record::Endpoint;
use klatch_report::LiveState;
use klatch_report::viewer::{Viewer, VisitPage};

use crate::output::print_error;
use crate::transport::{TlsArgs, with_tls};

#[derive(Args, Clone, Copy, Default)]
pub(crate) struct WebArgs {
    /// Serve a page on 127.0.0.1 that shows the runs as they happen and joins their rooms; PORT 0 is a free one
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    web: Option<u16>,
}

impl WebArgs {
    /// Whether the page is to be served.
    pub(crate) fn is_wanted(self) -> bool {
        self.web.is_some()
    }

    /// Starts to serve the page, if it is wanted, and prints its address.
    ///
    /// # Errors
    /// The port cannot be listened on, or the results folder cannot be written.
    pub(crate) fn start(self, title: &str, folder: &Path) -> anyhow::Result<Option<VisitPage>> {
        let Some(port) = self.web else { return Ok(None) };
        let viewer = Viewer::start(port, folder, LiveState::new(title))?;
        // Standard output is for results.
        print_error(format_args!("watch     {}", viewer.url()));
        let client = |endpoint: &Endpoint| {
            with_tls(endpoint.clone(), &TlsArgs::default()).map_err(|error| format!("{error:#}"))
        };
        Ok(Some(VisitPage::new(viewer, client)))
    }
}
