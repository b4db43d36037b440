//! One visit of a cell: the runs that a block still lacks.

use klatch_record::{Role, Status, error_chain};
use klatch_runner::{Plan, VisitEvent};

use super::store::Block;
use super::{Engine, StudyEvent};
use crate::error::StudyRunError;
use crate::plan::Cell;
use crate::series::Rules;

impl Engine<'_> {
    /// Makes the runs that `block` lacks with one start of the server, and adds them to it. All runs of a discarded block
    /// are warm-ups.
    pub(super) fn visit(
        &mut self,
        cell: &Cell,
        number: u32,
        discarded: bool,
        block: &mut Block,
    ) -> Result<(), StudyRunError> {
        let runs = missing_runs(&self.plan.rules, number, discarded, block);
        let (store, on_event) = (self.store, &mut self.on_event);
        let plan = Plan { out: store.block_folder(&cell.id, number)?, ..cell.plan.clone() };
        let mut cause = None;
        let made = self.executor.visit(&plan, &runs, &mut |event| {
            if let VisitEvent::RunEnded(record) = event {
                store.save_record(&cell.id, number, record)?;
                if record.verdict.status != Status::Valid {
                    cause = Some(record.verdict.messages());
                }
                let list = if record.role == Role::Trial { &mut block.trials } else { &mut block.warmups };
                list.push(record.clone());
            }
            on_event(StudyEvent::Visit(event));
            Ok(())
        });
        match made {
            Err(error) if error.ends_a_study() => return Err(error.into()),
            Err(error) => cause = Some(error_chain(&error)),
            Ok(()) => {}
        }
        if let Some(cause) = cause {
            self.store.save_failure(&cell.id, number, &cause)?;
            (self.on_event)(StudyEvent::VisitFailed(cell, &cause));
            block.failure = Some(cause);
        }
        Ok(())
    }
}

/// The role and number of each run that `block` lacks. A server that starts again is warmed up again.
fn missing_runs(rules: &Rules, number: u32, discarded: bool, block: &Block) -> Vec<(Role, u32)> {
    let (warmups, trials) = (block.warmups.len() as u32, block.trials.len() as u32);
    if discarded {
        return (warmups + 1..=rules.runs_per_visit()).map(|number| (Role::WarmUp, number)).collect();
    }
    let first = (number - 1) * rules.trials_per_visit;
    let warmup_runs = (1..=rules.warmups).map(|number| (Role::WarmUp, warmups + number));
    let trial_runs = (trials + 1..=rules.trials_per_visit).map(|number| (Role::Trial, first + number));
    warmup_runs.chain(trial_runs).collect()
}
