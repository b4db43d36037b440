//! Carries a plan out.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use klatch_instruments::Files;
use klatch_platforms::{Processes, Sysctls};
use klatch_record::{CrowdEvent, Platform, Record, Role, Status, save};

use crate::bench::{Bench, chosen};
use crate::error::{RunError, after_restore};
use crate::folder::{make_folder, next_stem};
use crate::plan::Plan;

/// What happens while a plan is carried out.
pub enum Event<'a> {
    /// What is measured, and where it listens.
    Ready(&'a Platform),
    /// A run begins.
    Begins(Role, u32),
    /// The crowd tells.
    Crowd(&'a CrowdEvent),
    /// A run has ended, and its record is at this path.
    Ended(&'a Record, &'a Path),
    /// A run has ended, and its record could not be written.
    Unsaved(&'a Record),
}

/// What came of a plan.
pub struct Outcome {
    /// The records of all its runs, in order.
    pub records: Vec<Record>,
    /// Where they are.
    pub folder: PathBuf,
}

/// Carries the plan out: server, warm-ups, trials, records. Ends early after an invalid run, whose server may be spoilt.
///
/// # Errors
/// See [`RunError`]; nothing is left running.
pub fn execute(plan: &Plan, all: &Processes, tell: impl FnMut(Event<'_>)) -> Result<Outcome, RunError> {
    // First: what the machine can carry depends on them.
    let sysctls = Sysctls::set(&plan.sysctls)?;
    let outcome = carry_out(plan, all, tell);
    after_restore(outcome, sysctls.put_back())
}

fn carry_out(plan: &Plan, all: &Processes, mut tell: impl FnMut(Event<'_>)) -> Result<Outcome, RunError> {
    let chosen = chosen(plan)?;
    let name = chosen.as_ref().map_or("target", |chosen| chosen.name.as_str());
    let in_out = |source| RunError::Folder { out: plan.out.clone(), source };
    let folder = make_folder(&plan.out, name, Timestamp::now()).map_err(in_out)?;
    let mut bench = Bench::open(plan, chosen.as_ref(), all)?;
    tell(Event::Ready(&bench.platform));
    let mut records = Vec::new();
    let roles = (1..=plan.warmups).map(|number| (Role::WarmUp, number));
    for (role, number) in roles.chain((1..=plan.trials).map(|number| (Role::Trial, number))) {
        tell(Event::Begins(role, number));
        let files = Files { folder: folder.clone(), stem: next_stem(&folder, role) };
        let record = bench.run(role, number, &files, |event| tell(Event::Crowd(event)))?;
        let path = folder.join(files.stem + ".json");
        if let Err(error) = save(&record, &path) {
            tell(Event::Unsaved(&record));
            return Err(error.into());
        }
        tell(Event::Ended(&record, &path));
        let invalid = record.verdict.status == Status::Invalid;
        records.push(record);
        if invalid {
            break;
        }
    }
    Ok(Outcome { records, folder })
}
