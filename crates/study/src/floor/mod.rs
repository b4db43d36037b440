//! How near servers and the crowd are to the machine's own cost: the study `floor`, with a probe of the loopback before
//! each start of a server.

mod probe;
mod table;

use std::io;

use klatch_instruments::environment;
use klatch_record::{
    Build, Class, FLOOR_SCHEMA_NAME, FloorResult, LoopbackCost, Pacing, Record, Role, Status,
};
use thiserror::Error;

use crate::engine::{Executor, Machine, Store, StudyEvent, Visiting, run_study};
use crate::error::RunError;
use crate::plan::Plan;
use crate::shard::now;
use crate::{Enough, StudyPlan};

/// Why there is no table.
#[derive(Debug, Error)]
pub enum FloorError {
    /// The loopback could not be probed.
    #[error("cannot measure what the loopback takes: {0}")]
    Probe(#[from] io::Error),
    /// The study ended early.
    #[error(transparent)]
    Run(Box<RunError>),
    /// No server was measured.
    #[error("nothing was measured: {0}")]
    Nothing(String),
}

impl From<RunError> for FloorError {
    fn from(error: RunError) -> FloorError {
        FloorError::Run(error.into())
    }
}

/// One valid trial, and what the loopback took just before.
struct Sample {
    platform: String,
    class: Option<Class>,
    /// It is somebody else's program.
    peer: bool,
    pacing: &'static str,
    server_us: f64,
    crowd_us: f64,
    /// The least for server and crowd.
    floor_us: (f64, f64),
}

/// Makes runs, and probes before each start.
struct Probing<'a> {
    machine: Machine<'a>,
    probes: Vec<LoopbackCost>,
    samples: Vec<Sample>,
    failed: Option<io::Error>,
}

/// Carries the study out, with so many starts of each server, and makes a table of it.
///
/// # Errors
/// See [`FloorError`]; the records of finished runs are kept in `store`.
pub fn floor(
    plan: &StudyPlan,
    blocks: u32,
    store: &Store,
    machine: Machine<'_>,
    tell: impl FnMut(StudyEvent<'_>),
) -> Result<FloorResult, FloorError> {
    let started_at = now();
    let mut plan = plan.clone();
    plan.rules.enough = Enough::Trials(blocks);
    let mut probing = Probing { machine, probes: Vec::new(), samples: Vec::new(), failed: None };
    let done = run_study(&plan, store, &mut probing, tell);
    if let Some(error) = probing.failed {
        return Err(error.into());
    }
    let done = done?;
    let rows = table::rows(&probing.samples);
    if rows.is_empty() {
        let verdicts = done.cells.iter().map(|cell| format!("{}: {}", cell.id, cell.verdict));
        return Err(FloorError::Nothing(verdicts.collect::<Vec<_>>().join("; ")));
    }
    let here = environment();
    Ok(FloorResult {
        schema: FLOOR_SCHEMA_NAME.to_owned(),
        started_at,
        klatch: Build { ..plan.build },
        kernel: here.kernel,
        cpu_model: here.cpu_model,
        cpus: here.cpus,
        users: plan.cells[0].plan.workload.users,
        floor: table::median_cost(&probing.probes),
        rows,
    })
}

impl Executor for Probing<'_> {
    fn visit(
        &mut self,
        plan: &Plan,
        runs: &[(Role, u32)],
        tell: &mut dyn FnMut(Visiting<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let cost = probe::probe().map_err(|error| {
            self.failed = Some(error);
            RunError::Interrupted
        })?;
        self.probes.push(cost);
        let samples = &mut self.samples;
        self.machine.visit(plan, runs, &mut |event| {
            if let Visiting::Ended(record) = &event {
                samples.extend(sample(record, &cost));
            }
            tell(event)
        })
    }
}

/// What a record says; `None` for one that does not count.
fn sample(record: &Record, cost: &LoopbackCost) -> Option<Sample> {
    let counts = record.role == Role::Trial && record.verdict.status != Status::Invalid;
    let (server, crowd) = (record.usage.server.as_ref()?, record.usage.crowd.as_ref()?);
    let pacing = match record.workload.pacing {
        Pacing::Turns => "turns",
        Pacing::Rounds { .. } => "rounds",
        Pacing::Flood => "flood",
        Pacing::Rate { .. } => "rate",
    };
    // Under turns one message is on its way in a room; under rounds those of all the others can come together.
    let floor_us = cost.per_message_us(record.workload.users, pacing != "turns");
    counts.then(|| Sample {
        platform: record.platform.name.clone(),
        class: record.platform.class,
        peer: record.platform.version.is_some(),
        pacing,
        server_us: server.cpu_us_per_message,
        crowd_us: crowd.cpu_us_per_message,
        floor_us,
    })
}
