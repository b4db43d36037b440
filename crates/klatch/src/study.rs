//! `klatch study`: loads a study file, runs or resumes it, and writes its report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use klatch_platforms::{PlatformRequest, Processes};
use klatch_record::{CellStatus, StudyResult, WorkloadKind, error_chain};
use klatch_report::{Live, Progress, duration, one_line, role_and_number};
use klatch_runner::duet::PairMachine;
use klatch_runner::{Machine, VisitEvent};
use klatch_study::{Store, StudyBase, StudyEvent, StudyPlan, load, run_pairs, run_study, shipped};

use crate::INTERRUPTED;
use crate::output::{print, print_error, print_line};
use crate::platforms::PlatformArgs;
use crate::version::build;
use crate::web_view::{WebArgs, WebView};

/// Measure platforms × workloads × knobs under run rules
///
/// Visits the cells in random order and writes every record as soon as its run ends.
///
/// Exit status: 0 every cell has its trials, 1 some cell failed, 2 could not run.
#[derive(Args)]
pub(crate) struct Study {
    /// Study that Klatch brings, or a file; lists the studies if omitted
    #[arg(value_name = "NAME|FILE")]
    study: Option<String>,
    /// Print the runs and their duration without running them
    #[arg(long, conflicts_with = "resume")]
    dry_run: bool,
    /// Continue an interrupted study, from this folder or the newest one of this study
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    resume: Option<Option<PathBuf>>,
    /// Cells to run: those with this text in the name
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Allow the study's `[sysctls]` to change the machine during visits
    #[arg(long)]
    allow_sysctl: bool,
    /// Seed of the random order of visits
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the results
    #[arg(long, default_value = "results", value_name = "DIR", value_parser = crate::output::folder)]
    out: PathBuf,
    /// Print the result as JSON; without a study, the list
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
    /// Show progress on the whole terminal: cell, speed, trials with their interval, time left
    #[arg(long, conflicts_with_all = ["json", "dry_run"])]
    live: bool,
    #[command(flatten)]
    web: WebArgs,
}

impl Study {
    /// The options that affect the results, except the seed.
    fn options(&self) -> BTreeMap<String, String> {
        let PlatformRequest { java, catalog, .. } = self.platforms.request();
        let path = |path: PathBuf| path.display().to_string();
        let all = [
            ("only", self.only.clone()),
            ("java", java.map(path)),
            ("catalog", catalog.map(path)),
            ("allow-sysctl", self.allow_sysctl.then(String::new)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let Some(name) = &self.study else {
            list(self.json);
            return Ok(ExitCode::SUCCESS);
        };
        let mut plan = load(name, &base(&self.platforms, &self.out), self.seed)?;
        if let Some(only) = &self.only {
            plan.cells.retain(|cell| cell.id.contains(only.as_str()));
            anyhow::ensure!(!plan.cells.is_empty(), "no cell of {} has {only} in its name", plan.name);
        }
        plan.options = self.options();
        if self.dry_run {
            print(outline(&plan));
            return Ok(ExitCode::SUCCESS);
        }
        anyhow::ensure!(
            self.allow_sysctl || !plan.sets_sysctls(),
            "{} sets sysctls of this machine; allow it with --allow-sysctl",
            plan.name
        );
        anyhow::ensure!(
            !self.web.is_wanted() || !plan.is_of_duets(),
            "--web shows runs, and {} has duets; leave it out",
            plan.name
        );
        let live = self.live.then(|| Live::start(&plan.name, plan.cells.iter().map(|cell| cell.id.clone())));
        let workload = plan.cells.first().map(|cell| cell.plan.workload.kind()).unwrap_or_default();
        let web = self.web.start(&plan.name, &self.out)?;
        let live = live.transpose().context("--live")?;
        let mut display =
            Display { json: self.json, workload, progress: None, live, web, cell: String::new() };
        let store = self.store(&plan)?;
        plan.seed = store.seed();
        let all = Processes::default();
        let stopper = all.clone();
        crate::interrupt::on_interrupt(move || stopper.interrupt())?;
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
            Ok(result) => Ok(self.finish(&result, &store)),
            Err(_) if all.interrupted() => {
                let folder = store.folder().display();
                print_error(format_args!(
                    "klatch: interrupted; finished runs stay in the folder; continue with: klatch study {name} --resume {folder}"
                ));
                Ok(ExitCode::from(INTERRUPTED))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn store(&self, plan: &StudyPlan) -> anyhow::Result<Store> {
        let Some(folder) = &self.resume else {
            return Ok(Store::begin(&self.out, &plan.name, &plan.source, self.seed)?);
        };
        let newest = || Store::newest(&self.out, &plan.name);
        let folder = folder.clone().or_else(newest);
        let folder = folder.with_context(|| {
            format!("no study {} in {}; start it without --resume", plan.name, self.out.display())
        })?;
        Ok(Store::resume(&folder, &plan.source)?)
    }

    fn finish(&self, result: &StudyResult, store: &Store) -> ExitCode {
        if self.json {
            print_line(serde_json::to_string(result).expect("a result is plain JSON"));
        } else {
            print_line(format_args!(
                "\n{}\nresults: {}",
                klatch_report::study(result),
                store.folder().display()
            ));
        }
        // The results are complete even if the report fails.
        match crate::report::save_report(store.folder()) {
            Ok(path) if !self.json => print_line(format_args!("report: {}", path.display())),
            Ok(_) => {}
            Err(error) => print_error(format_args!(
                "klatch: cannot write a report: {}; try klatch report {}",
                error_chain(error.as_ref()),
                store.folder().display()
            )),
        }
        let failed = result.cells.iter().any(|cell| cell.status == CellStatus::Failed);
        if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

/// What a study file does not set.
pub(crate) fn base(platforms: &PlatformArgs, out: &Path) -> StudyBase {
    StudyBase { platforms: platforms.request(), out: out.to_owned(), build: build() }
}

fn list(json: bool) {
    for study in shipped() {
        if json {
            let entry = serde_json::json!({ "name": study.name, "question": study.question() });
            print_line(entry);
            continue;
        }
        print_line(format_args!("{:<22}{}", study.name, study.question().unwrap_or_default()));
    }
}

/// The plan as text: question, rules, instruments, cells and number of runs.
fn outline(plan: &StudyPlan) -> String {
    let mut text = format!("{}\n{}\nrules: {}\n", plan.name, plan.question, plan.rules);
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
    let range = |low: String, high: String| if low == high { low } else { format!("{low} to {high}") };
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

#[cfg(test)]
#[path = "study_again_tests.rs"]
mod tests;
