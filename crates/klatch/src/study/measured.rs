//! Measured studies: visits on this machine.

use std::path::Path;
use std::process::ExitCode;

use klatch_report::{StudyProgress, study_plan};
use klatch_runner::Machine;
use klatch_runner::duet::PairMachine;
use klatch_study::{StudyBase, StudyEvent, StudyFile, run_pairs, run_study};

use super::Study;
use crate::INTERRUPTED;
use crate::output::{print, print_error, print_text};
use crate::platforms::PlatformArgs;
use crate::report::save_report;
use crate::version::build;

impl Study {
    /// Visits the cells on this machine.
    pub(crate) fn measure(&self, file: &StudyFile) -> anyhow::Result<ExitCode> {
        let mut plan = file.measured(
            &StudyBase { preset: self.preset, label: self.label.clone(), ..base(&self.platforms, &self.out) },
            self.seed.unwrap_or(1),
        )?;
        self.require.check()?;
        self.require.require.iter().try_for_each(|one| plan.require(one.clone()))?;
        self.select(&mut plan.head, &mut plan.cells, |cell| &cell.id)?;
        if self.dry_run {
            print_text(study_plan(&plan));
            return Ok(ExitCode::SUCCESS);
        }
        anyhow::ensure!(
            self.allow_sysctl || !plan.sets_sysctls(),
            "{} sets sysctls of this machine; allow it with --allow-sysctl",
            plan.head.name
        );
        anyhow::ensure!(
            !self.web.is_wanted() || !plan.is_of_duets(),
            "--web shows runs, and {} has duets; leave it out",
            plan.head.name
        );
        let web = self.web.start(&plan.head.name, &self.out)?;
        let store = self.store(file)?;
        plan.seed = store.seed();
        let all = crate::interrupt::interruptible_processes()?;
        let mut display = StudyProgress::new(self.json).with_web(web);
        if !self.json {
            print_text(study_plan(&plan));
        }
        if !self.json && !self.lines {
            display = display.on_screen(&plan);
        }
        let show = |event: StudyEvent<'_>| display.update(event).iter().for_each(print);
        let done = match plan.is_of_duets() {
            true => run_pairs(&plan, &store, &mut PairMachine { processes: &all }, show),
            false => run_study(&plan, &store, &mut Machine { processes: &all }, show),
        };
        // Restores the terminal before anything else is printed.
        display.end(done.is_ok());
        match done {
            Ok(result) => {
                let text = klatch_report::study(&result);
                Ok(self.finish(&result, &text, &store, || save_report(store.folder())))
            }
            Err(_) if all.interrupted() => {
                print_error(self.interrupted(&store));
                Ok(ExitCode::from(INTERRUPTED))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What a study file does not set.
pub(crate) fn base(platforms: &PlatformArgs, out: &Path) -> StudyBase {
    StudyBase {
        platforms: platforms.request(),
        label: None,
        out: out.to_owned(),
        build: build(),
        preset: None,
    }
}
