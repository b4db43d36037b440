//! Carries out a plan with one start of the server, as `klatch run` does.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use klatch_platforms::{Processes, Sysctls};
use klatch_record::{Record, Role, Status, save};

use crate::error::{RunError, after_restore};
use crate::folder::{make_folder, next_stem, point_latest_at, remove_empty};
use crate::plan::Plan;
use crate::preflight::check_plan;
use crate::resolved::CheckedPlan;
use crate::training::open_session;
use crate::visit::{VisitEvent, make_runs};

/// A step in the execution of a plan.
pub enum Event<'a> {
    /// A step of its visit; the record of a run that ended is saved.
    Visit(VisitEvent<'a>),
    /// A run has ended, and its record could not be written. The execution ends with that error.
    Unsaved(&'a Record),
}

/// The result of a plan.
pub struct Outcome {
    /// The records of all its runs, warm-ups included, in order.
    pub records: Vec<Record>,
    /// The folder that they were written to.
    pub folder: PathBuf,
}

/// Starts the server, makes the plan's warm-ups and trials, and saves a record of each. An invalid run ends it early,
/// as its server may be in a bad state.
///
/// # Errors
/// See [`RunError`]. Every process that was started is stopped, and the machine's settings are restored.
pub fn execute(
    plan: &Plan,
    processes: &Processes,
    on_event: impl FnMut(Event<'_>),
) -> Result<Outcome, RunError> {
    // The sysctls are set first: the limits that the plan is checked against depend on them.
    let sysctls = Sysctls::set(&plan.sysctls)?;
    let outcome = run_all(plan, processes, on_event);
    after_restore(outcome, sysctls.restore())
}

fn run_all(plan: &Plan, processes: &Processes, on_event: impl FnMut(Event<'_>)) -> Result<Outcome, RunError> {
    let checked = check_plan(plan)?;
    let name = checked.subject.platform().map_or("target", |platform| platform.name.as_str());
    let in_out = |source| RunError::Folder { out: plan.out.clone(), source };
    let folder = make_folder(&plan.out, name, Timestamp::now()).map_err(in_out)?;
    let done = run_all_in(&folder, plan, checked, processes, on_event);
    let records = done.inspect_err(|_| remove_empty(&folder))?;
    Ok(Outcome { records, folder })
}

fn run_all_in(
    folder: &Path,
    plan: &Plan,
    checked: CheckedPlan<'_>,
    processes: &Processes,
    mut on_event: impl FnMut(Event<'_>),
) -> Result<Vec<Record>, RunError> {
    let session = open_session(checked, processes)?;
    let warmups = (1..=plan.warmups).map(|number| (Role::WarmUp, number));
    let trials = (1..=plan.trials).map(|number| (Role::Trial, number));
    let runs: Vec<(Role, u32)> = warmups.chain(trials).collect();
    let mut records = Vec::new();
    let is_invalid = |record: &Record| record.verdict.status == Status::Invalid;
    make_runs(session, folder, &runs, is_invalid, &mut |event| {
        if let VisitEvent::RunEnded(record) = event {
            let path = folder.join(next_stem(folder, record.role) + ".json");
            if let Err(error) = save(record, &path) {
                on_event(Event::Unsaved(record));
                return Err(error.into());
            }
            point_latest_at(folder);
            records.push(record.clone());
        }
        on_event(Event::Visit(event));
        Ok(())
    })?;
    Ok(records)
}
