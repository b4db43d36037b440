//! Measured studies: visits on this machine.

use std::path::Path;
use std::process::ExitCode;

use klatch_report::duration;
use klatch_runner::Machine;
use klatch_runner::duet::PairMachine;
use klatch_study::{StudyBase, StudyFile, StudyPlan, run_pairs, run_study};

use super::display::Display;
use super::{Study, head, range};
use crate::INTERRUPTED;
use crate::output::{print_error, print_text};
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
            print_text(outline(&plan));
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
        let mut display = Display::new(self.json).with_web(web);
        if !self.json {
            print_text(outline(&plan));
        }
        if !self.json && !self.lines {
            display = display.on_screen(&plan);
        }
        let done = match plan.is_of_duets() {
            true => {
                run_pairs(&plan, &store, &mut PairMachine { processes: &all }, |event| display.update(event))
            }
            false => {
                run_study(&plan, &store, &mut Machine { processes: &all }, |event| display.update(event))
            }
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

/// The plan as text: question, rules, instruments, cells and number of runs.
fn outline(plan: &StudyPlan) -> String {
    let mut text = head(&plan.head, plan.rules_text());
    let instruments: Vec<&str> = plan.instruments().iter().map(|name| name.name()).collect();
    if !instruments.is_empty() {
        text += &format!("instruments: {}\n", instruments.join(", "));
    }
    for cell in &plan.cells {
        let absent = cell.absent.as_ref().map_or(String::new(), |why| format!("  (not here: {why})"));
        text += &format!("  {}{absent}\n", cell.id);
    }
    let (least, most) = plan.runs();
    let (least_s, most_s) = plan.estimate_s();
    text += &match plan.is_search() {
        true => "a search: the number of runs depends on the results\n".to_owned(),
        false => format!(
            "{} runs, about {}\n",
            range(least.to_string(), most.to_string()),
            range(duration(least_s), duration(most_s))
        ),
    };
    text
}
