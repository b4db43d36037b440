//! `klatch study`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use klatch_platforms::Processes;
use klatch_record::{CellStatus, Pacing, StudyResult, Workload, error_chain};
use klatch_report::{Live, Progress, duration, one_line, role_and_number};
use klatch_runner::{CrowdKind, Machine, Plan};
use klatch_study::{Store, StudyEvent, StudyPlan, load, run_study, shipped};

use crate::INTERRUPTED;
use crate::build::build;
use crate::platforms::PlatformArgs;

/// Carry out a study: platforms × workload × knobs under run rules, in random order, every result kept as it comes.
///
/// Exit status: 0 every cell has its trials, 1 some cell failed, 2 could not run.
#[derive(Args)]
pub(crate) struct Study {
    /// A study that Klatch brings, or a file; without it, those that Klatch brings are listed
    #[arg(value_name = "NAME|FILE")]
    study: Option<String>,
    /// Print what would be run, and how long it would take
    #[arg(long, conflicts_with = "resume")]
    dry_run: bool,
    /// Go on with an earlier call that did not end: its folder, or the newest of this study
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    resume: Option<Option<PathBuf>>,
    /// Only the cells whose name holds this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Allow what the study says under `[sysctls]` to change the machine for as long as a visit takes
    #[arg(long)]
    allow_sysctl: bool,
    /// Seed of the order in which cells are visited
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the results
    #[arg(long, default_value = "results", value_name = "DIR")]
    out: PathBuf,
    /// Print the result as JSON instead; without a study, the list
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
    /// Show on the whole terminal where it stands: cell, speed, trials with their interval, time left
    #[arg(long, conflicts_with_all = ["json", "dry_run"])]
    live: bool,
}

impl Study {
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
        if self.dry_run {
            print!("{}", outline(&plan));
            return Ok(ExitCode::SUCCESS);
        }
        anyhow::ensure!(
            self.allow_sysctl || !plan.sets_sysctls(),
            "{} sets sysctls of this machine; allow it with --allow-sysctl",
            plan.name
        );
        let live = self.live.then(|| Live::start(&plan.name, plan.cells.iter().map(|cell| cell.id.clone())));
        let mut show = Show { json: self.json, progress: None, live: live.transpose()? };
        let store = self.store(&plan)?;
        plan.seed = store.seed();
        let all = Processes::default();
        let stopper = all.clone();
        ctrlc::set_handler(move || stopper.interrupt())?;
        if !self.json && !self.live {
            print!("{}", outline(&plan));
        }
        let done = run_study(&plan, &store, &mut Machine { all: &all }, |event| show.tell(event));
        // The terminal is given back before anything is printed.
        drop(show);
        match done {
            Ok(result) => Ok(self.finish(&result, &store)),
            Err(_) if all.interrupted() => {
                let folder = store.folder().display();
                eprintln!(
                    "klatch: interrupted; what is finished is kept: klatch study {name} --resume {folder}"
                );
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
            format!("there is no study {} in {}; begin it without --resume", plan.name, self.out.display())
        })?;
        Ok(Store::resume(&folder, &plan.source)?)
    }

    fn finish(&self, result: &StudyResult, store: &Store) -> ExitCode {
        if self.json {
            println!("{}", serde_json::to_string(result).expect("a result is plain JSON"));
        } else {
            println!("\n{}\nresults: {}", klatch_report::study(result), store.folder().display());
        }
        // The results are there whatever becomes of the report.
        match crate::report::beside(store.folder()) {
            Ok(path) if !self.json => println!("report: {}", path.display()),
            Ok(_) => {}
            Err(error) => eprintln!(
                "klatch: no report could be made: {}; try klatch report {}",
                error_chain(error.as_ref()),
                store.folder().display()
            ),
        }
        let failed = result.cells.iter().any(|cell| cell.status == CellStatus::Failed);
        if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

/// What no study file says.
pub(crate) fn base(platforms: &PlatformArgs, out: &Path) -> Plan {
    Plan {
        wish: platforms.wish(),
        target: None,
        crowd: CrowdKind::Native,
        crowd_settings: Vec::new(),
        sysctls: Vec::new(),
        scheduler: None,
        workload: Workload {
            rooms: 10,
            users: 20,
            count: 100,
            size_bytes: 60,
            start: 1,
            pacing: Pacing::Turns,
            pause_s: 0.0,
        },
        shards: 1,
        servers: 1,
        listen: std::net::Ipv4Addr::LOCALHOST.into(),
        remote: Default::default(),
        instruments: Vec::new(),
        warmups: 0,
        trials: 1,
        out: out.to_owned(),
        ready_timeout: Duration::from_secs(60),
        timeout: Duration::from_secs(60),
        connect_timeout: Duration::from_secs(10),
        crowd_loops: 1,
        seed: 1,
        build: build(),
    }
}

fn list(json: bool) {
    for study in shipped() {
        if json {
            let entry = serde_json::json!({ "name": study.name, "question": study.question() });
            println!("{entry}");
            continue;
        }
        println!("{:<22}{}", study.name, study.question().unwrap_or_default());
    }
}

/// The plan in words.
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
        true => "a search: as many runs as it takes\n".to_owned(),
        false => format!(
            "{} runs, about {}\n",
            range(least.to_string(), most.to_string()),
            range(duration(least_s), duration(most_s))
        ),
    };
    text
}

/// Shows on the terminal what happens.
struct Show {
    json: bool,
    progress: Option<Progress>,
    live: Option<Live>,
}

impl Show {
    fn tell(&mut self, event: StudyEvent<'_>) {
        if let Some(live) = &mut self.live {
            return tell_live(live, event);
        }
        match event {
            StudyEvent::Begins(role, number) => {
                self.progress = Some(Progress::new(role_and_number(role, number)));
            }
            StudyEvent::Crowd(event) => self.progress.iter_mut().for_each(|progress| progress.tell(event)),
            _ if self.json => {}
            StudyEvent::Visit { cell, block, left } => {
                let left = left.map_or(String::new(), |left| {
                    format!(", at least {} left", duration(left.as_secs_f64()))
                });
                println!("\n{} (block {block}{left})", cell.id);
            }
            StudyEvent::Ready(_) => {}
            StudyEvent::Ended(record) => println!("  {}", one_line(record)),
            StudyEvent::Failed(_, cause) => println!("  failed: {cause}"),
            StudyEvent::Settled(_, verdict) => println!("  {verdict}"),
        }
    }
}

fn tell_live(live: &mut Live, event: StudyEvent<'_>) {
    match event {
        StudyEvent::Visit { cell, block, left } => live.visit(&cell.id, block, left),
        StudyEvent::Ready(_) => {}
        StudyEvent::Begins(role, number) => live.begins(role, number),
        StudyEvent::Crowd(event) => live.crowd(event),
        StudyEvent::Ended(record) => live.ended(record),
        StudyEvent::Failed(cell, cause) => live.says(&cell.id, &format!("failed: {cause}")),
        StudyEvent::Settled(cell, verdict) => live.says(&cell.id, verdict),
    }
}
