//! A server that runs and a crowd that can be sent at it, again and again.

use klatch_instruments::{Files, Instruments, Kernel, availability, clock_name, environment};
use klatch_platforms::{Chosen, Java, NeedError, Processes, Server, Setting, Side, choose, refuse};
use klatch_record::{
    CONNECTIONS_PER_SOURCE, CrowdEvent, Environment, FailureKind, Platform, Record, Role, WireName,
};

use klatch_schedulers::SchedulerError;

use crate::assemble::{CrowdOutcome, Run, record};
use crate::crowd::{Crowd, Post, tuned};
use crate::error::RunError;
use crate::noise;
use crate::plan::{CrowdKind, Plan};
use crate::scheduler::Scheduler;
use crate::shard::now;
use crate::spread::spread;
use crate::steer::{self, Found, Gathered};
use crate::watcher::{Throughout, Watcher};

/// The Java crowd runs on this or newer.
const CROWD_JAVA_MIN: u32 = 17;

/// What is measured, and who measures it. Dropping it stops what it started.
pub struct Bench<'a> {
    plan: &'a Plan,
    all: &'a Processes,
    environment: Environment,
    servers: Vec<Server>,
    crowds: Vec<Crowd>,
    /// Dropped after the servers, which run under it to their end.
    scheduler: Scheduler,
    /// What is measured.
    pub platform: Platform,
}

impl<'a> Bench<'a> {
    /// Loads the plan's scheduler and starts the server that `chosen` names; without one, takes the plan's target.
    ///
    /// # Errors
    /// The scheduler, a server or the Java of the crowd cannot be started.
    pub fn open(plan: &'a Plan, chosen: Option<&Chosen>, all: &'a Processes) -> Result<Bench<'a>, RunError> {
        let scheduler = Scheduler::load(plan.scheduler.as_ref())?;
        let set = |setting: &Setting| (setting.name.clone(), setting.value.clone());
        let sysctls = plan.sysctls.iter().map(set).collect();
        let environment = Environment {
            sysctls,
            noise: noise::here(),
            instruments: availability(&Kernel::here()),
            ..environment()
        };
        let wire = match (chosen, &plan.target) {
            (Some(chosen), _) => chosen.entry.wire,
            (None, Some(target)) => target.wire,
            (None, None) => unreachable!("either a platform or a target"),
        };
        let crowd_java = crowd_java(plan, chosen)?;
        let mut servers = Vec::new();
        if let Some(chosen) = chosen {
            for _ in 0..plan.servers {
                servers.push(Server::start(chosen, plan.listen, all, plan.ready_timeout)?);
            }
        }
        let shares = spread(&plan.workload, shards(plan));
        let mut crowds = Vec::new();
        for (number, workload) in shares.iter().enumerate() {
            let server = servers.get(number * servers.len() / shares.len()).map(|server| server.address);
            let (host, port) = match (server, &plan.target) {
                (Some(server), _) => (server.ip().to_string(), server.port()),
                (None, Some(target)) => (target.host.clone(), target.port),
                (None, None) => unreachable!("either a platform or a target"),
            };
            let post =
                Post { workload: workload.clone(), server: (&host, port), host: plan.remote.host(number) };
            crowds.push(Crowd::new(plan, wire, post, crowd_java.as_ref())?);
        }
        let platform = describe(plan, wire, chosen, &servers);
        Ok(Bench { plan, all, environment, servers, crowds, scheduler, platform })
    }

    /// Sends the crowd once. What instruments write goes into `files`.
    ///
    /// # Errors
    /// See [`RunError`]. An invalid run is a record, not an error.
    pub fn run(
        &mut self,
        role: Role,
        number: u32,
        files: &Files,
        tell: impl FnMut(&CrowdEvent),
    ) -> Result<Record, RunError> {
        let instruments =
            Instruments::new(Kernel::here(), &self.plan.instruments, &self.environment.instruments);
        self.run_watched(role, number, &mut Throughout::new(&instruments, files), tell)
    }

    /// Sends the crowd once, while `watcher` observes the run instead of the plan's instruments.
    ///
    /// # Errors
    /// See [`RunError`]. An invalid run is a record, not an error.
    pub fn run_watched(
        &mut self,
        role: Role,
        number: u32,
        watcher: &mut dyn Watcher,
        tell: impl FnMut(&CrowdEvent),
    ) -> Result<Record, RunError> {
        let started_at = now();
        let pids: Vec<u32> = self.servers.iter().map(|server| server.pid).collect();
        let gathered = steer::run(&self.crowds, self.all, &pids, steer::SILENCE_MAX, watcher, tell)?;
        let Gathered { parts, server, steal_share, others_share, cpu_mhz, observations } = gathered;
        let servers_ended = self.servers_ended();
        let unreached =
            |part: &Found| part.result.failure.clone().filter(|failure| failure.kind == FailureKind::Connect);
        if let Some(failure) = parts.iter().find_map(unreached).filter(|_| servers_ended.is_empty()) {
            let address = self.platform.address.clone();
            return Err(RunError::NoServer { address, detail: failure.detail });
        }
        let environment = Environment {
            steal_share_in_run: steal_share,
            others_share_in_run: others_share,
            cpu_mhz_in_run: cpu_mhz,
            scheduler: self.scheduler.in_force(),
            ..self.environment.clone()
        };
        let run = Run {
            build: &self.plan.build,
            platform: &self.platform,
            environment,
            started_at,
            role,
            number,
            crowd: &self.crowds[0].info,
            workload: &self.plan.workload,
            server,
            servers_ended,
            observations,
        };
        record(run, self.crowds.iter().zip(parts).map(|(crowd, found)| outcome(crowd, found)).collect())
    }

    fn servers_ended(&mut self) -> Vec<String> {
        let one = self.servers.len() == 1;
        let ended = self.servers.iter_mut().filter_map(|server| Some((server.ended()?, server.address)));
        let told = |(how, address)| match one {
            true => format!("the server died: {how}"),
            false => format!("the server on {address} died: {how}"),
        };
        ended.map(told).collect()
    }
}

/// Joins what is known of a crowd with what came of it.
fn outcome(crowd: &Crowd, found: Found) -> CrowdOutcome<'_> {
    // What it tells of itself is of use only from another machine.
    let there = found.itself.filter(|_| crowd.host.is_some());
    let clock = match crowd.host {
        Some(_) => there.as_ref().and_then(|itself| itself.clock.clone()),
        None => clock_name(),
    };
    CrowdOutcome {
        crowd: &crowd.info,
        workload: &crowd.workload,
        address: &crowd.address,
        host: crowd.host.clone(),
        gate: None,
        clock,
        result: found.result,
        died: found.died,
        usage: found.usage,
        environment: there.map(|itself| itself.environment),
    }
}

/// How many crowd processes there are: one for each server and each host at least.
fn shards(plan: &Plan) -> u32 {
    let servers = if plan.target.is_none() { plan.servers } else { 1 };
    plan.shards.max(servers).max(plan.remote.hosts.len() as u32)
}

/// Refuses what cannot be spread.
fn check_spread(plan: &Plan) -> Result<(), RunError> {
    let (shards, rooms) = (shards(plan), plan.workload.rooms);
    if rooms < shards {
        return Err(RunError::TooFewRooms { shards, rooms });
    }
    let remote = !plan.remote.hosts.is_empty();
    let wrong = [
        (plan.servers > 1 && plan.target.is_some(), "several servers need a platform, not a target"),
        (remote && plan.crowd == CrowdKind::Java, "the Java crowd runs on this machine only, not on hosts"),
        (remote && !plan.crowd_settings.is_empty(), "crowd knobs are for this machine, not for hosts"),
        (
            remote && plan.target.is_none() && plan.listen.is_loopback(),
            "no other host reaches a server on loopback: name an address of this machine with --host-address",
        ),
    ];
    match wrong.into_iter().find(|(is_so, _)| *is_so) {
        Some((_, what)) => Err(RunError::Together(what)),
        None => Ok(()),
    }
}

/// Finds what the plan wants to measure; `None` if that runs already. Whatever can be known to be impossible before anything
/// starts is refused here.
///
/// # Errors
/// The plan cannot run on this machine, or needs something that is not installed.
pub fn chosen(plan: &Plan) -> Result<Option<Chosen>, RunError> {
    plan.workload.check()?;
    check_spread(plan)?;
    if plan.scheduler.is_some() && klatch_schedulers::state().is_none() {
        return Err(SchedulerError::NoSchedExt.into());
    }
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
    let of_each =
        |processes: u32| u64::from(plan.workload.rooms.div_ceil(processes)) * u64::from(plan.workload.users);
    let mut sides = Vec::new();
    if let Some(chosen) = chosen {
        sides.push(chosen.side(u64::from(plan.servers), of_each(plan.servers)));
    }
    let here = plan.remote.hosts.is_empty();
    if here {
        let (shards, connections) = (u64::from(shards(plan)), of_each(shards(plan)));
        sides.push(match plan.crowd {
            CrowdKind::Native => Side::of_native_crowd(shards, connections),
            CrowdKind::NativeThreads => Side::of_threads_crowd(shards, connections),
            CrowdKind::Java => Side::of_java_crowd(&plan.crowd_settings, shards, connections),
        });
    }
    // Native crowds take another of loopback's addresses when one has this many.
    let per_address = match plan.crowd {
        CrowdKind::Native | CrowdKind::NativeThreads
            if plan.target.is_none() && plan.listen.is_loopback() =>
        {
            u64::from(CONNECTIONS_PER_SOURCE)
        }
        _ => u64::MAX,
    };
    refuse(&sides, if here { of_each(plan.servers).min(per_address) } else { 0 })
}

/// The Java crowd runs on the server's Java: it is the test of a Java platform.
fn crowd_java(plan: &Plan, chosen: Option<&Chosen>) -> Result<Option<Java>, RunError> {
    if plan.crowd != CrowdKind::Java {
        return Ok(None);
    }
    match chosen.and_then(|chosen| chosen.java.clone()) {
        Some(java) => Ok(Some(java)),
        None => Java::find(plan.wish.java.as_deref(), CROWD_JAVA_MIN).map(Some).map_err(RunError::CrowdJava),
    }
}

fn describe(plan: &Plan, wire: WireName, chosen: Option<&Chosen>, servers: &[Server]) -> Platform {
    let all: Vec<String> = servers.iter().map(|server| server.address.to_string()).collect();
    let address = plan.target.as_ref().map_or_else(|| all.join(", "), ToString::to_string);
    let server = servers.first();
    let set = |setting: &Setting| (setting.name.clone(), setting.value.clone());
    Platform {
        name: chosen.map_or_else(|| format!("{}://{address}", wire.name()), |chosen| chosen.name.clone()),
        class: server.map(|server| server.class),
        wire,
        knobs: chosen.map(|chosen| chosen.settings.iter().map(set).collect()).unwrap_or_default(),
        version: chosen.and_then(|chosen| chosen.program.as_ref()).map(|program| program.version.clone()),
        address,
        servers: servers.len().max(1) as u32,
        chosen_because: chosen.and_then(|chosen| chosen.because.clone()),
        command: server.map(|server| server.command.clone()),
        runtime: chosen.and_then(|chosen| Some(chosen.java.as_ref()?.runtime(&chosen.tuned.java_options))),
    }
}
