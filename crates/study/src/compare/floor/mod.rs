//! The cost of servers and crowd relative to the floor: what the machine's own loopback needs for the same messages,
//! probed before each start of a server.

mod clients;
mod history;
mod netperf;
mod probe;
mod table;

use klatch_host::machine::environment;
use klatch_platforms::Processes;
use klatch_record::{
    Class, ExchangeCost, FLOOR_SCHEMA_NAME, FloorLoad, FloorResult, LoopbackCost, Record, Role, Status,
    StudyResult, Workload, WorkloadKind,
};
use klatch_runner::{Executor, Plan, RunError, VisitEvent, now};
use thiserror::Error;

pub use history::{FloorHistory, FloorHistoryError};

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
    load: FloorLoad,
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
    workload: WorkloadKind,
    probes: Vec<LoopbackCost>,
    exchanges: Vec<ExchangeCost>,
    samples: Vec<Sample>,
    /// Starts the load generators of other projects; `None` to leave them out.
    clients: Option<Processes>,
}

impl<E: Executor> FloorProbe<E> {
    /// Probes before each visit of `executor`.
    pub fn new(executor: E) -> FloorProbe<E> {
        FloorProbe {
            executor,
            started_at: now(),
            users: 0,
            workload: WorkloadKind::Chat,
            probes: Vec::new(),
            exchanges: Vec::new(),
            samples: Vec::new(),
            clients: None,
        }
    }

    /// The same, with the load generators of other projects that are installed: each runs against its server after Klatch's crowd.
    #[must_use]
    pub fn with_clients(self, processes: &Processes) -> FloorProbe<E> {
        FloorProbe { clients: Some(processes.clone()), ..self }
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
        let environment = environment([].into());
        Ok(FloorResult {
            schema: FLOOR_SCHEMA_NAME.to_owned(),
            started_at: self.started_at,
            klatch: study.klatch.clone(),
            kernel: environment.kernel,
            cpu_model: environment.cpu_model,
            cpus: environment.cpus,
            workload: self.workload,
            users: self.users,
            exchange: table::median_exchange(&self.exchanges),
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
        let shown = self.clients.as_ref().and_then(|processes| processes.show("probing the loopback"));
        let cost = probe::probe().map_err(RunError::LoopbackProbe)?;
        self.probes.push(cost);
        self.users = plan.workload.chat().map_or(0, |chat| chat.users);
        self.workload = plan.workload.kind();
        let exchange = probe_exchange(&plan.workload).map_err(RunError::LoopbackProbe)?;
        self.exchanges.extend(exchange);
        drop(shown);
        let samples = &mut self.samples;
        self.executor.visit(plan, runs, &mut |event| {
            if let VisitEvent::RunEnded(record) = &event {
                samples.extend(match &exchange {
                    Some(exchange) => exchange_sample(record, exchange),
                    None => sample(record, &cost),
                });
            }
            on_event(event)
        })?;
        if let (Some(processes), Some(exchange)) = (&self.clients, &exchange) {
            let _shown = processes.show("running the load generators of other projects");
            self.samples.extend(clients::run_beside(plan, processes, exchange)?);
            self.samples.extend(netperf::run_beside(plan, processes, exchange)?);
        }
        Ok(())
    }
}

/// The costs in a record; `None` if it is no trial, is invalid or lacks CPU times.
fn sample(record: &Record, cost: &LoopbackCost) -> Option<Sample> {
    let counts = record.role == Role::Trial && record.verdict.status != Status::Invalid;
    let (server, crowd) = (record.usage.server.as_ref()?, record.usage.crowd.as_ref()?);
    let (chat, load) = (record.workload.chat()?, FloorLoad::of(&record.workload)?);
    // Under turns a room has one message in flight; under rounds the messages of all other users can arrive together.
    let floor_us = cost.per_message_us(chat.users, load == FloorLoad::Rounds);
    counts.then(|| Sample {
        platform: record.platform.name.clone(),
        class: record.platform.class,
        peer: record.platform.version.is_some(),
        load,
        server_us: server.cpu_us_per_message,
        crowd_us: crowd.cpu_us_per_message,
        floor_us,
    })
}

/// Bytes of a GET for a file of the site.
const GET_BYTES: u32 = 58;
/// The mean file that a mix of static requests asks for, with the head of its reply.
const MEAN_REPLY_BYTES: u32 = 14_727 + 120;

/// The cost of a request and its reply; `None` for a workload that is not of these.
fn probe_exchange(workload: &Workload) -> std::io::Result<Option<ExchangeCost>> {
    let (connections, request, reply) = match workload {
        Workload::Rr(rr) => (rr.connections, rr.size_bytes, rr.size_bytes),
        Workload::Web(web) => (web.lines, GET_BYTES, MEAN_REPLY_BYTES),
        _ => return Ok(None),
    };
    probe::probe_exchange(connections, request, reply).map(Some)
}

/// The costs in a record of operations; `None` if it is no trial, is invalid or lacks CPU times.
fn exchange_sample(record: &Record, exchange: &ExchangeCost) -> Option<Sample> {
    let counts = record.role == Role::Trial && record.verdict.status != Status::Invalid;
    let (server, crowd) = (record.usage.server.as_ref()?, record.usage.crowd.as_ref()?);
    let (operations, load) = (record.operations.as_ref()?.count, FloorLoad::of(&record.workload)?);
    let each_us = |cpu_s: f64| cpu_s * 1e6 / operations as f64;
    (counts && operations > 0).then(|| Sample {
        platform: record.platform.name.clone(),
        class: None,
        peer: record.platform.version.is_some(),
        load,
        server_us: each_us(server.cpu_s),
        crowd_us: each_us(crowd.cpu_s),
        floor_us: exchange.per_operation_us(),
    })
}
