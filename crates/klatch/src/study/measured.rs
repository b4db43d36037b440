//! Measured studies: visits on this machine.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use klatch_record::WorkloadKind;
use klatch_report::{Live, Progress, duration, one_line, role_and_number};
use klatch_runner::duet::PairMachine;
use klatch_runner::{Machine, VisitEvent};
use klatch_study::{StudyBase, StudyEvent, StudyFile, StudyPlan, run_pairs, run_study};

use super::{Study, head, range};
use crate::INTERRUPTED;
use crate::output::{print, print_error, print_line};
use crate::platforms::PlatformArgs;
use crate::report::save_report;
use crate::version::build;
use crate::web_view::WebView;

impl Study {
    /// Visits the cells on this machine.
    pub(crate) fn measure(&self, file: &StudyFile) -> anyhow::Result<ExitCode> {
        let mut plan = file.measured(&base(&self.platforms, &self.out), self.seed.unwrap_or(1))?;
        self.require.check()?;
        self.require.require.iter().try_for_each(|one| plan.require(one.clone()))?;
        self.select(&mut plan.head, &mut plan.cells, |cell| &cell.id)?;
        if self.dry_run {
            print(outline(&plan));
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
        let mut display = self.display(&plan)?;
        let store = self.store(file)?;
        plan.seed = store.seed();
        let all = crate::interrupt::interruptible_processes()?;
        if !self.json && !self.live {
            print(outline(&plan));
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

    /// The views of the progress that are wanted.
    fn display(&self, plan: &StudyPlan) -> anyhow::Result<Display> {
        let live =
            self.live.then(|| Live::start(&plan.head.name, plan.cells.iter().map(|cell| cell.id.clone())));
        let web = self.web.start(&plan.head.name, &self.out)?;
        Ok(Display {
            json: self.json,
            workload: plan.cells.first().map(|cell| cell.plan.workload.kind()).unwrap_or_default(),
            progress: None,
            live: live.transpose().context("--live")?,
            web,
            cell: String::new(),
        })
    }
}

/// What a study file does not set.
pub(crate) fn base(platforms: &PlatformArgs, out: &Path) -> StudyBase {
    StudyBase { platforms: platforms.request(), out: out.to_owned(), build: build() }
}

/// The plan as text: question, rules, instruments, cells and number of runs.
fn outline(plan: &StudyPlan) -> String {
    let mut text = head(&plan.head, &plan.rules);
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

/// Prints the progress of the study.
struct Display {
    json: bool,
    /// The kind of workload of all cells.
    workload: WorkloadKind,
    progress: Option<Progress>,
    live: Option<Live>,
    web: Option<WebView>,
    /// Name of the cell that is visited.
    cell: String,
}

impl Display {
    /// Shows on the page that nothing follows, and leaves the view on the terminal.
    fn end(self, finished: bool) {
        if let Some(web) = &self.web {
            web.end(if finished {
                "the study has ended"
            } else {
                "the study ended early; the terminal says why"
            });
        }
    }

    fn update(&mut self, event: StudyEvent<'_>) {
        match &event {
            StudyEvent::VisitStarted { cell, .. } => self.cell.clone_from(&cell.id),
            StudyEvent::Visit(event) => {
                self.web.iter().for_each(|web| web.update(event, Some(&self.cell)));
            }
            StudyEvent::VisitFailed(..) | StudyEvent::CellSettled(..) => {}
        }
        if let Some(live) = &mut self.live {
            return update_live(live, event);
        }
        match event {
            StudyEvent::Visit(VisitEvent::RunStarted(role, number)) => {
                self.progress = Some(Progress::new(role_and_number(role, number), self.workload));
            }
            StudyEvent::Visit(VisitEvent::Crowd(event)) => {
                self.progress.iter_mut().for_each(|progress| progress.update(event))
            }
            _ if self.json => {}
            StudyEvent::VisitStarted { cell, block, left } => {
                let left = left.map_or(String::new(), |left| {
                    format!(", at least {} left", duration(left.as_secs_f64()))
                });
                print_line(format_args!("\n{} (block {block}{left})", cell.id));
            }
            StudyEvent::Visit(VisitEvent::Ready { .. }) => {}
            StudyEvent::Visit(VisitEvent::RunEnded(record)) => {
                print_line(format_args!("  {}", one_line(record)))
            }
            StudyEvent::VisitFailed(_, cause) => print_line(format_args!("  failed: {cause}")),
            StudyEvent::CellSettled(_, verdict) => print_line(format_args!("  {verdict}")),
        }
    }
}

fn update_live(live: &mut Live, event: StudyEvent<'_>) {
    match event {
        StudyEvent::VisitStarted { cell, block, left } => live.visit(&cell.id, block, left),
        StudyEvent::Visit(VisitEvent::Ready { .. }) => {}
        StudyEvent::Visit(VisitEvent::RunStarted(role, number)) => live.begin_run(role, number),
        StudyEvent::Visit(VisitEvent::Crowd(event)) => live.crowd(event),
        StudyEvent::Visit(VisitEvent::RunEnded(record)) => live.ended(record),
        StudyEvent::VisitFailed(cell, cause) => live.set_status(&cell.id, &format!("failed: {cause}")),
        StudyEvent::CellSettled(cell, verdict) => live.set_status(&cell.id, verdict),
    }
}
