//! `klatch lab run`: studies whose trials are boots of the emulated machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use klatch_lab::{
    Answer, Boot, Image, Job, LabError, boot, load_study, outcome, outcome_without_answer, shipped,
};
use klatch_platforms::Java;
use klatch_record::lab::{Configuration, Outcome, Study};
use klatch_record::{ResultKind, StudyAxis};
use klatch_report::lab_summary;
use klatch_study::{ComputedCell, ComputedPlan, Computer};

use super::{image, interrupted, kernel};
use crate::computed::{ComputedArgs, outline};
use crate::output::print_line;
use crate::version::build;

/// Lowest feature version of Java that runs `klatch.jar`.
const JAVA_MIN: u32 = 17;

#[derive(Args)]
pub(super) struct Run {
    #[command(flatten)]
    computed: ComputedArgs,
    /// Boot each configuration twice and compare all output to the last digit
    #[arg(long)]
    twice: bool,
    /// Longest time for a boot, on this machine's clock
    #[arg(long, default_value_t = 900, value_name = "SECONDS")]
    limit: u64,
    /// Java program of a JDK, for studies with Java [default: from JAVA_HOME, PATH, /usr/lib/jvm]
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
}

impl Run {
    /// The options that affect the results.
    pub(super) fn options(&self) -> BTreeMap<String, String> {
        let java = self.java.as_ref().map(|java| ("java".to_owned(), java.display().to_string()));
        self.computed.options().into_iter().chain(java).collect()
    }

    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let Some(name) = &self.computed.study else {
            for (name, _) in shipped() {
                print_line(format_args!("{name:<20}{}", load_study(name)?.question));
            }
            return Ok(ExitCode::SUCCESS);
        };
        let study = load_study(name)?;
        let mut plan = plan(&study);
        self.computed.select(&mut plan)?;
        plan.options = self.options();
        print_line(outline(&plan));
        if self.computed.dry_run {
            let boots = plan.cells.iter().flat_map(|cell| {
                study.seeds.iter().map(|&seed| cell.job.with_seed(seed)).collect::<Vec<_>>()
            });
            for one in boots {
                for command in Job::new(&one, study.counters.is_some()).commands {
                    print_line(format_args!("  {}: klatch {}", one.id, command.join(" ")));
                }
            }
            return Ok(ExitCode::SUCCESS);
        }
        let java = study.java.then(|| Java::find(self.java.as_deref(), JAVA_MIN)).transpose()?;
        // Download kernels before the first boot, so that parallel boots do not download the same one.
        plan.cells.iter().try_for_each(|cell| kernel(&cell.job.kernel).map(|_| ()))?;
        let machine = Emulated {
            interrupted: interrupted()?,
            image: image(java.as_ref().map(|java| java.path.as_path()))?,
            memory_mb: study.memory_mb,
            counters: study.counters.as_deref().map(Boot::counters).transpose()?,
            limit: Duration::from_secs(self.limit),
            twice: self.twice,
            show: study.show.clone(),
        };
        let store = self.computed.store(&plan)?;
        let done = self.computed.run(&plan, &store, &machine, false)?;
        let outcomes: Vec<Outcome> = done.trials.into_iter().flatten().collect();
        print_line(format_args!("\n{}", lab_summary(&study, &outcomes)));
        let failed = outcomes.iter().any(|outcome| outcome.failure.is_some());
        if self.twice && !failed {
            print_line("the second boots gave the same output, to the last digit");
        }
        let report = crate::report::save_lab_report(store.folder(), &study, &outcomes)?;
        print_line(format_args!("results: {}\nreport: {}", store.folder().display(), report.display()));
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// The cells of a study of the lab.
fn plan(study: &Study) -> ComputedPlan<Configuration> {
    let mut axes: Vec<StudyAxis> = Vec::new();
    let mut cells = Vec::new();
    for job in study.cells() {
        let named = [("kernel", &job.kernel), ("cpus", &job.cpus.to_string()), ("scheduler", &job.scheduler)]
            .map(|(name, value)| (name.to_owned(), value.clone()));
        let at: Vec<(String, String)> = named.into_iter().chain(job.varied.iter().cloned()).collect();
        for (name, value) in &at {
            match axes.iter_mut().find(|axis| axis.name == *name) {
                Some(axis) if axis.values.contains(value) => {}
                Some(axis) => axis.values.push(value.clone()),
                None => axes.push(StudyAxis { name: name.clone(), values: vec![value.clone()] }),
            }
        }
        cells.push(ComputedCell { id: job.id.clone(), at: at.into_iter().collect(), job });
    }
    axes.retain(|axis| axis.values.len() > 1 || axis.name == "scheduler");
    ComputedPlan {
        name: study.name.clone(),
        question: study.question.clone(),
        source: study.text.clone(),
        kind: ResultKind::Emulated,
        axes,
        cells,
        seeds: study.seeds.clone(),
        within: None,
        metric: study.show.first().cloned().unwrap_or_default(),
        options: BTreeMap::new(),
        build: build(),
    }
}

/// Boots the emulated machine once for each trial.
struct Emulated {
    interrupted: Arc<AtomicBool>,
    image: Image,
    memory_mb: u32,
    /// Arguments of the counters' plugin; `None` if nothing is counted.
    counters: Option<String>,
    limit: Duration,
    /// Boot a second time, and compare.
    twice: bool,
    /// Names of the numbers that the study shows.
    show: Vec<String>,
}

impl Computer for Emulated {
    type Job = Configuration;
    type Trial = Outcome;
    type Error = LabError;

    fn compute(&self, cell: &Configuration, seed: u32, folder: &Path) -> Result<Outcome, LabError> {
        let kernel = kernel(&cell.kernel)?;
        let one = cell.with_seed(seed);
        let machine = Boot {
            kernel: &kernel,
            image: self.image.clone(),
            cpus: one.cpus,
            memory_mb: self.memory_mb,
            seed: one.seed,
            job: Job::new(&one, self.counters.is_some()),
            counters: self.counters.clone(),
            limit: self.limit,
            interrupted: &self.interrupted,
        };
        let answer = match boot(&machine) {
            Err(error) if !error.is_guest_failure() => return Err(error),
            answer => answer,
        };
        let mut outcome = match &answer {
            Ok(answer) => outcome(one, answer, &self.show),
            Err(why) => outcome_without_answer(one, why.to_string()),
        };
        if let Ok(answer) = &answer {
            if self.twice && boot(&machine)? != *answer {
                outcome.failure = Some("a second boot gave different output".to_owned());
            }
            save_files(folder, answer)?;
        }
        Ok(outcome)
    }

    fn failure<'a>(&self, trial: &'a Outcome) -> Option<&'a str> {
        trial.failure.as_deref()
    }

    fn metrics(&self, trial: &Outcome) -> Vec<(String, f64)> {
        self.show.iter().filter_map(|name| Some((name.clone(), trial.value(name)?))).collect()
    }
}

/// Saves the files that the commands wrote in the machine.
pub(super) fn save_files(folder: &Path, answer: &Answer) -> Result<(), LabError> {
    let failed = |source| LabError::File { what: "write results to", path: folder.to_owned(), source };
    answer.write_files(folder).map_err(failed)
}
