//! Visits: one start of the server, and several runs against it.

use std::path::Path;

use klatch_instruments::Files;
use klatch_platforms::{Processes, Sysctls};
use klatch_record::{CrowdEvent, Platform, Record, Role, Status, Workload};

use crate::audit::with_audit;
use crate::error::{RunError, after_restore};
use crate::folder::stem_after;
use crate::plan::Plan;
use crate::preflight::check_plan;
use crate::session::Session;
use crate::shard::ShardServer;
use crate::training::open_session;

/// A step of a visit.
pub enum VisitEvent<'a> {
    /// The server accepts connections.
    Ready {
        /// The platform as records describe it.
        platform: &'a Platform,
        /// The workload that the platform can carry.
        workload: &'a Workload,
        /// The server of each shard; none if the workload has no server.
        servers: &'a [ShardServer],
    },
    /// A run starts: its role, and its number within that role.
    RunStarted(Role, u32),
    /// A line that the crowd printed.
    Crowd(&'a CrowdEvent),
    /// A run has ended with this record, which is not saved yet.
    RunEnded(&'a Record),
}

/// Makes the runs of a visit: on this machine, or scripted in a test.
pub trait Executor {
    /// Starts the platform of the plan, makes `runs` one after the other, and stops it. A run that is not valid ends the
    /// visit. `on_event` must save each record in `plan.out` before it returns, as file names continue from there.
    ///
    /// # Errors
    /// The platform cannot be started or a run cannot be made, or `on_event` failed.
    fn visit(
        &mut self,
        plan: &Plan,
        runs: &[(Role, u32)],
        on_event: &mut dyn FnMut(VisitEvent<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError>;
}

/// Makes runs on this machine.
pub struct Machine<'a> {
    /// Every process that a visit starts is registered here, so that an interrupt stops it.
    pub processes: &'a Processes,
}

impl Executor for Machine<'_> {
    fn visit(
        &mut self,
        plan: &Plan,
        runs: &[(Role, u32)],
        on_event: &mut dyn FnMut(VisitEvent<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        // Records hold the runs of this visit.
        let count = |role: Role| runs.iter().filter(|(of, _)| *of == role).count() as u32;
        let plan = &Plan { warmups: count(Role::WarmUp), trials: count(Role::Trial), ..plan.clone() };
        let checked = check_plan(plan)?;
        // Cells may need different settings of the machine, so each visit restores them.
        let sysctls = Sysctls::set(&plan.sysctls)?;
        let session = open_session(checked, self.processes);
        let is_last = |record: &Record| record.verdict.status != Status::Valid;
        let made = session.and_then(|session| make_runs(session, &plan.out, runs, is_last, on_event));
        after_restore(made, sysctls.restore())
    }
}

/// Makes `runs` in one session, up to the first that satisfies `is_last`. Instruments write into `folder`.
///
/// # Errors
/// A run could not be made, or `on_event` failed.
pub fn make_runs(
    mut session: Session<'_>,
    folder: &Path,
    runs: &[(Role, u32)],
    is_last: impl Fn(&Record) -> bool,
    on_event: &mut dyn FnMut(VisitEvent<'_>) -> Result<(), RunError>,
) -> Result<(), RunError> {
    on_event(VisitEvent::Ready {
        platform: &session.platform,
        workload: &session.workload,
        servers: &session.shard_servers(),
    })?;
    // A database is audited once, when the server has stopped. Until then its runs wait.
    let mut waiting: Vec<Record> = Vec::new();
    let mut made = Ok(());
    for &(role, number) in runs {
        on_event(VisitEvent::RunStarted(role, number))?;
        let before = waiting.iter().filter(|record| record.role == role).count();
        let files = Files { folder: folder.to_owned(), stem: stem_after(folder, role, before) };
        // A failure to show progress does not end a run.
        let on_crowd = |event: &CrowdEvent| on_event(VisitEvent::Crowd(event)).unwrap_or_default();
        let record = match session.run(role, number, &files, on_crowd) {
            Ok(record) => record,
            Err(error) => {
                made = Err(error);
                break;
            }
        };
        let is_last = is_last(&record);
        match session.has_audit() {
            true => waiting.push(record),
            false => on_event(VisitEvent::RunEnded(&record))?,
        }
        if is_last {
            break;
        }
    }
    if !waiting.is_empty() {
        let audit = session.audit();
        for record in waiting {
            let record = match &audit {
                Some(audit) => with_audit(record, audit),
                None => record,
            };
            on_event(VisitEvent::RunEnded(&record))?;
        }
    }
    made
}
