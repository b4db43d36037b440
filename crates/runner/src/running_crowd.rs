//! One crowd process while it runs: its state, and its output at the end.

use klatch_host::machine::Snapshot;
use klatch_platforms::Process;
use klatch_record::{
    CrowdEvent, CrowdResult, CrowdSelfReport, FailureKind, PausedCounts, Results, Usage, VmInForce,
};

use crate::crowd_command::CrowdCommand;
use crate::error::RunError;

/// What one crowd produced.
#[derive(Default)]
pub(crate) struct CrowdOutput {
    pub(crate) result: CrowdResult,
    /// How it ended, if without a result.
    pub(crate) died: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// What its virtual machine says of itself, if it is a Java on this machine.
    pub(crate) vm: Option<VmInForce>,
    /// Its own report, which only crowds of Klatch's Rust program print.
    pub(crate) report: Option<CrowdSelfReport>,
}

/// The stages of a crowd, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Stage {
    Joining,
    /// All users have joined; it waits for `go`.
    Joined,
    /// It waits for `quit`.
    Done,
    /// Its standard output is closed.
    Ended,
}

pub(crate) struct RunningCrowd {
    pub(crate) command: CrowdCommand,
    pub(crate) process: Process,
    pub(crate) stage: Stage,
    pub(crate) join_s: f64,
    /// Messages sent, deliveries received, and the number of both expected in all.
    pub(crate) progress: [u64; 3],
    /// Latency counts of the last progress event that have not been passed on.
    pub(crate) latency_ns: Vec<(u64, u64)>,
    /// The counts of a pause that have not been taken.
    pub(crate) paused: Option<PausedCounts>,
    /// What its virtual machine says of itself, if it is a Java on this machine.
    pub(crate) vm: Option<VmInForce>,
    report: Option<CrowdSelfReport>,
    result: Option<CrowdResult>,
}

impl RunningCrowd {
    pub(crate) fn new(command: CrowdCommand, process: Process) -> RunningCrowd {
        let expected = command.job.workload.messages_expected().unwrap_or(0);
        RunningCrowd {
            command,
            process,
            stage: Stage::Joining,
            join_s: 0.0,
            progress: [0, 0, expected],
            latency_ns: Vec::new(),
            paused: None,
            vm: None,
            report: None,
            result: None,
        }
    }

    /// Processes one line of its output, or the end of its output (`None`). Returns whether the line reports progress.
    pub(crate) fn on_line(&mut self, line: Option<String>) -> bool {
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
            Ok(CrowdEvent::Paused(counts)) => self.paused = Some(*counts),
            Ok(CrowdEvent::Done) => self.stage = Stage::Done,
            Ok(CrowdEvent::SelfReport(report)) => self.report = Some(*report),
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

    /// Whether it ended without a result.
    pub(crate) fn died(&self) -> bool {
        self.stage == Stage::Ended && self.result.is_none()
    }

    /// Whether it runs on this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.command.host.is_none()
    }

    /// Its output after it has ended. `failed_first` names the crowd that ended first, without a start or
    /// a result, if one did; `span` holds
    /// the snapshots of its process before and after the run.
    pub(crate) fn output(
        &mut self,
        gate_opened: bool,
        failed_first: Option<&str>,
        span: Option<(Option<Snapshot>, Option<Snapshot>)>,
    ) -> Result<CrowdOutput, RunError> {
        let name = &self.command.name;
        let Some(mut result) = self.result.take() else {
            let stderr = self.process.final_stderr_tail();
            let stderr = if stderr.is_empty() { "nothing".to_owned() } else { stderr };
            if !gate_opened {
                return Err(RunError::CrowdDied { name: name.clone(), stderr });
            }
            let died = Some(format!("the crowd ended without a result; on standard error: {stderr}"));
            let results = Results::none(self.command.job.workload.kind());
            let result = CrowdResult { results, ..CrowdResult::default() };
            return Ok(CrowdOutput { result, died, vm: self.vm.take(), ..CrowdOutput::default() });
        };
        if let Some(failure) = result.failure.as_mut().filter(|failure| failure.kind == FailureKind::Stopped)
            && let Some(other) = failed_first
        {
            let how = if gate_opened { "ended without a result" } else { "could not begin" };
            failure.detail = format!("it was stopped, because {other} {how}");
        }
        let messages = result.sent.saturating_add(result.received);
        let report = self.report.take();
        let usage = match (self.is_local(), span) {
            // The local process of a remote crowd is only ssh.
            (false, _) => report.as_ref().and_then(|report| report.usage.clone()),
            (true, Some((Some(before), Some(after)))) => Some(after.since(&before, messages)),
            (true, _) => None,
        };
        Ok(CrowdOutput { result, died: None, usage, vm: self.vm.take(), report })
    }
}

/// The progress of all crowds, with the latency counts that have not been passed on.
pub(crate) fn total_progress(running: &mut [RunningCrowd]) -> CrowdEvent {
    let latency_ns = running.iter_mut().flat_map(|crowd| std::mem::take(&mut crowd.latency_ns)).collect();
    let sum = |count| running.iter().fold(0_u64, |sum, crowd| sum.saturating_add(crowd.progress[count]));
    CrowdEvent::Progress { sent: sum(0), received: sum(1), expected: sum(2), latency_ns }
}
