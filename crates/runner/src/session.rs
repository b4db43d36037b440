//! A session: what is measured, ready, and crowds that can be run against it several times.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use klatch_host::machine::{boot_id, environment, is_in_lab, sched_ext};
use klatch_instruments::{Files, Instruments, Kernel, availability, availability_of};
use klatch_platforms::{Processes, runtime_variables};
use klatch_record::{
    Audit, CrowdEvent, CrowdInfo, Endpoint, Environment, FailureKind, Platform, Record, Role, TradeWorkload,
    VmInForce, WebWorkload, Workload, WorkloadKind,
};
use tempfile::TempDir;

use crate::audit::{AuditError, with_audit};
use crate::control::{self, CrowdsInRun, CrowdsOutcome};
use crate::crowd_command::CrowdCommand;
use crate::description::name_and_value;
use crate::error::RunError;
use crate::noise;
use crate::observer::WholeRun;
use crate::plan::{Plan, TargetPlan};
use crate::record::{CrowdBuild, CrowdPart, RunFacts, build_record};
use crate::resolved::{CheckedPlan, ResolvedSubject};
use crate::run_options::run_options;
use crate::running_crowd::CrowdOutput;
use crate::scheduler::Scheduler;
use crate::shard::{ShardServer, now};
use crate::started::{Opened, Started};
use crate::steered_run::SteeredRun;

/// What a plan measures, and the crowds to run against it. Dropping it stops what Klatch has started.
pub struct Session<'a> {
    plan: &'a Plan,
    processes: &'a Processes,
    environment: Environment,
    /// Declared before the scheduler, so that it is dropped before it.
    started: Started,
    crowds: Vec<CrowdCommand>,
    /// Those of a warm-up that is not as long as the trials; none otherwise.
    warmup_crowds: Vec<CrowdCommand>,
    /// `None` leaves the kernel's own in force.
    scheduler: Option<Scheduler>,
    /// The platform as records describe it.
    pub platform: Platform,
    /// The workload that the platform can carry.
    pub workload: Workload,
}

impl<'a> Session<'a> {
    /// Loads the plan's scheduler and starts the servers of its platform; an external server runs already. `archive` is the folder of the
    /// archive that the platform names, and is kept until the servers have stopped.
    ///
    /// # Errors
    /// The scheduler, a server or the Java of the crowd cannot be started.
    pub(crate) fn open(
        CheckedPlan { plan, subject }: &CheckedPlan<'a>,
        archive: Option<TempDir>,
        processes: &'a Processes,
    ) -> Result<Session<'a>, RunError> {
        // Other hosts may know other names, and reach what this one does not.
        if let (ResolvedSubject::Target(target), true) = (subject, plan.remote.hosts.is_empty()) {
            let endpoint = &target.target.endpoint;
            let addresses = resolve(endpoint)?;
            // Crowds of the other workloads say in their results that they could not connect.
            if plan.workload.kind() == WorkloadKind::Web || plan.workload.has_url() {
                reach(endpoint, &addresses, plan.connect_timeout)?;
            }
        }
        let load = |spec| Scheduler::load(spec, processes);
        let scheduler = plan.scheduler.as_ref().map(load).transpose()?;
        let environment = environment(runtime_variables());
        let environment = Environment {
            // The plan's own scheduler is in a field of its own.
            sched_ext: environment.sched_ext.filter(|_| plan.scheduler.is_none()),
            sysctls: plan.sysctls.iter().map(name_and_value).collect(),
            noise: noise::load_noise(),
            // To try all takes most of the time of a boot there.
            instruments: match is_in_lab() {
                true => availability_of(&Kernel::detect(), &plan.instruments),
                false => availability(&Kernel::detect()),
            },
            ..environment
        };
        let workload = workload_for(plan, subject);
        let Opened { started, platform, crowds, warmup_crowds } =
            Opened::start(plan, subject, &workload, archive, processes)?;
        Ok(Session {
            plan,
            processes,
            environment,
            started,
            crowds,
            warmup_crowds,
            scheduler,
            platform,
            workload,
        })
    }

    /// The server of each shard; none if the workload has no server.
    pub(crate) fn shard_servers(&self) -> Vec<ShardServer> {
        self.crowds.iter().filter_map(CrowdCommand::shard_server).collect()
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
        // Runs there are shorter than the time between windows, and no cost of an instrument can be mistaken for noise.
        let instruments = if is_in_lab() { instruments.without_windows() } else { instruments };
        let observer = &mut WholeRun::new(&instruments, files);
        let (started_at, pids) = (now(), self.started.pids());
        let silence_max = control::SILENCE_MAX;
        let outcome = control::run_crowds(
            self.crowds_of(role),
            self.processes,
            &pids,
            silence_max,
            observer,
            on_event,
        )?;
        let record = self.record(role, number, started_at, outcome)?;
        observer.save_counts(&record)?;
        Ok(record)
    }

    /// The crowds of runs with this role.
    fn crowds_of(&self, role: Role) -> &[CrowdCommand] {
        match role {
            Role::WarmUp if !self.warmup_crowds.is_empty() => &self.warmup_crowds,
            Role::WarmUp | Role::Trial => &self.crowds,
        }
    }

    /// Starts the crowds of a run that the caller pauses and ends. Returns when all users have joined and the gate is open.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn begin(&self) -> Result<SteeredRun<'a>, RunError> {
        let crowds =
            CrowdsInRun::start(&self.crowds, self.processes, &self.started.pids(), control::SILENCE_MAX)?;
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
        Ok(match self.audit() {
            Some(audit) => with_audit(record, &audit),
            None => record,
        })
    }

    /// Ends the session when its only server has ended, for which it has up to `timeout`. Returns the end of its standard error.
    pub(crate) fn end_server_within(self, timeout: Duration) -> String {
        self.started.end_server_within(timeout)
    }

    /// Whether the runs are to be audited when the session ends.
    pub(crate) fn has_audit(&self) -> bool {
        self.started.has_audit()
    }

    /// Stops the servers, and audits their database; `None` without one.
    pub(crate) fn audit(&mut self) -> Option<Result<Audit, AuditError>> {
        self.started.audit(self.crowds.len(), self.processes)
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
            throttled_s,
            cpu_mhz,
            observations,
            joining,
        } = outcome;
        let servers_ended = self.started.servers_ended();
        if servers_ended.is_empty()
            && let Some(detail) = outputs.iter().find_map(connect_failure)
        {
            return Err(RunError::NoServer { address: self.platform.address.clone(), detail });
        }
        let is_ours = self.plan.scheduler.is_some();
        let now = sched_ext().filter(|_| !is_ours);
        let scheduler_change = scheduler_change(self.environment.sched_ext.as_deref(), now.as_deref());
        let environment = Environment {
            steal_share_in_run: steal_share,
            others_share_in_run: others_share,
            throttled_in_run_s: throttled_s,
            cpu_mhz_in_run: cpu_mhz,
            scheduler: self.scheduler.as_mut().map(Scheduler::in_force),
            ..self.environment.clone()
        };
        let vm = outputs.iter().find_map(|output| output.vm.clone());
        let crowds = self.crowds_of(role);
        let workload = match self.plan.warmup.filter(|_| role == Role::WarmUp) {
            Some(warmup) => self.workload.with_duration(warmup.as_secs_f64()),
            None => self.workload.clone(),
        };
        let (platform, crowd) = with_vm(&self.platform, &crowds[0], vm);
        let run = RunFacts {
            build: &self.plan.build,
            platform: &platform,
            environment,
            started_at,
            role,
            number,
            crowd: &crowd,
            workload: &workload,
            options: Some(run_options(self.plan)),
            server,
            database,
            servers_ended,
            scheduler_change,
            observations,
            joining,
        };
        let parts = crowds.iter().zip(outputs);
        build_record(run, parts.map(|(crowd, output)| crowd_part(crowd, output)).collect())
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
            Workload::Trade(trade) => Workload::Trade(TradeWorkload {
                daytrader: target.context_root().map(str::to_owned),
                ..trade
            }),
            workload => workload,
        },
    }
}

/// The change of a scheduler that this Klatch did not load, in words.
fn scheduler_change(before: Option<&str>, now: Option<&str>) -> Option<String> {
    let name = |one: Option<&str>| one.unwrap_or("the kernel's own").to_owned();
    (before != now)
        .then(|| format!("another program changed the scheduler: {} before, {} now", name(before), name(now)))
}

/// Platform and crowd with what the virtual machine of the first crowd says of itself. A crowd that reads files is the platform.
fn with_vm(platform: &Platform, crowd: &CrowdCommand, vm: Option<VmInForce>) -> (Platform, CrowdInfo) {
    let (mut platform, mut info) = (platform.clone(), crowd.info.clone());
    let runtime = if crowd.is_platform() { &mut platform.runtime } else { &mut info.runtime };
    if let Some(runtime) = runtime {
        runtime.in_force = vm;
    }
    (platform, info)
}

/// The addresses of a server.
fn resolve(endpoint: &Endpoint) -> Result<Vec<SocketAddr>, RunError> {
    let found = (endpoint.host.as_str(), endpoint.port).to_socket_addrs();
    let unknown = |source| RunError::UnknownHost { host: endpoint.host.clone(), source };
    Ok(found.map_err(unknown)?.collect())
}

/// Checks that a server accepts connections at one of its addresses.
fn reach(endpoint: &Endpoint, addresses: &[SocketAddr], timeout: Duration) -> Result<(), RunError> {
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(address, timeout) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(RunError::NoServer { address: endpoint.to_string(), detail: format!("cannot connect: {last}") })
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
        workload: &crowd.job.workload,
        address: crowd.job.load.to_string(),
        host: crowd.host.clone(),
        program: match crowd.host {
            Some(_) => CrowdBuild::OfHost(report.as_ref().map(|report| report.klatch.clone())),
            None => CrowdBuild::Own,
        },
        gate: None,
        clock,
        result: output.result,
        died: output.died,
        usage: output.usage,
        environment: report.map(|report| report.environment),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_that_comes_or_goes_is_named() {
        let change = |before, now| scheduler_change(before, now).unwrap_or_default();
        assert_eq!(
            change(None, Some("lavd")),
            "another program changed the scheduler: the kernel's own before, lavd now"
        );
        assert!(change(Some("lavd"), None).ends_with("lavd before, the kernel's own now"));
        assert_eq!((change(None, None), change(Some("lavd"), Some("lavd"))), (String::new(), String::new()));
    }
}
