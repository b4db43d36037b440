//! Studies whose trials are computed: boots of the lab, and simulated runs.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use klatch_lab::{Boot, Counting, Job, LabError};
use klatch_platforms::{Java, PlatformRequest};
use klatch_record::lab::Outcome;
use klatch_record::{SENSITIVITY, error_chain, save_json};
use klatch_report::{Progress, computed_plan, lab_summary, preparing, simulated_claims, simulated_study};
use klatch_study::{
    ComputedError, ComputedEvent, ComputedPlan, ComputedStudy, Computer, Emulated, EmulatedStudy, Simulator,
    Store, StudyFile, leave_out, prepare, run_computed, sensitivity,
};

use super::Study;
use crate::INTERRUPTED;
use crate::interrupt::flag_on_interrupt;
use crate::lab::notice;
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
        left_out.iter().for_each(print_error);
        let PlatformRequest { java, .. } = self.platforms.request();
        let java = study.java.then(|| Java::find(java.as_deref(), JAVA_MIN)).transpose()?;
        let (kernels, images) =
            prepare(&plan.cells, java.as_ref().map(|java| java.path.as_path()), &preparing())?;
        let machine = Emulated {
            kernels,
            images,
            memory_mb: study.memory_mb,
            counters: study.counters.as_deref().map(Boot::counters).transpose()?,
            counting: Counting::of(&study),
            limit: self.limit.map_or(LIMIT, |limit| limit.0),
            twice: self.twice,
            show: study.show.clone(),
            interrupted: flag_on_interrupt()?,
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

/// The context of an error that ends a study.
fn kept(folder: &Path) -> String {
    format!("finished trials stay in {}", folder.display())
}
