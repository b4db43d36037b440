//! Controls the crowds of one run as processes: starts them, opens the gate when all users have joined, and measures
//! before the gate opens and after the last delivery, while nothing moves. Two commands on standard input control a
//! crowd: `go` opens its gate, `quit` ends it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use klatch_host::machine::{CpuFrequency, CpuQuota, MachineTime, Snapshot, process_tree};
use klatch_instruments::Targets;
use klatch_platforms::{PlatformError, Processes};
use klatch_record::{CrowdEvent, MergeError, Observation, PausedCounts, Usage, sum};

use crate::cpu_sampler::CpuSampler;
use crate::crowd_command::CrowdCommand;
use crate::error::RunError;
use crate::joining::JoiningCost;
use crate::observer::RunObserver;
use crate::running_crowd::{CrowdOutput, RunningCrowd, Stage, total_progress};

/// How long all crowds may print nothing before they are stopped. A crowd has time-outs of its own, so this stops only one
/// that hangs.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(900);

/// The result of the crowds of one run.
pub(crate) struct CrowdsOutcome {
    /// In the order of the crowds.
    pub(crate) outputs: Vec<CrowdOutput>,
    /// Usage of all servers together; `None` where one could not be measured.
    pub(crate) server: Option<Usage>,
    /// Usage of the database, if it has a process of its own.
    pub(crate) database: Option<Usage>,
    /// Share of the machine's CPU time that the hypervisor gave to others during the run, 0..=1.
    pub(crate) steal_share: Option<f64>,
    /// Share of the machine's CPU time that other programs used during the run, 0..=1.
    pub(crate) others_share: Option<f64>,
    /// Time for which a CPU quota kept processes from running, all CPUs together, seconds; `None` without a quota.
    pub(crate) throttled_s: Option<f64>,
    pub(crate) observations: Vec<Observation>,
    /// Use until the gate opened; `None` if it did not.
    pub(crate) joining: Option<JoiningCost>,
    /// Mean frequency of the fastest CPU during the run, MHz.
    pub(crate) cpu_mhz: Option<f64>,
}

/// The processes of the servers on this machine.
#[derive(Clone, Default)]
pub(crate) struct ServerPids {
    pub(crate) servers: Vec<u32>,
    /// The database behind them, if it has a process of its own.
    pub(crate) database: Option<u32>,
}

/// All counters at one moment.
struct Counters {
    database: Option<Snapshot>,
    servers: Vec<Option<Snapshot>>,
    crowds: Vec<Option<Snapshot>>,
    machine: Option<MachineTime>,
    quota: Option<CpuQuota>,
}

/// The crowds of a run in progress.
pub(crate) struct CrowdsInRun<'a> {
    control: Control,
    lines: Receiver<(usize, Option<String>)>,
    processes: &'a Processes,
    silence_max: Duration,
}

/// The state of a run in progress.
struct Control {
    running: Vec<RunningCrowd>,
    pids: ServerPids,
    /// The servers before any crowd was started.
    idle: Vec<Option<Snapshot>>,
    /// Taken before the gate opens.
    before: Option<Counters>,
    /// Taken after the last delivery.
    after: Option<Counters>,
    /// The first crowd that ended before the gate opened, or without a result. All others are stopped.
    failed: Option<usize>,
    frequency: CpuFrequency,
    sampler: Option<CpuSampler>,
    observations: Vec<Observation>,
}

/// Runs the crowds once against the servers `pids`. Gives up after `silence_max` without a line from
/// any crowd; a joining user counts as a line.
pub(crate) fn run_crowds(
    crowds: &[CrowdCommand],
    processes: &Processes,
    pids: &ServerPids,
    silence_max: Duration,
    observer: &mut dyn RunObserver,
    mut on_event: impl FnMut(&CrowdEvent),
) -> Result<CrowdsOutcome, RunError> {
    let mut in_run = CrowdsInRun::start(crowds, processes, pids, silence_max)?;
    in_run.advance(observer, &mut on_event, Duration::MAX, |_| false)?;
    in_run.outcome()
}

impl<'a> CrowdsInRun<'a> {
    /// Starts the crowds. They join and then wait.
    pub(crate) fn start(
        crowds: &[CrowdCommand],
        processes: &'a Processes,
        pids: &ServerPids,
        silence_max: Duration,
    ) -> Result<CrowdsInRun<'a>, RunError> {
        let (sender, lines) = channel();
        let idle = pids.servers.iter().map(|&pid| Snapshot::take(pid).ok()).collect();
        let mut running = Vec::new();
        for (place, crowd) in crowds.iter().enumerate() {
            let job = crowd.job.line().map_err(RunError::Job)?;
            let mut process = processes.start(&crowd.command, &crowd.knobs.launch.with_exact_timers())?;
            process.send_line(&job);
            process.forward_lines(place, sender.clone());
            running.push(RunningCrowd::new(crowd.clone(), process));
        }
        let control = Control {
            running,
            pids: pids.clone(),
            idle,
            before: None,
            after: None,
            failed: None,
            frequency: CpuFrequency::new(),
            sampler: None,
            observations: Vec::new(),
        };
        Ok(CrowdsInRun { control, lines, processes, silence_max })
    }

    /// Controls the crowds until `reached` holds, for `limit` at most. Returns false if all crowds have ended without it.
    pub(crate) fn advance(
        &mut self,
        observer: &mut dyn RunObserver,
        on_event: &mut dyn FnMut(&CrowdEvent),
        limit: Duration,
        reached: impl Fn(&[RunningCrowd]) -> bool,
    ) -> Result<bool, RunError> {
        let began = Instant::now();
        while self.control.running.iter().any(|crowd| crowd.stage < Stage::Ended) {
            if reached(&self.control.running) {
                // An interrupt ends crowds too.
                return if self.processes.interrupted() { Err(RunError::Interrupted) } else { Ok(true) };
            }
            let left = limit.saturating_sub(began.elapsed());
            let (place, line) = match self.lines.recv_timeout(left.min(self.silence_max)) {
                Ok(_) if left.is_zero() => return Err(RunError::NoPause { limit_s: limit.as_secs_f64() }),
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) if left < self.silence_max => {
                    return Err(RunError::NoPause { limit_s: limit.as_secs_f64() });
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(RunError::CrowdSilent { silent_s: self.silence_max.as_secs_f64() });
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            self.control.on_line(place, line, observer, on_event)?;
        }
        if self.processes.interrupted() {
            return Err(RunError::Interrupted);
        }
        Ok(false)
    }

    /// Writes a command to the standard input of each crowd.
    pub(crate) fn send_line(&mut self, line: &str) {
        self.control.running.iter_mut().for_each(|crowd| crowd.process.send_line(line));
    }

    /// Takes the counts of the pause that each crowd has reported, added up.
    pub(crate) fn take_pause(&mut self) -> PausedCounts {
        let reports = self.control.running.iter_mut().filter_map(|crowd| crowd.paused.take());
        reports.fold(PausedCounts::default(), |sum, report| PausedCounts {
            sent: sum.sent.saturating_add(report.sent),
            received: sum.received.saturating_add(report.received),
            active_ns: sum.active_ns.max(report.active_ns),
            latency_ns: [sum.latency_ns, report.latency_ns].concat(),
        })
    }

    /// Whether each crowd has reported a pause.
    pub(crate) fn all_paused(&self) -> bool {
        self.control.running.iter().all(|crowd| crowd.paused.is_some())
    }

    /// The processes on this machine.
    pub(crate) fn targets(&self) -> Targets {
        self.control.targets()
    }

    /// The result, after all crowds have ended.
    pub(crate) fn outcome(self) -> Result<CrowdsOutcome, RunError> {
        self.control.outcome()
    }
}

impl Control {
    fn on_line(
        &mut self,
        place: usize,
        line: Option<String>,
        observer: &mut dyn RunObserver,
        on_event: &mut dyn FnMut(&CrowdEvent),
    ) -> Result<(), RunError> {
        let is_progress = self.running[place].on_line(line);
        if is_progress && self.before.is_some() {
            self.on_progress(on_event);
        }
        if self.before.is_none() && self.failed.is_none() {
            if self.running[place].stage >= Stage::Done {
                self.stop_others(place);
            } else if self.running.iter().all(|crowd| crowd.stage == Stage::Joined) {
                self.open_gate(observer, on_event)?;
            }
        }
        if self.failed.is_none() && self.running[place].died() {
            self.stop_others(place);
        }
        if self.after.is_none() && self.running.iter().all(|crowd| crowd.stage >= Stage::Done) {
            self.finish(observer, on_event);
        } else if self.failed.is_some() && self.running[place].stage == Stage::Done {
            self.running[place].process.send_line("quit");
        }
        Ok(())
    }

    fn on_progress(&mut self, on_event: &mut dyn FnMut(&CrowdEvent)) {
        self.frequency.sample();
        on_event(&total_progress(&mut self.running));
        if let Some(cpus) = self.sampler.as_mut().and_then(CpuSampler::sample) {
            on_event(&cpus);
        }
    }

    /// The crowd at `failed` ended early, so all others end too: the end of standard input stops a crowd.
    fn stop_others(&mut self, failed: usize) {
        self.failed = Some(failed);
        for crowd in self.running.iter_mut().filter(|crowd| crowd.stage < Stage::Done) {
            crowd.process.close_stdin();
        }
    }

    fn open_gate(
        &mut self,
        observer: &mut dyn RunObserver,
        on_event: &mut dyn FnMut(&CrowdEvent),
    ) -> Result<(), RunError> {
        let join_s = self.running.iter().map(|crowd| crowd.join_s).fold(0.0, f64::max);
        on_event(&CrowdEvent::Joined { join_s });
        for crowd in self.running.iter_mut().filter(|crowd| crowd.is_local()) {
            let in_force = crowd.command.knobs.in_force(crowd.process.pid());
            crowd.vm = in_force.map_err(PlatformError::from)?;
        }
        observer.gate_opening(&self.targets());
        self.before = Some(self.counters());
        self.sampler = Some(CpuSampler::new(self.targets()));
        observer.operations_begin();
        self.running.iter_mut().for_each(|crowd| crowd.process.send_line("go"));
        Ok(())
    }

    /// All crowds are done: takes the counters while all threads still live, then ends the crowds.
    fn finish(&mut self, observer: &mut dyn RunObserver, on_event: &mut dyn FnMut(&CrowdEvent)) {
        observer.operations_end();
        // The machine first: to snapshot thousands of threads takes CPU time that must not count as other programs'.
        let machine = MachineTime::read();
        self.after = Some(Counters { machine, ..self.counters() });
        self.observations.extend(observer.deliveries_done());
        self.frequency.sample();
        self.running.iter_mut().for_each(|crowd| crowd.process.send_line("quit"));
        on_event(&CrowdEvent::Done);
    }

    /// The processes on this machine, for instruments.
    fn targets(&self) -> Targets {
        let local = self.running.iter().filter(|crowd| crowd.is_local());
        let (platforms, crowds): (Vec<_>, Vec<_>) = local.partition(|crowd| crowd.command.is_platform());
        let pid = |crowd: &RunningCrowd| crowd.process.pid();
        let servers = self.pids.servers.iter().chain(&self.pids.database).copied();
        let servers = servers.chain(platforms.into_iter().map(pid));
        Targets {
            servers: servers.flat_map(process_tree).collect(),
            crowds: crowds.into_iter().map(pid).collect(),
        }
    }

    fn counters(&self) -> Counters {
        let snapshot = |pid: u32| Snapshot::take(pid).ok();
        let is_platform = |crowd: &&RunningCrowd| crowd.command.is_platform();
        let platforms = self.running.iter().filter(is_platform).map(|crowd| crowd.process.pid());
        let of_crowd = |crowd: &RunningCrowd| {
            if crowd.command.is_platform() { None } else { snapshot(crowd.process.pid()) }
        };
        Counters {
            servers: self.pids.servers.iter().copied().chain(platforms).map(snapshot).collect(),
            database: self.pids.database.and_then(snapshot),
            crowds: self.running.iter().map(of_crowd).collect(),
            machine: MachineTime::read(),
            quota: CpuQuota::read(),
        }
    }

    fn outcome(mut self) -> Result<CrowdsOutcome, RunError> {
        let failed_first = self.failed.map(|place| self.running[place].command.name.clone());
        let gate_opened = self.before.is_some();
        let joining =
            self.before.as_ref().map(|gate| JoiningCost::new(&self.idle, &gate.servers, &gate.crowds));
        let span = self.before.zip(self.after);
        let mut outputs = Vec::new();
        for (place, crowd) in self.running.iter_mut().enumerate() {
            let of_crowd = span.as_ref().map(|(before, after)| (before.crowds[place], after.crowds[place]));
            outputs.push(crowd.output(gate_opened, failed_first.as_deref(), of_crowd)?);
        }
        let counts = outputs.iter().flat_map(|output| [output.result.sent, output.result.received]);
        let messages = sum("messages sent and deliveries", counts).map_err(MergeError::from)?;
        let server = span.as_ref().and_then(|(before, after)| server_usage(before, after, messages));
        let database = span
            .as_ref()
            .and_then(|(before, after)| Some(after.database?.since(&before.database?, messages)));
        let quota = span.as_ref().and_then(|(before, after)| before.quota.zip(after.quota));
        let throttled_s = quota.and_then(|(before, after)| after.throttled_s_since(&before));
        let machine = span.and_then(|(before, after)| before.machine.zip(after.machine));
        let steal_share = machine.and_then(|(before, after)| after.steal_share_since(&before));
        let local = self
            .running
            .iter()
            .zip(&outputs)
            .filter(|(crowd, _)| crowd.is_local() && !crowd.command.is_platform());
        // Whatever of it could not be measured would count as that of other programs.
        let of_database = self.pids.database.map(|_| database.as_ref());
        let own_s = cpu_s_of_all(
            local.map(|(_, output)| output.usage.as_ref()).chain([server.as_ref()]).chain(of_database),
        );
        let others_share =
            machine.zip(own_s).and_then(|((before, after), own_s)| after.others_share_since(&before, own_s));
        Ok(CrowdsOutcome {
            outputs,
            server,
            database,
            steal_share,
            others_share,
            throttled_s,
            observations: self.observations,
            joining,
            cpu_mhz: self.frequency.mean_mhz(),
        })
    }
}

/// CPU time of these processes together, s; `None` if one could not be measured.
fn cpu_s_of_all<'a>(usages: impl Iterator<Item = Option<&'a Usage>>) -> Option<f64> {
    usages.map(|usage| usage.map(|usage| usage.cpu_s)).sum()
}

/// Usage of all servers together; `None` without a server on this machine, or where one could not be measured.
fn server_usage(before: &Counters, after: &Counters, messages: u64) -> Option<Usage> {
    let spans = before.servers.iter().zip(&after.servers);
    let usage = |(before, after): (&Option<Snapshot>, &Option<Snapshot>)| {
        Some((*after)?.since(&(*before)?, messages))
    };
    let each: Option<Vec<Usage>> = spans.map(usage).collect();
    let each = each.filter(|each| !each.is_empty())?;
    Usage::together(&each.iter().collect::<Vec<_>>(), messages).ok()
}

#[cfg(test)]
mod tests {
    use klatch_platforms::ResolvedKnobs;
    use klatch_record::{
        ChatWorkload, CrowdInfo, CrowdJob, CrowdProgram, Endpoint, Load, ProtocolName, Workload,
    };

    use super::*;
    use crate::observer::NoObserver;

    #[test]
    fn cpu_time_that_nobody_measured_is_no_zero_in_a_sum() {
        let one = klatch_record::samples::usage(1.5);
        assert_eq!(cpu_s_of_all([Some(&one), Some(&one)].into_iter()), Some(3.0));
        assert_eq!(cpu_s_of_all([Some(&one), None].into_iter()), None);
    }

    /// A crowd that is a shell script.
    fn crowd(script: &str) -> CrowdCommand {
        let command = ["sh", "-c", script].map(str::to_owned).into();
        CrowdCommand {
            info: CrowdInfo {
                kind: CrowdProgram::Native,
                knobs: [].into(),
                command: Vec::new(),
                runtime: None,
            },
            command,
            job: CrowdJob {
                workload: Workload::Chat(ChatWorkload {
                    rooms: 1,
                    users: 2,
                    count: 1,
                    ..ChatWorkload::default()
                }),
                load: Load::Server(Endpoint::plain(ProtocolName::Irc, "127.0.0.1", 1)),
                login: None,
                request: None,
                loops: Some(1),
                timeout_s: 60.0,
                connect_timeout_s: 10.0,
                seed: 1,
                ledger: None,
            },
            knobs: ResolvedKnobs::for_native_crowd(&[]).unwrap(),
            host: None,
            name: "room 1".into(),
        }
    }

    #[test]
    fn a_joining_user_restarts_the_silence_timeout() {
        const JOINING: &str = r#"echo '{"event":"joining","joined":1,"users":2}'"#;
        let (step, silence_max) = (Duration::from_millis(300), Duration::from_secs(1));
        let crowd = crowd(&format!("for i in 1 2 3 4; do sleep {}; {JOINING}; done; exec sleep 60", 0.3));
        let began = Instant::now();
        let outcome = run_crowds(
            &[crowd],
            &Processes::default(),
            &ServerPids::default(),
            silence_max,
            &mut NoObserver,
            |_| {},
        );
        assert!(matches!(outcome, Err(RunError::CrowdSilent { silent_s: 1.0 })), "{:?}", outcome.err());
        assert!(began.elapsed() >= 4 * step + silence_max, "{:?}", began.elapsed());
    }
}
