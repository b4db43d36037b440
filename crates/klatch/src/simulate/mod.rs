//! `klatch simulate`: a machine with any number of CPUs under the schedulers of history, simulated.

mod run;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand};
use klatch_host::privileges::Program;
use klatch_simulator::{Costs, Topology};
use run::Run;

use crate::output::print;

/// Simulate a machine of many CPUs under the schedulers of history
///
/// Nothing in the results is measured. The rules of the policies are the C headers of the BPF schedulers; the prices of what they do
/// are in `klatch simulate costs`, each with its source. `klatch study` runs simulated studies.
#[derive(Args)]
pub(crate) struct Simulate {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Simulate one workload, and print where the CPU time went
    Run(Run),
    /// Print costs with their sources
    Costs {
        /// Machine that they describe: pentium-iii, epyc-milan, lab or lab-eevdf
        #[arg(default_value = Costs::NAMES[0], value_name = "NAME")]
        name: String,
    },
}

#[derive(Args)]
struct CostArgs {
    /// Costs to use: pentium-iii, epyc-milan, lab, lab-eevdf, or a file like `klatch simulate costs` prints
    #[arg(long, default_value = Costs::NAMES[0], value_name = "NAME|FILE")]
    costs: String,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

impl Simulate {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action {
            Action::Run(run) => run.execute(),
            Action::Costs { name } => {
                print(Costs::text(&name).with_context(|| no_costs(&name))?);
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

impl CostArgs {
    fn read(&self) -> anyhow::Result<Costs> {
        let text = match Costs::text(&self.costs) {
            Some(text) => text.to_owned(),
            None if !self.costs.contains(['.', '/']) => anyhow::bail!(no_costs(&self.costs)),
            None => {
                std::fs::read_to_string(&self.costs).with_context(|| format!("cannot read {}", self.costs))?
            }
        };
        Costs::parse(&text).with_context(|| self.costs.clone())
    }
}

fn no_costs(name: &str) -> String {
    format!("there are no costs {name}; there are {}, or name a file", Costs::NAMES.join(" and "))
}

/// The topology in a line, in a file with the output of `lscpu -e -J`, or of this machine (`host`).
pub(crate) fn topology(text: &str) -> anyhow::Result<Topology> {
    match text {
        "host" => this_machine(),
        path if path.ends_with(".json") => {
            let json = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
            Topology::from_lscpu(&json).with_context(|| path.to_owned())
        }
        line => Ok(line.parse()?),
    }
}

/// The topology of the machine that this program runs on.
pub(crate) fn this_machine() -> anyhow::Result<Topology> {
    // In other locales its words differ.
    let listing =
        Program::new("lscpu").args(["-e", "-J"]).env("LC_ALL", "C").output_within(Duration::from_secs(20));
    let listing = listing.context("cannot run lscpu; it belongs to the package util-linux")?;
    anyhow::ensure!(listing.status.success(), "lscpu -e -J failed with {}", listing.status);
    Ok(Topology::from_lscpu(&String::from_utf8_lossy(&listing.stdout))?)
}
