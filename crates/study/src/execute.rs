//! Carries a plan out.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use klatch_instruments::environment;
use klatch_platforms::{
    Chosen, Java, JavaError, PlatformError, ProcessError, Processes, Server, ServerError, choose,
};
use klatch_record::{
    CrowdEvent, FailureKind, LatencyError, Platform, Record, Role, SaveError, Status, WorkloadError, save,
};
use thiserror::Error;

use crate::assemble::{Header, record};
use crate::crowd::Crowd;
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

/// Why a plan could not be carried out to its end. Records of finished runs stay.
#[derive(Debug, Error)]
pub enum RunError {
    /// A number is out of range.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The platform cannot run here.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// The Java crowd has no Java.
    #[error("the Java crowd {0}")]
    CrowdJava(JavaError),
    /// The server cannot be had.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The crowd cannot be started.
    #[error("the crowd: {0}")]
    Crowd(#[from] ProcessError),
    /// The crowd ended without a result.
    #[error("the crowd ended without a result; it said: {words}")]
    CrowdDied {
        /// Its standard error.
        words: String,
    },
    /// The crowd hangs.
    #[error("the crowd said nothing for {silent_s} s and was stopped")]
    CrowdSilent {
        /// For so long.
        silent_s: u64,
    },
    /// Nobody answers at the address.
    #[error("no server at {address}: {detail}")]
    NoServer {
        /// Where.
        address: String,
        /// What happened.
        detail: String,
    },
    /// Results cannot be kept.
    #[error("cannot keep results in {out}: {source}; name another folder with --out", out = out.display())]
    Folder {
        /// The folder.
        out: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A record cannot be written.
    #[error("{0}; the record follows on standard output")]
    Save(#[from] SaveError),
    /// Latencies that no histogram holds.
    #[error("the crowd's result is odd: {0}")]
    Latency(#[from] LatencyError),
    /// Somebody stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Carries the plan out: server, warm-ups, trials, records. Ends early after an invalid run, whose server may be spoilt.
///
/// # Errors
/// See [`RunError`]; nothing is left running.
pub fn execute(plan: &Plan, all: &Processes, mut tell: impl FnMut(Event<'_>)) -> Result<Outcome, RunError> {
    plan.workload.check()?;
    let environment = environment();
    let chosen = match plan.target {
        None => Some(choose(plan.platform.as_deref(), plan.java.as_deref())?),
        Some(_) => None,
    };
    let crowd_java = crowd_java(plan, chosen.as_ref())?;
    let name = chosen.as_ref().map_or("target", |chosen| chosen.entry.name.as_str());
    let in_out = |source| RunError::Folder { out: plan.out.clone(), source };
    let folder = folder::make(&plan.out, name, Timestamp::now()).map_err(in_out)?;
    let mut server = match &chosen {
        Some(chosen) => Some(Server::start(chosen, all, plan.ready_timeout)?),
        None => None,
    };
    let platform = describe(plan, chosen.as_ref(), server.as_ref());
    let (host, port) = match (&server, &plan.target) {
        (Some(server), _) => (server.ready.host.clone(), server.ready.port),
        (None, Some(target)) => (target.host.clone(), target.port),
        (None, None) => unreachable!("either a platform or a target"),
    };
    let crowd = Crowd::new(plan, &host, port, crowd_java.as_ref())?;
    tell(Event::Ready(&platform));
    let mut records = Vec::new();
    let roles = (1..=plan.warmups).map(|number| (Role::WarmUp, number));
    for (role, number) in roles.chain((1..=plan.trials).map(|number| (Role::Trial, number))) {
        tell(Event::Begins(role, number));
        let started_at = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let server_pid = server.as_ref().map(|server| server.ready.pid);
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
        None => Java::find(plan.java.as_deref(), CROWD_JAVA_MIN).map(Some).map_err(RunError::CrowdJava),
    }
}

fn describe(plan: &Plan, chosen: Option<&Chosen>, server: Option<&Server>) -> Platform {
    let address = match (server, &plan.target) {
        (Some(server), _) => server.address(),
        (None, Some(target)) => target.to_string(),
        (None, None) => String::new(),
    };
    Platform {
        name: chosen.map_or_else(|| format!("irc://{address}"), |chosen| chosen.entry.name.clone()),
        class: server.map(|server| server.ready.class),
        address,
        chosen_because: chosen.and_then(|chosen| chosen.because.clone()),
        command: server.map(|server| server.command.clone()),
        runtime: chosen.and_then(|chosen| chosen.java.as_ref()).map(Java::runtime),
    }
}

fn file_name(role: Role, number: u32) -> String {
    match role {
        Role::WarmUp => format!("warm-up-{number}.json"),
        Role::Trial => format!("trial-{number}.json"),
    }
}
