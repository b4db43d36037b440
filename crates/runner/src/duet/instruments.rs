//! A duet of a platform with itself, where side B is observed by instruments.

use std::path::{Path, PathBuf};

use fastrand::Rng;
use klatch_instruments::{Files, Instruments, Kernel, RunningInstruments, availability_of};
use klatch_platforms::Processes;
use klatch_record::{DuetSide, Slice};

use crate::duet::error::DuetError;
use crate::duet::placement::Placement;
use crate::duet::plan::DuetPlan;
use crate::duet::progress::DuetProgress;
use crate::duet::sides::{Measured, Sides};
use crate::duet::starts::{StartOutcome, StartTime, Starts, block, end_run, measure};
use crate::{RunError, check_plan, open_session};

/// Starts of one server and crowd, which are both sides.
pub(crate) struct InstrumentStarts<'a> {
    plan: &'a DuetPlan,
    processes: &'a Processes,
    folder: PathBuf,
    rng: Rng,
    instruments: Instruments,
    name: String,
}

impl<'a> InstrumentStarts<'a> {
    /// Checks the plan of side B, whose instruments are measured.
    ///
    /// # Errors
    /// A plan that cannot run on this machine.
    pub(crate) fn new(
        plan: &'a DuetPlan,
        processes: &'a Processes,
        folder: &Path,
    ) -> Result<InstrumentStarts<'a>, DuetError> {
        let (kernel, names) = (Kernel::detect(), &plan.sides[1].instruments);
        let available = availability_of(&kernel, names);
        let instruments = Instruments::new(kernel, names, &available);
        let name = check_plan(&plan.sides[0])?.subject.name();
        let rng = Rng::with_seed(plan.sides[0].seed);
        Ok(InstrumentStarts { plan, processes, folder: folder.to_owned(), rng, instruments, name })
    }
}

impl Starts for InstrumentStarts<'_> {
    fn sides(&self) -> [DuetSide; 2] {
        let names: Vec<String> = self.instruments.names().map(|name| name.to_string()).collect();
        let side = |name: &str| self.plan.describe_side(0, name, &format!("{}, {name}", self.name));
        [side("without instruments"), side(&format!("with {}", names.join(", ")))]
    }

    fn make(
        &mut self,
        number: u32,
        time: &StartTime,
        on_progress: &mut dyn FnMut(DuetProgress),
    ) -> Result<StartOutcome, DuetError> {
        let mut session = open_session(check_plan(&self.plan.sides[0])?, self.processes)?;
        let (measured, ended) = Measured::paused(session.begin()?)?;
        let files = Files { folder: self.folder.clone(), stem: "observed".to_owned() };
        let mut sides =
            Observed { measured, instruments: &self.instruments, files, running: None, failure: None };
        let ended = ended.then_some(0);
        let start = measure(self.plan, number, &mut sides, ended, time, &mut self.rng, on_progress)?;
        if let Some(failure) = sides.failure {
            return Err(DuetError::Instrument(failure));
        }
        if start.interrupted {
            return Ok(StartOutcome::Interrupted(start.start));
        }
        let record =
            end_run(&mut session, sides.measured.run, number, &block(&self.folder.join("runs"), number))?;
        Ok(start.outcome(&[record]))
    }
}

/// One server and crowd, observed in the slices of side B.
struct Observed<'a> {
    measured: Measured<'a>,
    instruments: &'a Instruments,
    files: Files,
    running: Option<RunningInstruments>,
    failure: Option<String>,
}

impl Sides for Observed<'_> {
    fn begin_slice(&mut self, side: usize, placement: Option<Placement>) -> Result<(), RunError> {
        if side == 1 {
            let running = self.instruments.start(self.measured.targets(), &self.files);
            self.failure = self.failure.take().or_else(|| running.failure());
            self.running = Some(running);
        }
        self.measured.begin_slice(placement);
        Ok(())
    }

    fn end_slice(&mut self, _: usize) -> Result<Option<Slice>, RunError> {
        let slice = self.measured.end_slice();
        // The observations are not needed, and to evaluate them would take longer than a slice.
        self.running = None;
        slice
    }

    fn cpu_ns(&self, _: usize) -> u64 {
        0
    }

    fn all_cpu_ns(&self) -> u64 {
        self.measured.cpu_ns()
    }
}
