//! Carries a plan out.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use klatch_instruments::environment;
use klatch_platforms::{Chosen, Java, Processes, Server, Setting, choose};
use klatch_record::{CrowdEvent, FailureKind, Platform, Record, Role, Status, WireName, save};

use crate::assemble::{Header, record};
use crate::crowd::Crowd;
use crate::error::RunError;
use crate::folder;
use crate::plan::{CrowdKind, Plan};

/// The Java crowd runs on this or newer.
const CROWD_JAVA_MIN: u32 = 17;

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
pub fn execute(plan: &Plan, all: &Processes, mut tell: impl FnMut(Event<'_>)) -> Result<Outcome, RunError> {
    plan.workload.check()?;
    let environment = environment();
    let chosen = match plan.target {
        None => Some(choose(&plan.wish)?),
        Some(_) => None,
    };
    let wire = match (&chosen, &plan.target) {
        (Some(chosen), _) => chosen.entry.wire,
        (None, Some(target)) => target.wire,
        (None, None) => unreachable!("either a platform or a target"),
    };
    if plan.crowd == CrowdKind::Java && wire != WireName::Irc {
        return Err(RunError::CrowdWire { wire: wire.name() });
    }
    let crowd_java = crowd_java(plan, chosen.as_ref())?;
    let name = chosen.as_ref().map_or("target", |chosen| chosen.name.as_str());
    let in_out = |source| RunError::Folder { out: plan.out.clone(), source };
    let folder = folder::make(&plan.out, name, Timestamp::now()).map_err(in_out)?;
    let mut server = match &chosen {
        Some(chosen) => Some(Server::start(chosen, all, plan.ready_timeout)?),
        None => None,
    };
    let platform = describe(plan, wire, chosen.as_ref(), server.as_ref());
    let (host, port) = match (&server, &plan.target) {
        (Some(server), _) => (server.address.ip().to_string(), server.address.port()),
        (None, Some(target)) => (target.host.clone(), target.port),
        (None, None) => unreachable!("either a platform or a target"),
    };
    let crowd = Crowd::new(plan, wire, &host, port, crowd_java.as_ref())?;
    tell(Event::Ready(&platform));
    let mut records = Vec::new();
    let roles = (1..=plan.warmups).map(|number| (Role::WarmUp, number));
    for (role, number) in roles.chain((1..=plan.trials).map(|number| (Role::Trial, number))) {
        tell(Event::Begins(role, number));
        let started_at = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let server_pid = server.as_ref().map(|server| server.pid);
        let gathered = crowd.run(all, server_pid, |event| tell(Event::Crowd(event)))?;
        let server_ended = server.as_mut().and_then(Server::ended);
        if let Some(failure) = gathered.result.failure.as_ref().filter(|_| server_ended.is_none())
            && failure.kind == FailureKind::Connect
        {
            return Err(RunError::NoServer { address: platform.address, detail: failure.detail.clone() });
        }
        let header = Header {
            plan,
            platform: &platform,
            crowd: &crowd.info,
            environment: &environment,
            started_at,
            role,
            number,
        };
        let record = record(header, gathered, server_ended.as_deref())?;
        let path = folder.join(file_name(role, number));
        if let Err(error) = save(&record, &path) {
            tell(Event::Unsaved(&record));
            return Err(error.into());
        }
        tell(Event::Ended(&record, &path));
        let valid = record.verdict.status == Status::Valid;
        records.push(record);
        if !valid {
            break;
        }
    }
    Ok(Outcome { records, folder })
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
        runtime: chosen.and_then(|chosen| Some(chosen.java.as_ref()?.runtime(&chosen.java_options))),
    }
}

fn file_name(role: Role, number: u32) -> String {
    match role {
        Role::WarmUp => format!("warm-up-{number}.json"),
        Role::Trial => format!("trial-{number}.json"),
    }
}
