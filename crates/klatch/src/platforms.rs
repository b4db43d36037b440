//! `klatch platforms`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_platforms::{Chosen, Listed, Wish, crowd_knobs, list, process_knobs};
use klatch_record::{Class, error_chain};
use serde_json::json;

/// Where platforms and what they run on are looked for.
#[derive(Args)]
pub(crate) struct PlatformArgs {
    /// The java program for Java servers and crowd [default: of JAVA_HOME, PATH, /usr/lib/jvm]
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
    /// A folder with platform files of your own, beside those that Klatch brings
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,
}

impl PlatformArgs {
    pub(crate) fn wish(&self) -> Wish {
        Wish { java: self.java.clone(), catalog: self.catalog.clone(), ..Wish::default() }
    }
}

/// List what can be measured here, and what it takes to measure the rest.
#[derive(Args)]
pub(crate) struct Platforms {
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Also what can be set about each
    #[arg(long)]
    knobs: bool,
    /// Print one JSON object a platform
    #[arg(long)]
    json: bool,
    /// Print the JSON Schema of a platform file instead
    #[arg(long, conflicts_with_all = ["knobs", "json"])]
    schema: bool,
}

impl Platforms {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        if self.schema {
            print!("{}", klatch_platforms::schema());
            return Ok(ExitCode::SUCCESS);
        }
        for listed in list(&self.platforms.wish())? {
            if self.json {
                println!("{}", as_json(&listed));
                continue;
            }
            match &listed.here {
                Ok(ways) => {
                    ways.iter().for_each(|way| println!("{}", row(&way.name, &listed, &version(way))))
                }
                Err(error) => println!(
                    "{}",
                    row(&listed.entry.name, &listed, &format!("not here: {}", error_chain(error)))
                ),
            }
            if self.knobs {
                listed.knobs().iter().for_each(|(name, what)| println!("    {name:<21} {what}"));
            }
        }
        if self.knobs && !self.json {
            print_common_knobs();
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_common_knobs() {
    println!("the Java crowd (--crowd java --crowd-knob), beside those of every Java platform");
    crowd_knobs().iter().for_each(|(name, what)| println!("    {name:<21} {what}"));
    println!("every server (--knob) and crowd (--crowd-knob)");
    process_knobs().iter().for_each(|(name, what)| println!("    {name:<21} {what}"));
}

fn row(name: &str, listed: &Listed, state: &str) -> String {
    format!(
        "{name:<25} {:<8} {:<6} {:<58} {state}",
        class(listed),
        listed.entry.wire.name(),
        listed.entry.summary
    )
}

fn class(listed: &Listed) -> &'static str {
    match listed.entry.class {
        Class::Classic => "classic",
        Class::Open => "open",
    }
}

fn version(way: &Chosen) -> String {
    let of_java = way.java.as_ref().map(|java| java.version.clone());
    let of_program = way.program.as_ref().map(|program| program.version.clone());
    of_java.or(of_program).unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
}

fn as_json(listed: &Listed) -> serde_json::Value {
    let ways = |ways: &Vec<Chosen>| -> Vec<_> {
        ways.iter().map(|way| json!({ "name": way.name, "version": version(way) })).collect()
    };
    json!({
        "name": listed.entry.name,
        "summary": listed.entry.summary,
        "class": class(listed),
        "wire": listed.entry.wire.name(),
        "here": listed.here.as_ref().map(ways).unwrap_or_default(),
        "not_here": listed.here.as_ref().err().map(ToString::to_string),
        "knobs": listed.knobs().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    })
}
