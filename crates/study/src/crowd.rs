//! One crowd as a process: started, steered, and measured while nothing moves.

use std::time::{Duration, Instant};

use klatch_instruments::{MachineTime, Snapshot};
use klatch_platforms::{Java, Line, PlatformError, Processes, Setting, Tuned, klatch_itself, klatch_jar};
use klatch_record::{CrowdEvent, CrowdInfo, CrowdResult, Pacing, WireName, Workload};

use crate::error::RunError;
use crate::plan::{CrowdKind, Plan};

/// A crowd gives up by itself when nothing comes; this is for one that has lost its wits.
const SILENCE_MAX: Duration = Duration::from_secs(900);

/// How a crowd is started.
pub(crate) struct Crowd {
    pub(crate) info: CrowdInfo,
    tuned: Tuned,
}

/// What came of a crowd.
pub(crate) struct Gathered {
    pub(crate) result: CrowdResult,
    pub(crate) server: Option<Span>,
    pub(crate) crowd: Option<Span>,
    /// Share of the machine's time that the hypervisor gave to others meanwhile.
    pub(crate) steal_share: Option<f64>,
}

/// A process before the gate opened and after the last delivery.
pub(crate) type Span = (Snapshot, Snapshot);

/// All that is read at one moment.
struct Look {
    server: Option<Snapshot>,
    crowd: Option<Snapshot>,
    machine: Option<MachineTime>,
}

impl Crowd {
    pub(crate) fn new(
        plan: &Plan,
        wire: WireName,
        host: &str,
        port: u16,
        java: Option<&Java>,
    ) -> Result<Crowd, PlatformError> {
        let tuned = tuned(plan)?;
        let (kind, mut command) = match (plan.crowd, java) {
            (CrowdKind::Java, Some(java)) => {
                let mut command = vec![java.path.display().to_string()];
                command.extend(tuned.java_options.iter().cloned());
                command.extend(["-jar".to_owned(), klatch_jar()?.display().to_string()]);
                ("java", command)
            }
            _ => ("native", vec![klatch_itself()?.display().to_string()]),
        };
        command.push("crowd".to_owned());
        command.extend(arguments(&plan.workload, host, port));
        command.extend(option("timeout", plan.timeout.as_secs_f64()));
        command.extend(option("connect-timeout", plan.connect_timeout.as_secs_f64()));
        command.extend(option("seed", plan.seed));
        if kind == "native" {
            command.extend(option("wire", wire.name()));
            command.extend(option("loops", plan.crowd_loops));
        }
        command.extend(tuned.arguments.iter().cloned());
        command.extend(["--json", "--steered"].map(str::to_owned));
        let runtime = java.filter(|_| kind == "java").map(|java| java.runtime(&tuned.java_options));
        let set = |setting: &Setting| (setting.name.clone(), setting.value.clone());
        let knobs = plan.crowd_settings.iter().map(set).collect();
        Ok(Crowd { info: CrowdInfo { kind: kind.to_owned(), knobs, command, runtime }, tuned })
    }

    /// Runs it once against a server whose process is `server_pid`, where it is one of this machine.
    pub(crate) fn run(
        &self,
        all: &Processes,
        server_pid: Option<u32>,
        mut tell: impl FnMut(&CrowdEvent),
    ) -> Result<Gathered, RunError> {
        let mut process = all.start(&self.info.command, &self.tuned.launch)?;
        let crowd_pid = process.pid();
        let look = || Look {
            server: server_pid.and_then(|pid| Snapshot::of(pid).ok()),
            crowd: Snapshot::of(crowd_pid).ok(),
            machine: MachineTime::now(),
        };
        let (mut before, mut after, mut result) = (None, None, None);
        loop {
            let line = match process.line(Instant::now() + SILENCE_MAX) {
                Line::Text(line) => line,
                Line::End => break,
                Line::Late => return Err(RunError::CrowdSilent { silent_s: SILENCE_MAX.as_secs() }),
            };
            let Ok(event) = serde_json::from_str(&line) else { continue };
            tell(&event);
            match event {
                CrowdEvent::Joined { .. } => {
                    self.tuned.in_force(crowd_pid).map_err(PlatformError::from)?;
                    before = Some(look());
                    process.say("go");
                }
                CrowdEvent::Done => {
                    after = Some(look());
                    process.say("quit");
                }
                CrowdEvent::Progress { .. } => {}
                CrowdEvent::Result(all) => result = Some(all),
            }
        }
        if all.interrupted() {
            return Err(RunError::Interrupted);
        }
        let result = result.ok_or_else(|| RunError::CrowdDied { words: process.last_words_at_end() })?;
        let (before, after) = (before.as_ref(), after.as_ref());
        let span = |of: fn(&Look) -> Option<Snapshot>| Some((of(before?)?, of(after?)?));
        let machine = |of: Option<&Look>| of.and_then(|look| look.machine);
        Ok(Gathered {
            result,
            server: span(|look| look.server),
            crowd: span(|look| look.crowd),
            steal_share: machine(before)
                .zip(machine(after))
                .map(|(early, late)| late.steal_share_since(&early)),
        })
    }
}

/// What the plan sets about its crowd means.
pub(crate) fn tuned(plan: &Plan) -> Result<Tuned, PlatformError> {
    Ok(match plan.crowd {
        CrowdKind::Native => Tuned::of_native_crowd(&plan.crowd_settings)?,
        CrowdKind::Java => Tuned::of_java_crowd(&plan.crowd_settings)?,
    })
}

fn arguments(workload: &Workload, host: &str, port: u16) -> Vec<String> {
    let mut words = [option("host", host), option("port", port)].concat();
    words.extend(option("rooms", workload.rooms));
    words.extend(option("users", workload.users));
    words.extend(option("count", workload.count));
    words.extend(option("size", workload.size_bytes));
    words.extend(option("start", workload.start));
    words.extend(option("pause", workload.pause_s));
    let pacing = |name| option("pacing", name);
    match workload.pacing {
        Pacing::Turns => words.extend(pacing("turns")),
        Pacing::Flood => words.extend(pacing("flood")),
        Pacing::Rounds { window } => words.extend([pacing("rounds"), option("window", window)].concat()),
        Pacing::Rate { per_user_per_s } => {
            words.extend([pacing("rate"), option("rate", per_user_per_s)].concat())
        }
    }
    words
}

fn option(name: &str, value: impl ToString) -> [String; 2] {
    [format!("--{name}"), value.to_string()]
}
