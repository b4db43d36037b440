//! A session: servers that run, and crowds that can be run against them several times.

use std::path::PathBuf;
use std::time::Duration;

use klatch_host::machine::{boot_id, environment};
use klatch_instruments::{Files, Instruments, Kernel, availability};
use klatch_platforms::{Java, Processes, ReaderProgram, Server};
use klatch_record::{
    Audit, CrowdEvent, Environment, FailureKind, Platform, Record, Role, TradeWorkload, WebWorkload, Workload,
};
use tempfile::TempDir;

use crate::audit::{AuditError, audit, with_audit};
use crate::brokerage::Brokerage;
use crate::carrier::{Carrier, Endpoint};
use crate::control::{self, CrowdsInRun, CrowdsOutcome, ServerPids};
use crate::crowd_command::{CrowdAssignment, CrowdCommand};
use crate::description::{Started, describe_external, describe_platform, name_and_value};
use crate::error::RunError;
use crate::noise;
use crate::observer::WholeRun;
use crate::plan::{CrowdKind, Plan, TargetPlan};
use crate::record::{CrowdPart, RunFacts, build_record};
use crate::resolved::{CheckedPlan, ResolvedSubject};
use crate::run_options::run_options;
use crate::running_crowd::CrowdOutput;
use crate::scheduler::Scheduler;
use crate::shard::now;
use crate::split::split_parties;
use crate::steered_run::SteeredRun;

/// Oldest Java that runs the Java crowd.
const CROWD_JAVA_MIN: u32 = 17;

/// Running servers and the crowds to run against them. Dropping it stops the servers.
pub struct Session<'a> {
    plan: &'a Plan,
    processes: &'a Processes,
    environment: Environment,
    servers: Vec<Server>,
    /// The platform of a workload without a server.
    _reader: Option<ReaderProgram>,
    /// The folder of the archive with which the servers start.
    _archive: Option<TempDir>,
    crowds: Vec<CrowdCommand>,
    /// Declared after the servers, so that it is dropped after them.
    brokerage: Option<Brokerage>,
    /// Declared after the servers, so that it is dropped after them.
    scheduler: Scheduler,
    /// The platform as records describe it.
    pub platform: Platform,
    /// The workload that the platform can carry.
    pub workload: Workload,
    /// The server of each shard; none if the workload has no server.
    pub(crate) endpoints: Vec<Endpoint>,
}

impl<'a> Session<'a> {
    /// Loads the plan's scheduler and starts the servers of its platform; an external server runs already.
    ///
    /// # Errors
    /// The scheduler, a server or the Java of the crowd cannot be started.
    pub(crate) fn open(
        CheckedPlan { plan, subject }: &CheckedPlan<'a>,
        processes: &'a Processes,
    ) -> Result<Session<'a>, RunError> {
        let scheduler = Scheduler::load(plan.scheduler.as_ref())?;
        let environment = environment();
        let environment = Environment {
            // The plan's own scheduler is in a field of its own.
            sched_ext: environment.sched_ext.filter(|_| plan.scheduler.is_none()),
            sysctls: plan.sysctls.iter().map(name_and_value).collect(),
            noise: noise::load_noise(),
            instruments: availability(&Kernel::detect()),
            ..environment
        };
        let crowd_java = crowd_java(plan, subject)?;
        let mut servers = Vec::new();
        let workload = workload_for(plan, subject);
        if let Some(platform) = subject.platform().filter(|_| !workload.kind().has_server()) {
            let reader = ReaderProgram::prepare(platform)?;
            let share = |workload| CrowdCommand::of_reader(plan, platform, &reader, workload);
            let crowds = split_parties(&workload, plan.crowd_processes()).into_iter().map(share).collect();
            let started = Started {
                address: reader.files.display().to_string(),
                class: None,
                command: reader.command.clone(),
                servers: plan.shards,
                start_s: None,
            };
            let platform = describe_platform(platform, started);
            let (servers, reader) = (Vec::new(), Some(reader));
            return Ok(Session {
                plan,
                processes,
                environment,
                servers,
                _reader: reader,
                _archive: None,
                crowds,
                brokerage: None,
                scheduler,
                platform,
                workload,
                endpoints: Vec::new(),
            });
        }
        let mut brokerage = None;
        if let ResolvedSubject::Platform(own, platform) = subject {
            brokerage = Brokerage::open(own, platform, &workload, processes)?;
            let database = brokerage.as_ref().map(|brokerage| &brokerage.database.server_access);
            let with_database = database.map(|database| platform.with_database(database));
            let platform = with_database.as_ref().unwrap_or(platform);
            let count = own.servers as usize;
            for index in 0..count {
                let platform = platform.of_server(index, count);
                servers.push(Server::start(&platform, own.listen, processes, own.ready_timeout)?);
            }
        }
        let shares = split_parties(&workload, plan.crowd_processes());
        let (mut crowds, mut endpoints) = (Vec::new(), Vec::new());
        for (number, workload) in shares.iter().enumerate() {
            let (host, port, authority) = match subject {
                ResolvedSubject::Platform(..) => {
                    let server = &servers[number * servers.len() / shares.len()];
                    (server.address.ip().to_string(), server.address.port(), server.authority())
                }
                ResolvedSubject::Target(TargetPlan { target, .. }) => {
                    (target.host.clone(), target.port, None)
                }
            };
            let carrier = Carrier::new(plan, subject, authority);
            endpoints.push(Endpoint::new(workload, (&host, port), &carrier));
            let assignment = CrowdAssignment {
                workload: workload.clone(),
                server: (&host, port),
                host: plan.remote.host(number),
            };
            let mut crowd = CrowdCommand::new(plan, &carrier, assignment, crowd_java.as_ref())?;
            if let Some(brokerage) = &brokerage {
                crowd
                    .info
                    .command
                    .extend(["--ledger".to_owned(), brokerage.ledger(number).display().to_string()]);
            }
            crowds.push(crowd);
        }
        let platform = match subject {
            ResolvedSubject::Platform(_, platform) => {
                let database = brokerage.as_ref().map(|brokerage| brokerage.database.described.clone());
                Platform { database, ..describe_platform(platform, Started::of(&servers)) }
            }
            ResolvedSubject::Target(TargetPlan { target, .. }) => {
                describe_external(target.protocol, target.transport, target.to_string())
            }
        };
        Ok(Session {
            plan,
            processes,
            environment,
            servers,
            _reader: None,
            _archive: None,
            crowds,
            brokerage,
            scheduler,
            platform,
            workload,
            endpoints,
        })
    }

    /// Keeps the folder of the archive with which the servers have started, until they stop.
    pub(crate) fn with_archive(self, folder: Option<TempDir>) -> Session<'a> {
        Session { _archive: folder, ..self }
    }

    /// Makes one run under the plan's instruments, which write into `files`.
    ///
    /// # Errors
    /// See [`RunError`]. An invalid run is a record, not an error.
    pub fn run(
        &mut self,
        role: Role,
        number: u32,
        files: &Files,
        on_event: impl FnMut(&CrowdEvent),
    ) -> Result<Record, RunError> {
        let instruments =
            Instruments::new(Kernel::detect(), &self.plan.instruments, &self.environment.instruments);
        let observer = &mut WholeRun::new(&instruments, files);
        let (started_at, pids) = (now(), self.pids());
        let silence_max = control::SILENCE_MAX;
        let outcome =
            control::run_crowds(&self.crowds, self.processes, &pids, silence_max, observer, on_event)?;
        self.record(role, number, started_at, outcome)
    }

    /// Starts the crowds of a run that the caller pauses and ends. Returns when all users have joined and the gate is open.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn begin(&self) -> Result<SteeredRun<'a>, RunError> {
        let crowds = CrowdsInRun::start(&self.crowds, self.processes, &self.pids(), control::SILENCE_MAX)?;
        SteeredRun::open(crowds, now())
    }

    /// Ends a run that [`Session::begin`] started, at its next pause. If there is a database to audit, the servers stop.
    ///
    /// # Errors
    /// See [`RunError`]. An invalid run is a record, not an error.
    pub fn end(&mut self, role: Role, number: u32, run: SteeredRun<'_>) -> Result<Record, RunError> {
        let (started_at, outcome) = run.finish()?;
        // The other side of a duet is no disturbance.
        let outcome = CrowdsOutcome { others_share: None, ..outcome };
        let record = self.record(role, number, started_at, outcome)?;
        if !self.has_audit() {
            return Ok(record);
        }
        let audit = self.audit();
        Ok(with_audit(record, &audit))
    }

    fn pids(&self) -> ServerPids {
        ServerPids {
            servers: self.servers.iter().map(|server| server.pid).collect(),
            database: self.brokerage.as_ref().and_then(|brokerage| brokerage.database.pid()),
        }
    }

    /// Ends the session when its only server has ended, for which it has up to `timeout`. Returns the end of its standard error.
    pub(crate) fn end_server_within(mut self, timeout: Duration) -> String {
        self.servers.pop().map_or_else(String::new, |server| server.end_within(timeout))
    }

    /// Whether the runs are to be audited when the session ends.
    pub(crate) fn has_audit(&self) -> bool {
        self.brokerage.is_some()
    }

    /// Stops the servers, and audits their database.
    pub(crate) fn audit(&mut self) -> Result<Audit, AuditError> {
        self.servers.clear();
        let Some(brokerage) = &mut self.brokerage else {
            unreachable!("the session has an audit");
        };
        let ledgers: Vec<PathBuf> = (0..self.crowds.len()).map(|number| brokerage.ledger(number)).collect();
        let command = brokerage.audit_command(self.processes);
        let command = command.map_err(|error| AuditError::Database(error.to_string()))?;
        audit(&command, &self.workload, &ledgers, self.processes)
    }

    fn record(
        &mut self,
        role: Role,
        number: u32,
        started_at: String,
        outcome: CrowdsOutcome,
    ) -> Result<Record, RunError> {
        let CrowdsOutcome {
            outputs,
            server,
            database,
            steal_share,
            others_share,
            cpu_mhz,
            observations,
            joining,
        } = outcome;
        let servers_ended = self.servers_ended();
        if servers_ended.is_empty()
            && let Some(detail) = outputs.iter().find_map(connect_failure)
        {
            return Err(RunError::NoServer { address: self.platform.address.clone(), detail });
        }
        let environment = Environment {
            steal_share_in_run: steal_share,
            others_share_in_run: others_share,
            cpu_mhz_in_run: cpu_mhz,
            scheduler: self.scheduler.in_force(),
            ..self.environment.clone()
        };
        let run = RunFacts {
            build: &self.plan.build,
            platform: &self.platform,
            environment,
            started_at,
            role,
            number,
            crowd: &self.crowds[0].info,
            workload: &self.workload,
            options: Some(run_options(self.plan)),
            server,
            database,
            servers_ended,
            observations,
            joining,
        };
        let parts = self.crowds.iter().zip(outputs);
        build_record(run, parts.map(|(crowd, output)| crowd_part(crowd, output)).collect())
    }

    /// How each server ended that no longer runs.
    fn servers_ended(&mut self) -> Vec<String> {
        let single = self.servers.len() == 1;
        let ended = self.servers.iter_mut().filter_map(|server| Some((server.ended()?, server.address)));
        let describe = |(how, address)| match single {
            true => format!("the server died: {how}"),
            false => format!("the server on {address} died: {how}"),
        };
        ended.map(describe).collect()
    }
}

/// The workload of a plan, without what the platform does not serve.
pub(crate) fn workload_for(plan: &Plan, subject: &ResolvedSubject<'_>) -> Workload {
    match (&plan.workload, subject) {
        (Workload::Web(web), ResolvedSubject::Platform(_, platform)) if platform.in_workload.static_only => {
            Workload::Web(WebWorkload { static_only: true, ..web.clone() })
        }
        (workload, ResolvedSubject::Platform(..)) => workload.clone(),
        // Klatch does not know the database behind an external server.
        (workload, ResolvedSubject::Target(TargetPlan { target, .. })) => match workload.without_database() {
            Workload::Trade(trade) => {
                Workload::Trade(TradeWorkload { daytrader: target.context_root(), ..trade })
            }
            workload => workload,
        },
    }
}

/// Why a crowd could not connect, if that is how it failed.
fn connect_failure(output: &CrowdOutput) -> Option<String> {
    let failure = output.result.failure.as_ref()?;
    (failure.kind == FailureKind::Connect).then(|| failure.detail.clone())
}

/// Joins the command of a crowd with its output.
fn crowd_part(crowd: &CrowdCommand, output: CrowdOutput) -> CrowdPart<'_> {
    // A local crowd is measured from outside, so its own report adds nothing.
    let report = output.report.filter(|_| crowd.host.is_some());
    let clock = match crowd.host {
        Some(_) => report.as_ref().and_then(|report| report.clock.clone()),
        None => boot_id(),
    };
    CrowdPart {
        crowd: &crowd.info,
        workload: &crowd.workload,
        address: &crowd.address,
        host: crowd.host.clone(),
        gate: None,
        clock,
        result: output.result,
        died: output.died,
        usage: output.usage,
        environment: report.map(|report| report.environment),
    }
}

/// The Java for a Java crowd: that of a Java server, so that the run tests one Java platform.
pub(crate) fn crowd_java(plan: &Plan, subject: &ResolvedSubject<'_>) -> Result<Option<Java>, RunError> {
    if plan.crowd != CrowdKind::Java {
        return Ok(None);
    }
    match subject.platform().and_then(|platform| platform.java.clone()) {
        Some(java) => Ok(Some(java)),
        None => Java::find(plan.subject.java(), CROWD_JAVA_MIN).map(Some).map_err(RunError::CrowdJava),
    }
}
