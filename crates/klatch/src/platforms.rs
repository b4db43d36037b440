//! `klatch platforms`: platforms and knobs that this machine has, and the options that select a catalog.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_platforms::{
    InWorkload, PlatformListing, PlatformRequest, ResolvedPlatform, java_crowd_knobs, list, process_knobs,
    threads_crowd_knobs,
};
use klatch_record::{Class, WorkloadKind, error_chain};
use klatch_report::{Column, TextTable};
use serde_json::json;

use crate::output::{print, print_line};
use crate::pager::print_long;

/// Help heading of the options that select and configure the server.
pub(crate) const SERVER: &str = "Server";

/// Sources of platforms and runtimes.
#[derive(Args)]
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
            listed.iter().map(as_json).for_each(print_line);
        } else if self.knobs {
            print_long(listed.iter().map(with_knobs).collect::<String>() + &common_knobs());
        } else {
            print_long(format_args!("{}\n", table(&listed)));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A row for each variant of a platform, or one that says why it is not here.
fn table(listed: &[PlatformListing]) -> TextTable {
    let mut table = TextTable::new([
        Column::name("platform"),
        Column::name("class").less(3),
        Column::name("protocol").less(2),
        Column::name("workloads").less(1),
        Column::words("what it is"),
        Column::words("here"),
    ]);
    listed.iter().flat_map(rows).for_each(|row| table.row(row));
    table
}

fn rows(listed: &PlatformListing) -> Vec<[String; 6]> {
    match &listed.variants {
        Ok(ways) => ways.iter().map(|way| row(&way.name, listed, version(listed, way))).collect(),
        Err(error) => vec![row(&listed.entry.name, listed, format!("not here: {}", error_chain(error)))],
    }
}

/// The rows of a platform as lines, and its knobs below them.
fn with_knobs(listed: &PlatformListing) -> String {
    let line = |row: [String; 6]| format!("{}  {}\n", row[0], row[1..].join("  "));
    rows(listed).into_iter().map(line).collect::<String>() + &knobs_text(&listed.knobs())
}

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
    all.into_iter().map(|(owner, knobs): (_, Vec<_>)| format!("{owner}\n{}", knobs_text(&knobs))).collect()
}

/// Knobs, each with what it is, for the lines below the name of their owner.
fn knobs_text(knobs: &[(String, String)]) -> String {
    let mut table = TextTable::new([Column::name(""), Column::name(""), Column::words("")]);
    knobs.iter().for_each(|(name, what)| table.row(["  ", name, what]));
    if knobs.is_empty() { String::new() } else { format!("{table}\n") }
}

fn row(name: &str, listed: &PlatformListing, state: String) -> [String; 6] {
    [
        name.to_owned(),
        class(listed).to_owned(),
        listed.entry.protocol.name().to_owned(),
        workloads(listed).join(" "),
        listed.entry.summary.clone(),
        state,
    ]
}

fn workloads(listed: &PlatformListing) -> Vec<&'static str> {
    listed.entry.workloads.keys().map(|kind| kind.name()).collect()
}

/// The names of its workloads in which it serves static files only.
fn static_only(listed: &PlatformListing) -> Vec<&'static str> {
    let of_files = listed.entry.workloads.iter().filter(|(_, one)| one.static_only);
    of_files.map(|(kind, _)| kind.name()).collect()
}

/// Whether requests of `rr` need a URL.
fn needs_url(listed: &PlatformListing) -> bool {
    listed.entry.workloads.get(&WorkloadKind::Rr).is_some_and(InWorkload::needs_url)
}

/// The transports by which it speaks HTTP/2.
fn http2(listed: &PlatformListing) -> Vec<&'static str> {
    let transports = listed.entry.transports_of(WorkloadKind::Rr);
    let spoken = transports.keys().filter(|transport| listed.entry.speaks_http2(**transport));
    spoken.map(|transport| transport.name()).collect()
}

/// The names of its transports in each of its workloads.
fn transports(listed: &PlatformListing) -> BTreeMap<&'static str, Vec<&'static str>> {
    let names = |kind| listed.entry.transports_of(kind).keys().map(|transport| transport.name()).collect();
    listed.entry.workloads.keys().map(|kind| (kind.name(), names(*kind))).collect()
}

fn class(listed: &PlatformListing) -> &'static str {
    listed.entry.class.map_or("–", Class::name)
}

/// The version of the Java or the program; that of Klatch for its own servers, and a dash where nobody knows it.
fn version(listed: &PlatformListing, way: &ResolvedPlatform) -> String {
    let of_java = way.java.as_ref().map(|java| java.version.clone());
    let of_program = way.program.as_ref().and_then(|program| program.version.clone());
    let is_own = listed.entry.command.first().is_some_and(|program| program == "{klatch}");
    let of_klatch = || is_own.then(|| env!("CARGO_PKG_VERSION").to_owned());
    of_java.or(of_program).or_else(of_klatch).unwrap_or_else(|| "–".to_owned())
}

fn as_json(listed: &PlatformListing) -> serde_json::Value {
    let ways = |ways: &Vec<ResolvedPlatform>| -> Vec<_> {
        ways.iter().map(|way| json!({ "name": way.name, "version": version(listed, way) })).collect()
    };
    json!({
        "name": listed.entry.name,
        "summary": listed.entry.summary,
        "class": listed.entry.class,
        "workloads": workloads(listed),
        "static_only": static_only(listed),
        "needs_url": needs_url(listed),
        "http2": http2(listed),
        "protocol": listed.entry.protocol.name(),
        "transports": transports(listed),
        "here": listed.variants.as_ref().map(ways).unwrap_or_default(),
        "not_here": listed.variants.as_ref().err().map(ToString::to_string),
        "knobs": listed.knobs().into_iter().collect::<BTreeMap<_, _>>(),
    })
}

#[cfg(test)]
mod tests {
    use klatch_platforms::{InstalledProgram, PlatformError};

    use super::*;
    use crate::golden::at_widths;

    #[test]
    fn the_list_is_as_it_was_at_three_widths() {
        let mut listed = list(&PlatformRequest::default()).unwrap();
        listed.retain(|one| ["ngircd", "native-epoll", "ergo"].contains(&one.entry.name.as_str()));
        for one in &mut listed {
            let version =
                |path: &str| InstalledProgram { path: path.into(), version: Some("1.2.3".to_owned()) };
            one.variants = match one.variants.as_mut() {
                Ok(ways) if one.entry.name == "native-epoll" => {
                    ways[0].program = Some(version("/usr/bin/klatch"));
                    continue;
                }
                _ if one.entry.name == "ergo" => {
                    Err(PlatformError::NoFile { path: "/usr/share/klatch/ergo/configuration.yaml".into() })
                }
                _ => Ok(Vec::new()),
            };
        }
        insta::assert_snapshot!(at_widths(|| format!("{}\n", table(&listed))));
    }
}
