//! What `klatch lab run` and `klatch simulate` share: studies whose trials are computed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use klatch_study::{ComputedEvent, ComputedPlan, ComputedStudy, Computer, Store, run_computed};

use crate::output::print_line;

/// Options of a computed study.
#[derive(Args)]
pub(crate) struct ComputedArgs {
    /// Study that Klatch brings, or a file; lists the studies if omitted
    #[arg(value_name = "NAME|FILE")]
    pub(crate) study: Option<String>,
    /// Cells to compute: those with this text in the name
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Print the cells without computing them
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// Continue an interrupted study, from this folder or the newest one of this study
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    resume: Option<Option<PathBuf>>,
    /// Folder for the results
    #[arg(long, default_value = "results", value_name = "DIR", value_parser = crate::output::folder)]
    out: PathBuf,
    /// Number of trials at a time; does not affect the results [default: number of CPUs, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: Option<u16>,
}

impl ComputedArgs {
    /// The options that affect the results.
    pub(crate) fn options(&self) -> BTreeMap<String, String> {
        self.only.iter().map(|only| ("only".to_owned(), only.clone())).collect()
    }

    /// Removes the cells that are not wanted.
    pub(crate) fn select<J>(&self, plan: &mut ComputedPlan<J>) -> anyhow::Result<()> {
        let Some(only) = &self.only else { return Ok(()) };
        plan.cells.retain(|cell| cell.id.contains(only.as_str()));
        anyhow::ensure!(!plan.cells.is_empty(), "no cell of {} has {only} in its name", plan.name);
        Ok(())
    }

    /// How many trials are computed at a time.
    pub(crate) fn jobs(&self) -> usize {
        let default_jobs = || std::thread::available_parallelism().map_or(1, usize::from).min(4);
        self.jobs.map_or_else(default_jobs, usize::from)
    }

    /// A new folder for the study, or that of an interrupted one.
    pub(crate) fn store<J>(&self, plan: &ComputedPlan<J>) -> anyhow::Result<Store> {
        let Some(folder) = &self.resume else {
            return Ok(Store::begin(&self.out, &plan.name, &plan.source, 1)?);
        };
        let folder = folder.clone().or_else(|| Store::newest(&self.out, &plan.name));
        let folder = folder.with_context(|| {
            format!("no study {} in {}; start it without --resume", plan.name, self.out.display())
        })?;
        Ok(Store::resume(&folder, &plan.source)?)
    }

    /// Computes what the store lacks.
    pub(crate) fn run<C: Computer>(
        &self,
        plan: &ComputedPlan<C::Job>,
        store: &Store,
        computer: &C,
        quiet: bool,
    ) -> anyhow::Result<ComputedStudy<C::Trial>>
    where
        C::Error: std::error::Error + Sync + 'static,
    {
        let show = |event: ComputedEvent<'_>| match event {
            _ if quiet => {}
            ComputedEvent::Trial(cell, seed, None) => print_line(format_args!("  {cell}, seed {seed}")),
            ComputedEvent::Trial(cell, seed, Some(why)) => {
                print_line(format_args!("  {cell}, seed {seed}: failed: {why}"))
            }
            ComputedEvent::Settled(cell, verdict) => print_line(format_args!("  {cell}: {verdict}")),
        };
        run_computed(plan, store, computer, self.jobs(), show)
            .with_context(|| format!("finished trials stay in {}", store.folder().display()))
    }
}

/// The question, the rules and the number of trials, as lines.
pub(crate) fn outline<J>(plan: &ComputedPlan<J>) -> String {
    let (least, most) = plan.trials();
    let trials = if least == most { most.to_string() } else { format!("{least} to {most}") };
    format!(
        "{}\n{}\nrules: {}\n{} cells, {trials} trials",
        plan.name,
        plan.question,
        plan.rules_text(),
        plan.cells.len()
    )
}
