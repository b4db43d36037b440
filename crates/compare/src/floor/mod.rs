//! The cost of servers and crowd relative to the floor: what the machine's own loopback needs for the same messages,
//! probed before each start of a server.

mod probe;
mod table;

use klatch_machine::environment;
use klatch_record::{
    Class, FLOOR_SCHEMA_NAME, FloorResult, LoopbackCost, Pacing, Record, Role, Status, StudyResult,
};
use klatch_runner::{Executor, Plan, RunError, VisitEvent, now};
use thiserror::Error;

/// No trial of the study was valid.
#[derive(Debug, Error)]
#[error("nothing was measured: {verdicts}")]
pub struct FloorError {
    /// The verdict of each cell.
    verdicts: String,
}

/// One valid trial, and what the loopback cost just before.
struct Sample {
    platform: String,
    class: Option<Class>,
    /// The server is a program of another project.
    peer: bool,
    pacing: &'static str,
    server_us: f64,
    crowd_us: f64,
    /// The cost of the loopback calls alone, for server and crowd, µs per message.
    floor_us: (f64, f64),
}

/// An executor that probes the loopback before each start of a server, and collects the trials.
pub struct FloorProbe<E> {
    executor: E,
    started_at: String,
    /// Users per room, as in the last plan visited.
    users: u32,
    probes: Vec<LoopbackCost>,
    samples: Vec<Sample>,
}

impl<E: Executor> FloorProbe<E> {
    /// Probes before each visit of `executor`.
    pub fn new(executor: E) -> FloorProbe<E> {
        FloorProbe { executor, started_at: now(), users: 0, probes: Vec::new(), samples: Vec::new() }
    }

    /// The costs of all cells that were visited in `study`.
    ///
    /// # Errors
    /// No trial was valid.
    pub fn finish(self, study: &StudyResult) -> Result<FloorResult, FloorError> {
        let rows = table::rows(&self.samples);
        if rows.is_empty() {
            let verdicts = study.cells.iter().map(|cell| format!("{}: {}", cell.id, cell.verdict));
            return Err(FloorError { verdicts: verdicts.collect::<Vec<_>>().join("; ") });
        }
        let environment = environment();
        Ok(FloorResult {
            schema: FLOOR_SCHEMA_NAME.to_owned(),
            started_at: self.started_at,
            klatch: study.klatch.clone(),
            kernel: environment.kernel,
            cpu_model: environment.cpu_model,
            cpus: environment.cpus,
            users: self.users,
            floor: table::median_cost(&self.probes),
            rows,
        })
    }
}

impl<E: Executor> Executor for FloorProbe<E> {
    fn visit(
        &mut self,
        plan: &Plan,
        runs: &[(Role, u32)],
        on_event: &mut dyn FnMut(VisitEvent<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let cost = probe::probe().map_err(RunError::LoopbackProbe)?;
        self.probes.push(cost);
        self.users = plan.workload.chat().map_or(0, |chat| chat.users);
        let samples = &mut self.samples;
        self.executor.visit(plan, runs, &mut |event| {
            if let VisitEvent::RunEnded(record) = &event {
                samples.extend(sample(record, &cost));
            }
            on_event(event)
        })
    }
}

/// The costs in a record; `None` if it is no trial, is invalid or lacks CPU times.
fn sample(record: &Record, cost: &LoopbackCost) -> Option<Sample> {
    let counts = record.role == Role::Trial && record.verdict.status != Status::Invalid;
    let (server, crowd) = (record.usage.server.as_ref()?, record.usage.crowd.as_ref()?);
    let chat = record.workload.chat()?;
    let pacing = match chat.pacing {
        Pacing::Turns => "turns",
        Pacing::Rounds { .. } => "rounds",
        Pacing::Flood => "flood",
        Pacing::Rate { .. } => "rate",
    };
    // Under turns a room has one message in flight; under rounds the messages of all other users can arrive together.
    let floor_us = cost.per_message_us(chat.users, pacing != "turns");
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
