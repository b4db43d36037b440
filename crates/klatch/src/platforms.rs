//! `klatch platforms`: platforms and knobs that this machine has, and the options that select a catalog.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_platforms::{
    PlatformListing, PlatformRequest, java_crowd_knobs, list, process_knobs, threads_crowd_knobs,
};
use klatch_report::platform_with_knobs;

use crate::output::{print, print_line};
use crate::pager::print_long;

/// Help heading of the options that select and configure the server.
pub(crate) const SERVER: &str = "Server";

/// Sources of platforms and runtimes.
#[derive(Args, Default)]
pub(crate) struct PlatformArgs {
    /// Java program for Java servers and crowd [default: from JAVA_HOME, PATH, /usr/lib/jvm]
    #[arg(long, value_name = "PATH", help_heading = SERVER)]
    java: Option<PathBuf>,
    /// Folder with platform files of your own, in addition to those that Klatch brings. Their commands run with your rights: a catalog is code
    #[arg(long, value_name = "DIR", help_heading = SERVER)]
    catalog: Option<PathBuf>,
}

impl PlatformArgs {
    pub(crate) fn request(&self) -> PlatformRequest {
        PlatformRequest {
            java: self.java.clone(),
            catalog: self.catalog.clone(),
            ..PlatformRequest::default()
        }
    }

    /// Replaces platform files among the names by the names of their platforms, and takes their folder as the catalog.
    ///
    /// # Errors
    /// There is no such file, or two folders are needed.
    pub(crate) fn take_files(&mut self, names: &mut [String]) -> anyhow::Result<()> {
        for name in names {
            let found = PlatformRequest { name: Some(name.clone()), ..self.request() }.with_file()?;
            let is_other = self.catalog.is_some() && found.catalog != self.catalog;
            anyhow::ensure!(
                !is_other,
                "{name} lies in another folder than the other platform files, and one command reads one folder: copy it there"
            );
            self.catalog = found.catalog;
            *name = found.name.unwrap_or_default();
        }
        Ok(())
    }
}

/// List what this machine can measure, and how to get the rest
#[derive(Args)]
pub(crate) struct Platforms {
    #[command(flatten)]
    platforms: PlatformArgs,
    /// List the knobs of each platform too
    #[arg(long)]
    knobs: bool,
    /// Print one JSON object per platform
    #[arg(long)]
    json: bool,
    /// Print the JSON Schema of a platform file
    #[arg(long, conflicts_with_all = ["knobs", "json"])]
    schema: bool,
}

impl Platforms {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        if self.schema {
            print(include_str!("../../../docs/platform.schema.json"));
            return Ok(ExitCode::SUCCESS);
        }
        let listed = list(&self.platforms.request())?;
        if self.json {
            listed.iter().map(PlatformListing::to_json).for_each(print_line);
        } else if self.knobs {
            print_long(listed.iter().map(platform_with_knobs).collect::<String>() + &common_knobs());
        } else {
            print_long(format_args!("{}\n", klatch_report::platforms(&listed)));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The knobs that several platforms or crowds have.
fn common_knobs() -> String {
    let owned = |(name, what): (&str, &str)| (name.to_owned(), what.to_owned());
    let all = [
        (
            "the Java crowd (--crowd java --crowd-knob), in addition to those of every Java platform",
            java_crowd_knobs(),
        ),
        ("the crowd native-threads (--crowd native-threads --crowd-knob)", threads_crowd_knobs()),
        ("every server (--knob) and crowd (--crowd-knob)", process_knobs().into_iter().map(owned).collect()),
    ];
    all.into_iter()
        .map(|(owner, knobs): (_, Vec<_>)| format!("{owner}\n{}", klatch_report::knobs(&knobs)))
        .collect()
}
