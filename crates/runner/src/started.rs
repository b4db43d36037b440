//! What a session measures once it is ready: servers that it has started, an external server, or readers.

use std::time::Duration;

use klatch_platforms::{Java, Processes, ReaderProgram, ResolvedPlatform, Server};
use klatch_record::{Audit, Endpoint, Platform, Workload};
use tempfile::TempDir;

use crate::audit::AuditError;
use crate::brokerage::Brokerage;
use crate::control::ServerPids;
use crate::crowd_command::{CrowdAssignment, CrowdCommand};
use crate::description::{Instance, describe_external, describe_platform};
use crate::error::RunError;
use crate::plan::{CrowdKind, Plan, PlatformPlan, TargetPlan};
use crate::resolved::ResolvedSubject;
use crate::split::split_parties;

/// Oldest Java that runs the Java crowd.
const CROWD_JAVA_MIN: u32 = 17;

/// What is measured. Dropping it stops what Klatch has started.
pub(crate) enum Started {
    /// The servers of a platform.
    Servers(OwnServers),
    /// An external server: nothing was started.
    External,
    /// A platform that reads files. Its processes are crowds, so nothing runs between runs.
    Readers {
        /// Its program, whose folder the processes need.
        _program: ReaderProgram,
    },
}

/// Servers of a platform, and what they need. The fields stop in this order.
pub(crate) struct OwnServers {
    servers: Vec<Server>,
    /// The folder of the archive with which they have started.
    _archive: Option<TempDir>,
    brokerage: Option<Box<Brokerage>>,
}

/// What a session has of its subject once that is ready.
pub(crate) struct Opened {
    pub(crate) started: Started,
    /// As records describe it.
    pub(crate) platform: Platform,
    /// One crowd for each share of the workload, at least one.
    pub(crate) crowds: Vec<CrowdCommand>,
    /// The crowds of a warm-up that is not as long as the trials; none otherwise.
    pub(crate) warmup_crowds: Vec<CrowdCommand>,
}

impl Opened {
    /// Starts the subject of a plan, unless it runs already. `archive` is the folder of the archive that its platform names.
    ///
    /// # Errors
    /// A server or the Java of the crowd cannot be started.
    pub(crate) fn start(
        plan: &Plan,
        subject: &ResolvedSubject<'_>,
        workload: &Workload,
        archive: Option<TempDir>,
        processes: &Processes,
    ) -> Result<Opened, RunError> {
        let warmup = plan.warmup.map(|warmup| workload.with_duration(warmup.as_secs_f64()));
        let warmup = warmup.as_ref();
        match subject {
            ResolvedSubject::Platform(_, platform) if !workload.kind().has_server() => {
                readers(plan, platform, [Some(workload), warmup], processes)
            }
            ResolvedSubject::Platform(own, platform) => {
                let java = crowd_java(plan, subject)?;
                let servers = OwnServers::start(own, platform, workload, archive, processes)?;
                let server = |share, shares| own.endpoint(&servers.of_share(share, shares).endpoint);
                let crowds =
                    |workload| crowds(plan, workload, server, servers.brokerage.as_deref(), java.as_ref());
                let (crowds, warmup_crowds) = (crowds(Some(workload))?, crowds(warmup)?);
                let platform = servers.describe(platform);
                Ok(Opened { started: Started::Servers(servers), platform, crowds, warmup_crowds })
            }
            ResolvedSubject::Target(TargetPlan { target, .. }) => {
                let java = crowd_java(plan, subject)?;
                let server = |_, _| target.endpoint.clone();
                let crowds = |workload| crowds(plan, workload, server, None, java.as_ref());
                let (crowds, warmup_crowds) = (crowds(Some(workload))?, crowds(warmup)?);
                let platform = describe_external(&target.endpoint);
                Ok(Opened { started: Started::External, platform, crowds, warmup_crowds })
            }
        }
    }
}

fn readers(
    plan: &Plan,
    platform: &ResolvedPlatform,
    workloads: [Option<&Workload>; 2],
    processes: &Processes,
) -> Result<Opened, RunError> {
    let program = match ReaderProgram::prepare(platform, processes) {
        // A build was stopped.
        Err(_) if processes.interrupted() => return Err(RunError::Interrupted),
        program => program?,
    };
    let share = |workload| CrowdCommand::of_reader(plan, platform, &program, workload);
    let shares = |workload: Option<&Workload>| {
        workload.map_or(vec![], |workload| split_parties(workload, plan.crowd_processes()))
    };
    let [crowds, warmup_crowds] =
        workloads.map(|workload| shares(workload).into_iter().map(share).collect::<Vec<_>>());
    let instance = Instance {
        address: program.files.display().to_string(),
        class: None,
        command: program.command.clone(),
        variables: program.variables.clone(),
        servers: plan.shards,
        start_s: None,
        io: None,
        // Its processes start with each run.
        vm: None,
    };
    let platform = describe_platform(platform, instance);
    Ok(Opened { started: Started::Readers { _program: program }, platform, crowds, warmup_crowds })
}

/// A crowd for each share of the workload, none without one, with the server that `server_of` returns for the number of the share and that of all shares.
fn crowds(
    plan: &Plan,
    workload: Option<&Workload>,
    server_of: impl Fn(usize, usize) -> Endpoint,
    brokerage: Option<&Brokerage>,
    java: Option<&Java>,
) -> Result<Vec<CrowdCommand>, RunError> {
    let Some(workload) = workload else { return Ok(Vec::new()) };
    let shares = split_parties(workload, plan.crowd_processes());
    let count = shares.len();
    let crowd = |(number, workload)| {
        let assignment = CrowdAssignment {
            workload,
            server: server_of(number, count),
            host: plan.remote.host(number),
            ledger: brokerage.map(|brokerage| brokerage.ledger(number)),
        };
        CrowdCommand::new(plan, assignment, java)
    };
    shares.into_iter().enumerate().map(crowd).collect()
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

impl OwnServers {
    fn start(
        own: &PlatformPlan,
        platform: &ResolvedPlatform,
        workload: &Workload,
        archive: Option<TempDir>,
        processes: &Processes,
    ) -> Result<OwnServers, RunError> {
        let brokerage = Brokerage::open(own, platform, workload, processes)?.map(Box::new);
        let database = brokerage.as_ref().map(|brokerage| &brokerage.database.server_access);
        let with_database = database.map(|database| platform.with_database(database));
        let platform = with_database.as_ref().unwrap_or(platform);
        let count = own.servers as usize;
        let start = |index| {
            let platform = platform.of_server(index, count);
            Server::start(&platform, own.listen, processes, own.ready_timeout)
        };
        let servers = (0..count).map(start).collect::<Result<_, _>>()?;
        Ok(OwnServers { servers, _archive: archive, brokerage })
    }

    /// The server of a share of the workload.
    fn of_share(&self, share: usize, shares: usize) -> &Server {
        &self.servers[share * self.servers.len() / shares]
    }

    fn describe(&self, platform: &ResolvedPlatform) -> Platform {
        let addresses: Vec<String> = self.servers.iter().map(|server| server.address.to_string()).collect();
        let first = &self.servers[0];
        let instance = Instance {
            address: addresses.join(", "),
            class: first.class,
            command: first.command.clone(),
            variables: first.variables.clone(),
            servers: self.servers.len() as u32,
            start_s: Some(first.start_time.as_secs_f64()),
            io: first.io.clone(),
            vm: first.vm.clone(),
        };
        let database = self.brokerage.as_ref().map(|brokerage| brokerage.database.described.clone());
        Platform { database, ..describe_platform(platform, instance) }
    }
}

impl Started {
    /// The processes that run on this machine all the time.
    pub(crate) fn pids(&self) -> ServerPids {
        let Started::Servers(own) = self else { return ServerPids::default() };
        ServerPids {
            servers: own.servers.iter().map(|server| server.pid).collect(),
            database: own.brokerage.as_ref().and_then(|brokerage| brokerage.database.pid()),
        }
    }

    /// How each server ended that no longer runs.
    pub(crate) fn servers_ended(&mut self) -> Vec<String> {
        let Started::Servers(OwnServers { servers, .. }) = self else { return Vec::new() };
        let single = servers.len() == 1;
        let ended = servers.iter_mut().filter_map(|server| Some((server.ended()?, server.address)));
        let describe = |(how, address)| match single {
            true => format!("the server died: {how}"),
            false => format!("the server on {address} died: {how}"),
        };
        ended.map(describe).collect()
    }

    /// Stops the only server, for which it has up to `timeout`. Returns the end of its standard error.
    pub(crate) fn end_server_within(self, timeout: Duration) -> String {
        let Started::Servers(mut own) = self else { return String::new() };
        own.servers.pop().map_or_else(String::new, |server| server.end_within(timeout))
    }

    /// Whether a database is to be audited when the session ends.
    pub(crate) fn has_audit(&self) -> bool {
        matches!(self, Started::Servers(OwnServers { brokerage: Some(_), .. }))
    }

    /// Stops the servers, and audits their database with the ledgers of this number of crowds; `None` without a database.
    pub(crate) fn audit(
        &mut self,
        crowds: usize,
        processes: &Processes,
    ) -> Option<Result<Audit, AuditError>> {
        let Started::Servers(OwnServers { servers, brokerage, .. }) = self else { return None };
        let brokerage = brokerage.as_mut()?;
        servers.clear();
        Some(brokerage.audit(crowds, processes))
    }
}
