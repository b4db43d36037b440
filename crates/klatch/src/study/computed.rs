//! Studies whose trials are computed: boots of the lab, and simulated runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use klatch_lab::{Boot, Image, Job, LabError, machine_image};
use klatch_platforms::{Java, PlatformRequest};
use klatch_record::lab::Outcome;
use klatch_record::{error_chain, save_json};
use klatch_report::{lab_summary, simulated_claims, simulated_study};
use klatch_study::{
    ComputedError, ComputedEvent, ComputedPlan, ComputedStudy, Computer, Emulated, EmulatedStudy, Simulator,
    Store, StudyFile, run_computed, sensitivity,
};

use super::{Study, head, range};
use crate::INTERRUPTED;
use crate::lab::{image, interrupted, kernel};
use crate::output::{print, print_error, print_line};
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
            print(outline(&plan, |cell| Job::new(cell, study.counters.is_some()).commands));
            return Ok(ExitCode::SUCCESS);
        }
        let PlatformRequest { java, .. } = self.platforms.request();
        let java = study.java.then(|| Java::find(java.as_deref(), JAVA_MIN)).transpose()?;
        // Download kernels before the first boot, so that parallel boots do not download the same one.
        let mut kernels = BTreeMap::new();
        for cell in &plan.cells {
            if !kernels.contains_key(&cell.job.kernel) {
                let found = kernel(&cell.job.kernel, None)?;
                // It downloads the configuration, if a scheduler needs it.
                machine_image(&Image::default(), &found, &cell.job.scheduler)?;
                kernels.insert(cell.job.kernel.clone(), found);
            }
        }
        let machine = Emulated {
            kernels,
            image: image(java.as_ref().map(|java| java.path.as_path()))?,
            memory_mb: study.memory_mb,
            counters: study.counters.as_deref().map(Boot::counters).transpose()?,
            limit: self.limit.map_or(LIMIT, |limit| limit.0),
            twice: self.twice,
            show: study.show.clone(),
            interrupted: interrupted()?,
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
        let report = || save_lab_report(store.folder(), &study, &outcomes);
        Ok(self.finish(&done.result, &text, &store, report))
    }

    /// Simulates every trial.
    pub(super) fn simulate(&self, file: &StudyFile) -> anyhow::Result<ExitCode> {
        let host = || this_machine().map_err(|error| error_chain(error.as_ref()));
        let mut plan = file.simulated(build(), &host)?;
        self.select(&mut plan.head, &mut plan.cells, |cell| &cell.id)?;
        if self.dry_run {
            print(outline(&plan, |_| Vec::new()));
            return Ok(ExitCode::SUCCESS);
        }
        let store = self.store(file)?;
        let message = self.interrupted(&store);
        // Nothing has to be stopped: a trial is stored whole or not at all.
        crate::interrupt::on_interrupt(move || {
            print_error(&message);
            std::process::exit(INTERRUPTED.into());
        })?;
        let done = self.compute(&plan, &store, &Simulator).with_context(|| kept(store.folder()))?;
        let mut text = simulated_study(&done.result);
        if self.sensitivity {
            let claims = sensitivity(&plan, &done.result, self.jobs());
            save_json(&claims, &store.folder().join("sensitivity.json"))?;
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
            print(outline(plan, |_| Vec::new()));
        }
        let show = |event: ComputedEvent<'_>| match event {
            _ if self.json => {}
            ComputedEvent::Trial(cell, seed, None) => print_line(format_args!("  {cell}, seed {seed}")),
            ComputedEvent::Trial(cell, seed, Some(why)) => {
                print_line(format_args!("  {cell}, seed {seed}: failed: {why}"))
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

/// The plan as text: question, rules, cells with their commands, and number of trials.
fn outline<J>(plan: &ComputedPlan<J>, commands: impl Fn(&J) -> Vec<Vec<String>>) -> String {
    let mut text = head(&plan.head, plan.rules_text());
    for cell in &plan.cells {
        text += &format!("  {}\n", cell.id);
        for command in commands(&cell.job) {
            text += &format!("    klatch {}\n", command.join(" "));
        }
    }
    let (least, most) = plan.trials();
    let trials = range(least.to_string(), most.to_string());
    let counted = |number: usize, what: &str| format!("{what}{}", if number == 1 { "" } else { "s" });
    let cells = plan.cells.len();
    text + &format!("{cells} {}, {trials} {}\n", counted(cells, "cell"), counted(most, "trial"))
}
