//! Studies whose trials are computed: boots of the lab, and simulated runs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use klatch_lab::{
    Architecture, Boot, BootKernel, Counting, Image, Job, LabError, machine_image, require_programs,
};
use klatch_platforms::{Java, PlatformRequest};
use klatch_record::lab::{Configuration, Outcome};
use klatch_record::{SENSITIVITY, error_chain, save_json};
use klatch_report::{Progress, computed_plan, lab_summary, simulated_claims, simulated_study};
use klatch_schedulers::SchedulerSpec;
use klatch_study::{
    ComputedCell, ComputedError, ComputedEvent, ComputedPlan, ComputedStudy, Computer, Emulated,
    EmulatedStudy, Simulator, Store, StudyFile, run_computed, sensitivity,
};

use super::Study;
use crate::INTERRUPTED;
use crate::lab::{image, interrupted, kernel, notice};
use crate::output::{print_error, print_line, print_text};
use crate::report::{save_lab_report, save_report};
use crate::simulate::this_machine;
use crate::version::build;

/// Lowest feature version of Java that runs `klatch.jar`.
const JAVA_MIN: u32 = 17;
/// Longest time for a boot unless `--limit` is given.
const LIMIT: Duration = Duration::from_secs(900);

impl Study {
    /// Boots the machine of the lab for every trial.
    pub(super) fn emulate(&self, file: &StudyFile) -> anyhow::Result<ExitCode> {
        let EmulatedStudy { study, mut plan } = file.emulated(build())?;
        self.select(&mut plan.head, &mut plan.cells, |cell| &cell.id)?;
        if self.dry_run {
            print_text(computed_plan(&plan, |cell| Job::new(cell, Counting::of(&study)).commands));
            return Ok(ExitCode::SUCCESS);
        }
        let left_out = leave_out(&mut plan.cells)?;
        let PlatformRequest { java, .. } = self.platforms.request();
        let java = study.java.then(|| Java::find(java.as_deref(), JAVA_MIN)).transpose()?;
        // Download kernels before the first boot, so that parallel boots do not download the same one.
        let mut kernels = BTreeMap::new();
        for cell in &plan.cells {
            if !kernels.contains_key(&cell.job.kernel) {
                let found = kernel(&cell.job.kernel, None)?;
                // It downloads the configuration, if a scheduler needs it.
                machine_image(&Image::empty(found.architecture), &found, &cell.job.scheduler)?;
                kernels.insert(cell.job.kernel.clone(), found);
            }
        }
        let java = java.as_ref().map(|java| java.path.as_path());
        let mut images = BTreeMap::new();
        for found in kernels.values() {
            if let Entry::Vacant(new) = images.entry(found.architecture) {
                new.insert(image(found.architecture, java)?);
            }
        }
        let machine = Emulated {
            kernels,
            images,
            memory_mb: study.memory_mb,
            counters: study.counters.as_deref().map(Boot::counters).transpose()?,
            counting: Counting::of(&study),
            limit: self.limit.map_or(LIMIT, |limit| limit.0),
            twice: self.twice,
            show: study.show.clone(),
            interrupted: interrupted()?,
            notice,
        };
        let store = self.store(file)?;
        let done = match self.compute(&plan, &store, &machine) {
            Err(ComputedError::Compute(LabError::Interrupted)) => {
                print_error(self.interrupted(&store));
                return Ok(ExitCode::from(INTERRUPTED));
            }
            done => done.with_context(|| kept(store.folder()))?,
        };
        let outcomes: Vec<Outcome> = done.trials.into_iter().flatten().collect();
        let mut text = lab_summary(&study, &outcomes);
        if self.twice && outcomes.iter().all(|outcome| outcome.failure.is_none()) {
            text += "the second boots gave the same output, to the last digit\n";
        }
        for line in &left_out {
            text += &format!("{line}\n");
        }
        let report = || save_lab_report(store.folder(), &study, &outcomes);
        let code = self.finish(&done.result, &text, &store, report);
        Ok(if left_out.is_empty() { code } else { ExitCode::FAILURE })
    }

    /// Simulates every trial.
    pub(super) fn simulate(&self, file: &StudyFile) -> anyhow::Result<ExitCode> {
        let host = || this_machine().map_err(|error| error_chain(error.as_ref()));
        let mut plan = file.simulated(build(), &host)?;
        self.select(&mut plan.head, &mut plan.cells, |cell| &cell.id)?;
        if self.dry_run {
            print_text(computed_plan(&plan, |_| Vec::new()));
            return Ok(ExitCode::SUCCESS);
        }
        let store = self.store(file)?;
        // A trial is stored whole or not at all.
        crate::interrupt::end_at_once(self.interrupted(&store))?;
        let done = self.compute(&plan, &store, &Simulator).with_context(|| kept(store.folder()))?;
        let mut text = simulated_study(&done.result);
        if self.sensitivity {
            let waiting =
                (!self.json).then(|| Progress::waiting("simulating each cost at both ends of its range"));
            let claims = sensitivity(&plan, &done.result, self.jobs());
            drop(waiting);
            save_json(&claims, &store.folder().join(SENSITIVITY))?;
            text += &format!("\n{}", simulated_claims(&claims));
        }
        Ok(self.finish(&done.result, &text, &store, || save_report(store.folder())))
    }

    /// Computes what the store lacks.
    fn compute<C: Computer>(
        &self,
        plan: &ComputedPlan<C::Job>,
        store: &Store,
        computer: &C,
    ) -> Result<ComputedStudy<C::Trial>, ComputedError<C::Error>> {
        if !self.json {
            print_text(computed_plan(plan, |_| Vec::new()));
        }
        let progress = (!self.json).then(|| {
            let least = plan.trials().0 as u64;
            Progress::new(&plan.head.name, Some(least), "trials").ticking()
        });
        let show = |event: ComputedEvent<'_>| match event {
            _ if self.json => {}
            ComputedEvent::Stored(count) => {
                progress.iter().for_each(|progress| progress.begin_at(count as u64))
            }
            ComputedEvent::Trial(cell, seed, failure) => {
                let failed = failure.map_or_else(String::new, |why| format!(": failed: {why}"));
                print_line(format_args!("  {cell}, seed {seed}{failed}"));
                progress.iter().for_each(Progress::advance);
            }
            ComputedEvent::Settled(cell, verdict) => print_line(format_args!("  {cell}: {verdict}")),
        };
        run_computed(plan, store, computer, self.jobs(), show)
    }

    /// How many trials are computed at a time.
    fn jobs(&self) -> usize {
        let default_jobs = || std::thread::available_parallelism().map_or(1, usize::from).min(4);
        self.jobs.map_or_else(default_jobs, |jobs| jobs as usize)
    }
}

/// Removes the cells whose kernel or scheduler is not on this machine. Returns a line for each kernel and scheduler, with the way to get it.
fn leave_out(cells: &mut Vec<ComputedCell<Configuration>>) -> anyhow::Result<Vec<String>> {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    cells.retain(|cell| {
        let missing = missing_kernel(&cell.job.kernel).or_else(|| missing_scheduler(&cell.job.scheduler));
        let is_here = missing.is_none();
        missing.into_iter().for_each(|line| *lines.entry(line).or_default() += 1);
        is_here
    });
    let line = |(line, count): (String, usize)| {
        let cells = if count == 1 { "cell is" } else { "cells are" };
        format!("{count} {cells} left out: {line}")
    };
    let lines: Vec<String> = lines.into_iter().map(line).collect();
    anyhow::ensure!(!cells.is_empty(), "nothing is left to boot; {}", lines.join("; "));
    lines.iter().for_each(print_error);
    Ok(lines)
}

fn missing_kernel(name: &str) -> Option<String> {
    if BootKernel::check(name).is_err() {
        return Some(format!("there is no kernel {name} here; get it by `klatch lab get-kernel {name}`"));
    }
    // Without the own one nothing at all could be booted, which is an error.
    let other = Some(Architecture::of_kernel_name(name)).filter(|one| *one != Architecture::default());
    other.and_then(|architecture| require_programs(architecture).err()).map(|error| error.to_string())
}

fn missing_scheduler(name: &str) -> Option<String> {
    let Ok(SchedulerSpec::Program(program)) = name.parse() else { return None };
    program.path().err()?;
    let name = &program.program;
    // Names without a folder are those of the sched_ext project, which are crates.
    let way = match name.contains('/') {
        true => "build it there".to_owned(),
        false => format!(
            "get it by `cargo install {name}`, which needs clang 18 or newer, and put it on the search path"
        ),
    };
    Some(format!("there is no scheduler {name} here; {way}"))
}

/// The context of an error that ends a study.
fn kept(folder: &Path) -> String {
    format!("finished trials stay in {}", folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(kernel: &str, scheduler: &str) -> ComputedCell<Configuration> {
        let job = Configuration {
            id: String::new(),
            kernel: kernel.to_owned(),
            cpus: 1,
            machine: None,
            scheduler: scheduler.to_owned(),
            varied: Vec::new(),
            seed: 1,
            commands: Vec::new(),
        };
        ComputedCell { id: String::new(), at: BTreeMap::new(), job }
    }

    #[test]
    fn cells_of_what_is_not_here_are_left_out_with_the_way_to_get_it() {
        let mut cells = vec![
            cell("6.18", "kernel"),
            cell("0.1", "kernel"),
            cell("0.1", "o1"),
            cell("6.18", "scx_nowhere --slow"),
            cell("6.18", "./no/scx_mine"),
        ];
        let lines = leave_out(&mut cells).unwrap();
        assert_eq!(cells.len(), 1);
        let expected = [
            "2 cells are left out: there is no kernel 0.1 here; get it by `klatch lab get-kernel 0.1`",
            "1 cell is left out: there is no scheduler ./no/scx_mine here; build it there",
            "1 cell is left out: there is no scheduler scx_nowhere here; get it by `cargo install scx_nowhere`, which needs \
             clang 18 or newer, and put it on the search path",
        ];
        assert_eq!(lines, expected);
        let error = leave_out(&mut vec![cell("0.1", "o1")]).unwrap_err().to_string();
        assert!(error.starts_with("nothing is left to boot; 1 cell is left out"), "{error}");
    }
}
