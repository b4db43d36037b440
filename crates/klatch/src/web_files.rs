//! `klatch web-files`: the site of workload `web` for a server of any project.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use klatch_platforms::write_site;
use klatch_record::{WebWorkload, grouped};
use klatch_report::Progress;

use crate::INTERRUPTED;
use crate::interrupt::flag_on_interrupt;
use crate::output::{print_error, print_line};

/// Write the files of workload web, for an HTTP server of your own
///
/// The bytes are those that every run checks. Directories that are there stay. They take 5 MB each.
#[derive(Args)]
pub(crate) struct WebFiles {
    /// Folder to be the root of the server: it gets file_set/dir00000 and so on
    folder: PathBuf,
    /// Lines of the run, which decide the number of directories
    #[arg(long, default_value_t = WebWorkload::default().lines, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    lines: u32,
    /// Directories, as --directories of the run
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000), value_name = "N")]
    directories: Option<u32>,
}

impl WebFiles {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let directories = self.directories.unwrap_or_else(|| WebWorkload::directories_for(self.lines));
        let all = if directories == 1 {
            "1 directory".to_owned()
        } else {
            format!("{} directories", grouped(directories.into()))
        };
        let interrupted = flag_on_interrupt()?;
        let waiting = Progress::waiting(&format!("writing {all}"));
        let written = write_site(&self.folder, directories, &interrupted);
        drop(waiting);
        let written =
            written.with_context(|| format!("cannot write the site into {}", self.folder.display()))?;
        if written < directories {
            print_error(format_args!(
                "klatch: interrupted; {} of {all} are written and stay in {}",
                grouped(written.into()),
                self.folder.display()
            ));
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let option = match self.directories {
            Some(directories) => format!("--directories {directories}"),
            None => format!("--lines {}", self.lines),
        };
        print_line(format_args!("{all} in {}", self.folder.join("file_set").display()));
        print_line(format_args!("next: klatch run web --target http://HOST:PORT --static-only {option}"));
        Ok(ExitCode::SUCCESS)
    }
}
