//! Who makes the runs: this machine, or a test without time.

use klatch_instruments::Files;
use klatch_platforms::{Chosen, Processes, Sysctls};
use klatch_record::{CrowdEvent, Platform, Record, Role, Status};

use crate::bench::{Bench, chosen};
use crate::error::{RunError, after_restore};
use crate::folder::next_stem;
use crate::plan::Plan;

/// What happens on a visit.
pub enum Visiting<'a> {
    /// The server is ready.
    Ready(&'a Platform),
    /// A run begins.
    Begins(Role, u32),
    /// The crowd tells.
    Crowd(&'a CrowdEvent),
    /// A run has ended.
    Ended(&'a Record),
}

/// Makes runs.
pub trait Executor {
    /// Starts what the plan names, makes these runs one after the other, and stops it. Ends early after an invalid run.
    /// `out` of the plan is the folder in which each record will be before the next run begins.
    ///
    /// # Errors
    /// It cannot be started or watched, or `tell` failed.
    fn visit(
        &mut self,
        plan: &Plan,
        runs: &[(Role, u32)],
        tell: &mut dyn FnMut(Visiting<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError>;
}

/// Makes runs for real.
pub struct Machine<'a> {
    /// What it starts is here too, so that it can be interrupted.
    pub all: &'a Processes,
}

impl Machine<'_> {
    fn make(
        &self,
        plan: &Plan,
        chosen: Option<&Chosen>,
        runs: &[(Role, u32)],
        tell: &mut dyn FnMut(Visiting<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let mut bench = Bench::open(plan, chosen, self.all)?;
        tell(Visiting::Ready(&bench.platform))?;
        for &(role, number) in runs {
            tell(Visiting::Begins(role, number))?;
            let files = Files { folder: plan.out.clone(), stem: next_stem(&plan.out, role) };
            // Showing progress cannot fail.
            let record =
                bench.run(role, number, &files, |event| tell(Visiting::Crowd(event)).unwrap_or_default())?;
            tell(Visiting::Ended(&record))?;
            if record.verdict.status != Status::Valid {
                break;
            }
        }
        Ok(())
    }
}

impl Executor for Machine<'_> {
    fn visit(
        &mut self,
        plan: &Plan,
        runs: &[(Role, u32)],
        tell: &mut dyn FnMut(Visiting<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let chosen = chosen(plan)?;
        // Each cell may want the machine otherwise; between visits it is as it was.
        let sysctls = Sysctls::set(&plan.sysctls)?;
        let made = self.make(plan, chosen.as_ref(), runs, tell);
        after_restore(made, sysctls.put_back())
    }
}
