//! `klatch simulate`: a machine with any number of CPUs under the schedulers of history, simulated.

mod run;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use klatch_host::privileges::Program;
use klatch_record::{error_chain, save_json};
use klatch_report::{simulated_claims, simulated_study};
use klatch_simulator::{Costs, Topology};
use klatch_study::{Simulator, load_simulated, sensitivity, shipped_simulated};
use run::Run;

use crate::computed::{ComputedArgs, outline};
use crate::output::{print, print_line};
use crate::version::build;

/// Simulate a machine of many CPUs under the schedulers of history
///
/// With a study, simulates all its cells and writes a report. Nothing in the results is measured. The rules of the
/// policies are the C headers of the BPF schedulers; the prices of what they do are in `klatch simulate costs`, each with its source.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Simulate {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    study: StudyArgs,
}

#[derive(Args)]
struct StudyArgs {
    #[command(flatten)]
    computed: ComputedArgs,
    /// Also simulate every cell with each uncertain cost at both ends of its range, and show which claims hold for all of them
    #[arg(long)]
    sensitivity: bool,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Simulate one workload, and print where the CPU time went
    Run(Run),
    /// Print costs with their sources
    Costs {
        /// Machine that they describe: pentium-iii, epyc-milan or lab
        #[arg(default_value = Costs::NAMES[0], value_name = "NAME")]
        name: String,
    },
}

#[derive(Args)]
struct CostArgs {
    /// Costs to use: pentium-iii, epyc-milan, lab, or a file like `klatch simulate costs` prints
    #[arg(long, default_value = Costs::NAMES[0], value_name = "NAME|FILE")]
    costs: String,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

impl Simulate {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action {
            None => self.study.execute(),
            Some(Action::Run(run)) => run.execute(),
            Some(Action::Costs { name }) => {
                print(Costs::text(&name).with_context(|| no_costs(&name))?);
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

impl StudyArgs {
    /// The options that affect the results.
    fn options(&self) -> BTreeMap<String, String> {
        let sensitivity = self.sensitivity.then(|| ("sensitivity".to_owned(), String::new()));
        self.computed.options().into_iter().chain(sensitivity).collect()
    }

    fn execute(self) -> anyhow::Result<ExitCode> {
        let Some(name) = &self.computed.study else {
            for (name, question) in shipped_simulated() {
                print_line(format_args!("{name:<20}{question}"));
            }
            return Ok(ExitCode::SUCCESS);
        };
        let host = || this_machine().map_err(|error| error_chain(error.as_ref()));
        let mut plan = load_simulated(name, build(), &host)?;
        self.computed.select(&mut plan)?;
        plan.options = self.options();
        if !self.json {
            print_line(outline(&plan));
        }
        if self.computed.dry_run {
            plan.cells.iter().for_each(|cell| print_line(format_args!("  {}", cell.id)));
            return Ok(ExitCode::SUCCESS);
        }
        let store = self.computed.store(&plan)?;
        let study = self.computed.run(&plan, &store, &Simulator, self.json)?;
        if self.sensitivity {
            let claims = sensitivity(&plan, &study.result, self.computed.jobs());
            save_json(&claims, &store.folder().join("sensitivity.json"))?;
            if !self.json {
                print_line(format_args!("\n{}", simulated_claims(&claims)));
            }
        }
        let report = crate::report::save_report(store.folder())?;
        if self.json {
            print_line(serde_json::to_string(&study.result)?);
        } else {
            print_line(format_args!("\n{}", simulated_study(&study.result)));
            print_line(format_args!("results: {}\nreport: {}", store.folder().display(), report.display()));
        }
        Ok(ExitCode::SUCCESS)
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

fn topology(text: &str) -> anyhow::Result<Topology> {
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
fn this_machine() -> anyhow::Result<Topology> {
    let listing = Program::new("lscpu").args(["-e", "-J"]).output();
    let listing = listing.context("cannot run lscpu; it belongs to the package util-linux")?;
    anyhow::ensure!(listing.status.success(), "lscpu -e -J failed with {}", listing.status);
    Ok(Topology::from_lscpu(&String::from_utf8_lossy(&listing.stdout))?)
}

/// The options of a study on a command line.
#[cfg(test)]
pub(crate) fn options(matches: &clap::ArgMatches) -> BTreeMap<String, String> {
    use clap::FromArgMatches;
    StudyArgs::from_arg_matches(matches).expect("the command line was parsed").options()
}
