//! `klatch calibrate`: a duet of a platform with itself, or of a platform without and with instruments.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use klatch_platforms::{PlatformRequest, Setting};
use klatch_record::{DuetEnd, InstrumentName, error_chain};
use klatch_report::{Ending, calibration_answer};
use klatch_runner::duet::{DuetOutcome, DuetPlan, instrument_duet};
use klatch_runner::{Plan, PlatformPlan, Subject};
use klatch_study::compare::calibrate;

use crate::INTERRUPTED;
use crate::duet::{DuetSchedule, duet_plan, exit_code, show_progress};
use crate::next;
use crate::output::{print_error, print_line, print_text};
use crate::platforms::PlatformArgs;
use crate::report::save_duet_report;
use crate::workload::{OfDuet, WorkloadArgs};

/// Slices under instruments: to start them takes longer than a short slice.
const OBSERVED_SLICE: Duration = Duration::from_millis(400);

/// Find the smallest difference that this machine can show
///
/// Compares a platform with itself by a duet, and writes its results to a new folder. Stores the difference between two starts of
/// a server in ~/.local/state/klatch/calibration.json; warnings of later runs use it.
///
/// Exit status: 0 calibrated, 2 could not calibrate.
#[derive(Args)]
#[command(args_override_self = true)]
pub(crate) struct Calibrate {
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Platform to measure, by name or NAME@JAVA-VERSION
    #[arg(long, default_value = "native-epoll")]
    platform: String,
    /// Knob of the platform; `klatch platforms --knobs` lists all
    #[arg(long = "knob", value_name = "NAME=VALUE")]
    knobs: Vec<Setting>,
    #[command(flatten)]
    workload: WorkloadArgs<OfDuet>,
    /// Instruments to measure the cost of: they observe in every second slice
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    instruments: Vec<InstrumentName>,
    #[command(flatten)]
    schedule: DuetSchedule,
    /// Folder for the records
    #[arg(long, default_value = "results", value_name = "DIR", value_parser = crate::output::folder)]
    out: PathBuf,
    /// Print the duet as one line of JSON
    #[arg(long)]
    json: bool,
}

impl Calibrate {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let plan = self.plan()?;
        let all = crate::interrupt::interruptible_processes()?;
        let progress = show_progress(self.json, self.schedule.time());
        let done = if self.instruments.is_empty() {
            calibrate(plan, &all, progress)
                .map(|done| (done.outcome, done.saved))
                .map_err(anyhow::Error::from)
        } else {
            instrument_duet(plan, &all, progress).map(|outcome| (outcome, None)).map_err(anyhow::Error::from)
        };
        let (outcome, saved) = match done {
            Err(_) if all.interrupted() => {
                print_error("klatch: interrupted before anything was measured; server and crowd are stopped");
                return Ok(ExitCode::from(INTERRUPTED));
            }
            done => done?,
        };
        if let Some(Err(error)) = &saved {
            print_error(format_args!(
                "klatch: cannot store the calibration, so warnings of later runs will not use it: {}",
                error_chain(error)
            ));
        }
        self.schedule.show_end(&outcome);
        self.show(&outcome, saved.and_then(Result::ok))?;
        Ok(exit_code(&outcome.duet))
    }

    /// Prints the result; `stored` is the file that warnings of later runs use.
    fn show(&self, outcome: &DuetOutcome, stored: Option<PathBuf>) -> anyhow::Result<()> {
        if self.json {
            print_line(serde_json::to_string(&outcome.duet)?);
            return Ok(());
        }
        let against_itself = self.instruments.is_empty() && outcome.duet.end == DuetEnd::Complete;
        print_text(if against_itself {
            klatch_report::calibration(&outcome.duet)
        } else {
            klatch_report::duet(&outcome.duet)
        });
        let saved = save_duet_report(&outcome.folder, &outcome.duet)?;
        let answer = if against_itself { calibration_answer(&outcome.duet) } else { saved.answer };
        let mut places = vec![("results", outcome.folder.clone()), ("report", saved.path)];
        places.extend(stored.map(|path| ("warnings of later runs use", path)));
        next::print_ending(Ending { answer, places, next: next::open(&self.out) });
        Ok(())
    }

    fn plan(&self) -> anyhow::Result<DuetPlan> {
        let request = PlatformRequest {
            name: Some(self.platform.clone()),
            settings: self.knobs.clone(),
            ..self.platforms.request()
        };
        let subject = Subject::Platform(PlatformPlan::new(request.with_file()?));
        let side = duet_plan(subject, self.workload.workload()?, &self.out, self.schedule.seed());
        let observed = Plan { instruments: self.instruments.clone(), ..side.clone() };
        let slice = (!self.instruments.is_empty()).then_some(OBSERVED_SLICE);
        self.schedule.plan([side, observed], slice, "calibration")
    }
}
