//! The crowds of one run as processes: started and steered together, and measured while nothing moves.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use klatch_instruments::{CpuFrequency, MachineTime, Snapshot, Targets};
use klatch_platforms::{PlatformError, Process, Processes};
use klatch_record::{CrowdEvent, CrowdResult, FailureKind, Itself, Observation, Usage};

use crate::crowd::Crowd;
use crate::error::RunError;
use crate::pulse::Pulse;
use crate::watcher::Watcher;

/// How long no crowd may report anything before all are stopped. A crowd that waits in vain gives up by itself; this is for
/// one that hangs.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(900);

/// What came of the crowds of a run.
pub(crate) struct Gathered {
    /// In the order of the crowds.
    pub(crate) parts: Vec<Found>,
    /// What all servers used; `null` where one could not be watched.
    pub(crate) server: Option<Usage>,
    /// Share of the machine's time that the hypervisor gave to others meanwhile.
    pub(crate) steal_share: Option<f64>,
    /// Share of the machine's time that other programs used meanwhile.
    pub(crate) others_share: Option<f64>,
    /// What the instruments saw.
    pub(crate) observations: Vec<Observation>,
    /// Frequency of the fastest CPU meanwhile.
    pub(crate) cpu_mhz: Option<f64>,
}

/// What came of one crowd.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) result: CrowdResult,
    /// How it ended, if without a result.
    pub(crate) died: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) itself: Option<Itself>,
}

/// How far a crowd is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    Joining,
    Joined,
    Done,
    Ended,
}

/// One crowd while it runs.
struct Running<'a> {
    crowd: &'a Crowd,
    process: Process,
    stage: Stage,
    join_s: f64,
    /// Sent, received, and expected in all.
    progress: [u64; 3],
    /// Latencies that came with the last progress.
    latency_ns: Vec<(u64, u64)>,
    itself: Option<Itself>,
    result: Option<CrowdResult>,
}

/// All that is read at one moment.
struct Look {
    servers: Vec<Option<Snapshot>>,
    crowds: Vec<Option<Snapshot>>,
    machine: Option<MachineTime>,
}

/// Runs the crowds once against servers whose processes are `servers`, where they are of this machine. Any report, also that
/// users join, begins `silence_max` anew.
pub(crate) fn run(
    crowds: &[Crowd],
    all: &Processes,
    servers: &[u32],
    silence_max: Duration,
    watcher: &mut dyn Watcher,
    mut tell: impl FnMut(&CrowdEvent),
) -> Result<Gathered, RunError> {
    let (sender, lines) = channel();
    let mut running = Vec::new();
    for (place, crowd) in crowds.iter().enumerate() {
        let mut process = all.start(&crowd.info.command, &crowd.tuned.launch)?;
        process.lines_into(place, sender.clone());
        running.push(Running::new(crowd, process));
    }
    let (mut before, mut after, mut failed) = (None, None, None);
    let mut observations = Vec::new();
    let mut frequency = CpuFrequency::new();
    let mut pulse = None;
    while running.iter().any(|one| one.stage < Stage::Ended) {
        let (place, line) = match lines.recv_timeout(silence_max) {
            Ok(said) => said,
            Err(RecvTimeoutError::Timeout) => {
                return Err(RunError::CrowdSilent { silent_s: silence_max.as_secs_f64() });
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let progress = running[place].hear(line);
        if progress && before.is_some() {
            frequency.sample();
            tell(&together(&mut running));
            watcher.progress(running.iter().map(|one| one.progress[0] + one.progress[1]).sum());
            if let Some(cpus) = pulse.as_mut().and_then(Pulse::cpus) {
                tell(&cpus);
            }
        }
        if before.is_none() && failed.is_none() {
            if running[place].stage >= Stage::Done {
                // The gate stays closed: who waits before it is told so by the end of its input.
                failed = Some(place);
                running
                    .iter_mut()
                    .filter(|one| one.stage < Stage::Done)
                    .for_each(|one| one.process.say_no_more());
            } else if running.iter().all(|one| one.stage == Stage::Joined) {
                let join_s = running.iter().map(|one| one.join_s).fold(0.0, f64::max);
                tell(&CrowdEvent::Joined { join_s });
                running.iter().filter(|one| one.crowd.host.is_none()).try_for_each(|one| {
                    one.crowd.tuned.in_force(one.process.pid()).map_err(PlatformError::from)
                })?;
                watcher.opens(&targets(servers, &running));
                before = Some(look(servers, &running));
                pulse = Some(Pulse::new(targets(servers, &running)));
                running.iter_mut().for_each(|one| one.process.say("go"));
            }
        }
        if after.is_none() && running.iter().all(|one| one.stage >= Stage::Done) {
            // The machine first: to look at thousands of threads takes time, which is nobody else's.
            let machine = MachineTime::now();
            after = Some(Look { machine, ..look(servers, &running) });
            observations.extend(watcher.closes());
            frequency.sample();
            running.iter_mut().for_each(|one| one.process.say("quit"));
            tell(&CrowdEvent::Done);
        } else if failed.is_some() && running[place].stage == Stage::Done {
            running[place].process.say("quit");
        }
    }
    if all.interrupted() {
        return Err(RunError::Interrupted);
    }
    let cause = failed.map(|place| running[place].crowd.name.clone());
    let opened = before.is_some();
    let looks = before.zip(after);
    let mut parts = Vec::new();
    for (place, one) in running.iter_mut().enumerate() {
        let spans = looks.as_ref().map(|(before, after)| (before.crowds[place], after.crowds[place]));
        parts.push(one.found(opened, cause.as_deref(), spans)?);
    }
    let messages = parts.iter().map(|part| part.result.sent + part.result.received).sum();
    let of_server =
        |(before, after): &(Option<Snapshot>, Option<Snapshot>)| Some((*after)?.since(&(*before)?, messages));
    let server = looks.as_ref().and_then(|(before, after)| {
        let spans = before.servers.iter().copied().zip(after.servers.iter().copied());
        let each: Option<Vec<Usage>> = spans.map(|span| of_server(&span)).collect();
        let each = each.filter(|each| !each.is_empty())?;
        Some(Usage::together(&each.iter().collect::<Vec<_>>(), messages))
    });
    let machine = looks.and_then(|(before, after)| before.machine.zip(after.machine));
    let steal_share = machine.map(|(before, after)| after.steal_share_since(&before));
    let here = running.iter().zip(&parts).filter(|(one, _)| one.crowd.host.is_none());
    let crowds_s: f64 = here.filter_map(|(_, part)| part.usage.as_ref()).map(|usage| usage.cpu_s).sum();
    let others_share = machine
        .zip(server.as_ref())
        .map(|((before, after), server)| after.others_share_since(&before, server.cpu_s + crowds_s));
    let cpu_mhz = frequency.mean_mhz();
    Ok(Gathered { parts, server, steal_share, others_share, cpu_mhz, observations })
}

/// What instruments watch: the processes of this machine.
fn targets(servers: &[u32], running: &[Running<'_>]) -> Targets {
    let here = running.iter().filter(|one| one.crowd.host.is_none());
    Targets { servers: servers.to_vec(), crowds: here.map(|one| one.process.pid()).collect() }
}

fn look(servers: &[u32], running: &[Running<'_>]) -> Look {
    let of = |pid: u32| Snapshot::of(pid).ok();
    Look {
        servers: servers.iter().map(|&pid| of(pid)).collect(),
        crowds: running.iter().map(|one| of(one.process.pid())).collect(),
        machine: MachineTime::now(),
    }
}

/// The progress of all, with the latencies that have not been told.
fn together(running: &mut [Running<'_>]) -> CrowdEvent {
    let latency_ns = running.iter_mut().flat_map(|one| std::mem::take(&mut one.latency_ns)).collect();
    let sum = |what: usize| running.iter().map(|one| one.progress[what]).sum();
    CrowdEvent::Progress { sent: sum(0), received: sum(1), expected: sum(2), latency_ns }
}

impl<'a> Running<'a> {
    fn new(crowd: &'a Crowd, process: Process) -> Running<'a> {
        let expected = crowd.workload.sent_expected() + crowd.workload.received_expected();
        Running {
            crowd,
            process,
            stage: Stage::Joining,
            join_s: 0.0,
            progress: [0, 0, expected],
            latency_ns: Vec::new(),
            itself: None,
            result: None,
        }
    }

    /// Takes in a line, or the end of all lines; says whether it tells of progress.
    fn hear(&mut self, line: Option<String>) -> bool {
        let Some(line) = line else {
            self.stage = Stage::Ended;
            return false;
        };
        match serde_json::from_str(&line) {
            Ok(CrowdEvent::Joined { join_s }) => {
                (self.stage, self.join_s) = (Stage::Joined, join_s);
            }
            Ok(CrowdEvent::Progress { sent, received, expected, latency_ns }) => {
                self.progress = [sent, received, expected];
                self.latency_ns = latency_ns;
                return true;
            }
            Ok(CrowdEvent::Done) => self.stage = Stage::Done,
            Ok(CrowdEvent::Itself(itself)) => self.itself = Some(*itself),
            Ok(CrowdEvent::Result(result)) => (self.stage, self.result) = (Stage::Done, Some(*result)),
            Ok(
                CrowdEvent::Joining { .. }
                | CrowdEvent::Gate { .. }
                | CrowdEvent::Cpus { .. }
                | CrowdEvent::Open,
            )
            | Err(_) => {}
        }
        false
    }

    /// What came of it. `cause` is who kept the gate closed, if somebody did.
    fn found(
        &mut self,
        opened: bool,
        cause: Option<&str>,
        spans: Option<(Option<Snapshot>, Option<Snapshot>)>,
    ) -> Result<Found, RunError> {
        let name = &self.crowd.name;
        let Some(mut result) = self.result.take() else {
            let words = self.process.last_words_at_end();
            let words = if words.is_empty() { "nothing".to_owned() } else { words };
            if !opened {
                return Err(RunError::CrowdDied { name: name.clone(), words });
            }
            let died = Some(format!("the crowd ended without a result; it said: {words}"));
            return Ok(Found { died, ..Found::default() });
        };
        if let Some(failure) = result.failure.as_mut().filter(|failure| failure.kind == FailureKind::Stopped)
            && let Some(cause) = cause
        {
            failure.detail = format!("it was stopped, as {cause} could not begin");
        }
        let messages = result.sent + result.received;
        let itself = self.itself.take();
        let usage = match (&self.crowd.host, spans) {
            // What runs here for a crowd on another machine is but its messenger.
            (Some(_), _) => itself.as_ref().and_then(|itself| itself.usage.clone()),
            (None, Some((Some(before), Some(after)))) => Some(after.since(&before, messages)),
            (None, _) => None,
        };
        Ok(Found { result, died: None, usage, itself })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use klatch_platforms::Tuned;
    use klatch_record::{CrowdInfo, Pacing, Workload};

    use super::*;

    struct Nobody;

    impl Watcher for Nobody {
        fn opens(&mut self, _: &Targets) {}

        fn progress(&mut self, _: u64) {}

        fn closes(&mut self) -> Vec<Observation> {
            Vec::new()
        }
    }

    /// A crowd that is a script of the shell.
    fn crowd(script: &str) -> Crowd {
        let command = ["sh", "-c", script].map(str::to_owned).into();
        let pacing = Pacing::Turns;
        Crowd {
            info: CrowdInfo { kind: "native".into(), knobs: [].into(), command, runtime: None },
            tuned: Tuned::of_native_crowd(&[]).unwrap(),
            workload: Workload {
                rooms: 1,
                users: 2,
                count: 1,
                size_bytes: 60,
                start: 1,
                pacing,
                pause_s: 0.0,
            },
            address: "127.0.0.1:1".into(),
            host: None,
            name: "room 1".into(),
        }
    }

    #[test]
    fn users_who_join_begin_the_silence_anew() {
        const JOINING: &str = r#"echo '{"event":"joining","joined":1,"users":2}'"#;
        let (step, silence_max) = (Duration::from_millis(300), Duration::from_secs(1));
        let crowd = crowd(&format!("for i in 1 2 3 4; do sleep {}; {JOINING}; done; exec sleep 60", 0.3));
        let began = Instant::now();
        let done = run(&[crowd], &Processes::default(), &[], silence_max, &mut Nobody, |_| {});
        assert!(matches!(done, Err(RunError::CrowdSilent { silent_s: 1.0 })), "{:?}", done.err());
        assert!(began.elapsed() >= 4 * step + silence_max, "{:?}", began.elapsed());
    }
}
