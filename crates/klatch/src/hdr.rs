//! `--hdr FILE`: the latencies of a run as HdrHistogram writes them.

use std::path::PathBuf;

use klatch_record::save_text;
use klatch_report::{HistogramError, Source, hgrm, hlog};

use crate::output::check_can_write;

/// A file to write, in the format that its name says.
#[derive(Clone)]
pub(crate) struct HdrFile {
    path: PathBuf,
    write: fn(&Source) -> Result<String, HistogramError>,
}

impl HdrFile {
    pub(crate) fn parse(text: &str) -> Result<HdrFile, String> {
        let path = PathBuf::from(text);
        let write = match path.extension().and_then(|extension| extension.to_str()) {
            Some("hlog") => hlog,
            Some("hgrm") => hgrm,
            _ => return Err("the name must end in .hlog (a log) or .hgrm (percentiles)".to_owned()),
        };
        Ok(HdrFile { path, write })
    }

    /// Refuses a file that cannot be written, before the run.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        check_can_write(&self.path)
    }

    pub(crate) fn save(&self, source: &Source) -> anyhow::Result<()> {
        Ok(save_text(&(self.write)(source)?, &self.path)?)
    }
}
