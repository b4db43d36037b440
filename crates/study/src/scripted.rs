//! Studies for tests: plans that do not depend on the machine, and an executor that follows a script.

use std::path::Path;

use klatch_platforms::PlatformRequest;
use klatch_record::samples::record;
use klatch_record::{Build, Cause, Latency, Reason, Record, Role, Verdict};
use klatch_runner::{Executor, Plan, RunError, VisitEvent};

use crate::{StudyBase, StudyFile, StudyPlan};

/// What the study files of tests do not set.
pub(crate) fn base() -> StudyBase {
    StudyBase {
        label: None,
        preset: None,
        platforms: PlatformRequest::default(),
        out: "results".into(),
        build: Build { version: "0".into(), ..Build::default() },
    }
}

/// The measured study of this text in the file `folder/mine.toml`.
pub(crate) fn study(folder: &Path, text: &str) -> Result<StudyPlan, String> {
    let file = StudyFile::new(&folder.join("mine.toml"), text.to_owned());
    file.measured(&base(), 7).map_err(|error| error.to_string())
}

/// The record of a valid run with this score.
fn valid_record(plan: &Plan, role: Role, number: u32, messages_per_s: f64) -> Record {
    let workload = plan.workload.clone();
    // Each delivery took 5 ms.
    let latency = Latency::from_counts_ns(&[(5_000_000, 100)]).expect("5 ms fit into a histogram");
    Record { role, workload, latency, ..record(number, number % 60, messages_per_s) }
}

/// Gives the score of a run, or the cause of its failure.
pub(crate) type Script<'a> = Box<dyn FnMut(&Plan, Role, u32) -> Result<f64, &'static str> + 'a>;

/// An executor that takes the scores of its runs from a script.
pub(crate) struct Scripted<'a> {
    pub(crate) script: Script<'a>,
    /// Platform, rooms, role and number of every run so far.
    pub(crate) made: Vec<(String, u32, Role, u32)>,
    /// Number of runs until the executor stops in the middle of a run, as after kill -9; `None` for never.
    pub(crate) runs_left: Option<usize>,
}

impl<'a> Scripted<'a> {
    pub(crate) fn new(
        script: impl FnMut(&Plan, Role, u32) -> Result<f64, &'static str> + 'a,
    ) -> Scripted<'a> {
        Scripted { script: Box::new(script), made: Vec::new(), runs_left: None }
    }
}

impl Executor for Scripted<'_> {
    fn visit(
        &mut self,
        plan: &Plan,
        runs: &[(Role, u32)],
        on_event: &mut dyn FnMut(VisitEvent<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        for &(role, number) in runs {
            match &mut self.runs_left {
                Some(0) => return Err(RunError::Interrupted),
                Some(left) => *left -= 1,
                None => {}
            }
            let platform = plan.subject.platform().unwrap().request.name.clone().unwrap();
            self.made.push((platform, plan.workload.parties(), role, number));
            match (self.script)(plan, role, number) {
                Ok(score) => on_event(VisitEvent::RunEnded(&valid_record(plan, role, number, score)))?,
                Err("the server died") => {
                    let mut invalid = valid_record(plan, role, number, 1.0);
                    invalid.verdict =
                        Verdict::from_reasons(vec![Reason::new(Cause::Server, "the server died")]);
                    on_event(VisitEvent::RunEnded(&invalid))?;
                    return Ok(());
                }
                Err(cause) => {
                    return Err(RunError::CrowdDied { name: "1".into(), stderr: cause.into() });
                }
            }
        }
        Ok(())
    }
}
