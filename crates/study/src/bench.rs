//! A server that runs and a crowd that can be sent at it, again and again.

use jiff::Timestamp;
use klatch_instruments::environment;
use klatch_platforms::{Chosen, Java, NeedError, Processes, Server, Setting, Side, choose, refuse};
use klatch_record::{CrowdEvent, Environment, FailureKind, Platform, Record, Role, WireName};

use crate::assemble::{Header, record};
use crate::crowd::{Crowd, tuned};
use crate::error::RunError;
use crate::plan::{CrowdKind, Plan};

/// The Java crowd runs on this or newer.
const CROWD_JAVA_MIN: u32 = 17;

/// What is measured, and who measures it. Dropping it stops what it started.
pub(crate) struct Bench<'a> {
    plan: &'a Plan,
    all: &'a Processes,
    environment: Environment,
    server: Option<Server>,
    crowd: Crowd,
    /// What is measured.
    pub(crate) platform: Platform,
}

impl<'a> Bench<'a> {
    /// Starts the server that `chosen` names; without one, takes the plan's target.
    pub(crate) fn open(
        plan: &'a Plan,
        chosen: Option<&Chosen>,
        all: &'a Processes,
    ) -> Result<Bench<'a>, RunError> {
        let set = |setting: &Setting| (setting.name.clone(), setting.value.clone());
        let sysctls = plan.sysctls.iter().map(set).collect();
        let environment = Environment { sysctls, ..environment() };
        let wire = match (chosen, &plan.target) {
            (Some(chosen), _) => chosen.entry.wire,
            (None, Some(target)) => target.wire,
            (None, None) => unreachable!("either a platform or a target"),
        };
        let crowd_java = crowd_java(plan, chosen)?;
        let server = chosen.map(|chosen| Server::start(chosen, all, plan.ready_timeout)).transpose()?;
        let (host, port) = match (&server, &plan.target) {
            (Some(server), _) => (server.address.ip().to_string(), server.address.port()),
            (None, Some(target)) => (target.host.clone(), target.port),
            (None, None) => unreachable!("either a platform or a target"),
        };
        let crowd = Crowd::new(plan, wire, &host, port, crowd_java.as_ref())?;
        let platform = describe(plan, wire, chosen, server.as_ref());
        Ok(Bench { plan, all, environment, server, crowd, platform })
    }

    /// Sends the crowd once.
    pub(crate) fn run(
        &mut self,
        role: Role,
        number: u32,
        tell: impl FnMut(&CrowdEvent),
    ) -> Result<Record, RunError> {
        let started_at = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let server_pid = self.server.as_ref().map(|server| server.pid);
        let gathered = self.crowd.run(self.all, server_pid, tell)?;
        let server_ended = self.server.as_mut().and_then(Server::ended);
        if let Some(failure) = gathered.result.failure.as_ref().filter(|_| server_ended.is_none())
            && failure.kind == FailureKind::Connect
        {
            let address = self.platform.address.clone();
            return Err(RunError::NoServer { address, detail: failure.detail.clone() });
        }
        let header = Header {
            plan: self.plan,
            platform: &self.platform,
            crowd: &self.crowd.info,
            environment: &self.environment,
            started_at,
            role,
            number,
        };
        Ok(record(header, gathered, server_ended.as_deref())?)
    }
}

/// Finds what the plan wants to measure; `None` if that runs already. Whatever can be known to be impossible before anything
/// starts is refused here.
pub(crate) fn chosen(plan: &Plan) -> Result<Option<Chosen>, RunError> {
    plan.workload.check()?;
    tuned(plan)?;
    let chosen = match plan.target {
        None => Some(choose(&plan.wish)?),
        Some(_) => None,
    };
    let wire = chosen.as_ref().map(|chosen| chosen.entry.wire);
    match wire.or(plan.target.as_ref().map(|target| target.wire)) {
        Some(wire) if plan.crowd == CrowdKind::Java && wire != WireName::Irc => {
            Err(RunError::CrowdWire { wire: wire.name() })
        }
        _ => {
            refuse_too_much(plan, chosen.as_ref())?;
            Ok(chosen)
        }
    }
}

/// What this machine cannot carry is better told now than met in the middle of a run.
fn refuse_too_much(plan: &Plan, chosen: Option<&Chosen>) -> Result<(), NeedError> {
    let connections = plan.workload.connections();
    let crowd = match plan.crowd {
        CrowdKind::Native => Side::of_native_crowd(1, connections),
        CrowdKind::Java => Side::of_java_crowd(&plan.crowd_settings, 1, connections),
    };
    let sides: Vec<Side> =
        chosen.map(|chosen| chosen.side(1, connections)).into_iter().chain([crowd]).collect();
    refuse(&sides, connections)
}

/// The Java crowd runs on the server's Java: it is the test of a Java platform.
fn crowd_java(plan: &Plan, chosen: Option<&Chosen>) -> Result<Option<Java>, RunError> {
    if plan.crowd == CrowdKind::Native {
        return Ok(None);
    }
    match chosen.and_then(|chosen| chosen.java.clone()) {
        Some(java) => Ok(Some(java)),
        None => Java::find(plan.wish.java.as_deref(), CROWD_JAVA_MIN).map(Some).map_err(RunError::CrowdJava),
    }
}

fn describe(plan: &Plan, wire: WireName, chosen: Option<&Chosen>, server: Option<&Server>) -> Platform {
    let address = match (server, &plan.target) {
        (Some(server), _) => server.address.to_string(),
        (None, Some(target)) => target.to_string(),
        (None, None) => String::new(),
    };
    let set = |setting: &Setting| (setting.name.clone(), setting.value.clone());
    Platform {
        name: chosen.map_or_else(|| format!("{}://{address}", wire.name()), |chosen| chosen.name.clone()),
        class: server.map(|server| server.class),
        wire,
        knobs: chosen.map(|chosen| chosen.settings.iter().map(set).collect()).unwrap_or_default(),
        version: chosen.and_then(|chosen| chosen.program.as_ref()).map(|program| program.version.clone()),
        address,
        chosen_because: chosen.and_then(|chosen| chosen.because.clone()),
        command: server.map(|server| server.command.clone()),
        runtime: chosen.and_then(|chosen| Some(chosen.java.as_ref()?.runtime(&chosen.tuned.java_options))),
    }
}
