//! Supervises a crowd from the first connection to the last delivery: opens the gate, reports progress and detects stalls.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use klatch_record::{CrowdEvent, Failure, FailureKind, Gate};

use crate::gaps::{Gaps, TICK};
use crate::options::{OnEvent, Options};
use crate::pauses::Pauses;
use crate::shared::{ControlMessage, Shared};

/// How often progress is reported.
const PROGRESS_PERIOD: Duration = Duration::from_millis(500);
/// Time by which the client of a gate may exceed its time limits: it announces that it leaves, and is not always scheduled.
const GATE_GRACE: Duration = Duration::from_secs(10);

/// Supervises the workers from the first connection to the last delivery.
pub(crate) struct Supervisor<'a, G> {
    pub(crate) options: &'a Options,
    pub(crate) shared: &'a Shared,
    pub(crate) inbox: Receiver<ControlMessage>,
    pub(crate) on_event: OnEvent<'a>,
    /// Starts the client that waits at the gate.
    pub(crate) start_gate_client: G,
    pub(crate) workers: usize,
    pub(crate) pauses: Pauses,
    pub(crate) gaps: Gaps,
    /// When the users stop, if that is a moment.
    pub(crate) stops_at: Option<Instant>,
}

/// What a supervisor saw of a crowd.
pub(crate) struct Supervised {
    /// Time that joining took, seconds.
    pub(crate) join_s: f64,
    /// Times in which the crowd did not run, after the gate opened.
    pub(crate) gaps: Gaps,
    /// Why the crowd gave up, if it did.
    pub(crate) failure: Option<Failure>,
}

impl<G: Fn(&Gate) -> std::io::Result<()>> Supervisor<'_, G> {
    /// Returns what it saw, with the failure if there was one.
    pub(crate) fn run(mut self) -> Supervised {
        let mut join_s = 0.0;
        let failure = self.join_and_talk(&mut join_s).err();
        (self.on_event)(&CrowdEvent::Done);
        let stopped = failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Stopped);
        if self.options.steered && !stopped {
            self.wait_for_quit();
        }
        Supervised { join_s, gaps: self.gaps, failure }
    }

    fn join_and_talk(&mut self, join_s: &mut f64) -> Result<(), Failure> {
        let started = Instant::now();
        let users = self.options.workload.connections();
        let mut reported = 0;
        self.wait_for_workers(
            |message| matches!(message, ControlMessage::Joined),
            |supervisor, (joined, ..)| {
                if joined > reported {
                    reported = joined;
                    (supervisor.on_event)(&CrowdEvent::Joining { joined, users });
                }
                joined
            },
        )?;
        *join_s = started.elapsed().as_secs_f64();
        (self.on_event)(&CrowdEvent::Joined { join_s: *join_s });
        if let Some(gate) = &self.options.gate {
            (self.start_gate_client)(gate)
                .map_err(|error| stopped(format!("cannot wait at the gate: {error}")))?;
        }
        if self.options.steered || self.options.gate.is_some() {
            self.wait_for_go()?;
        }
        (self.on_event)(&CrowdEvent::Open);
        self.shared.open_gate();
        let duration_s = self.options.workload.chat().filter(|chat| chat.stops_at_a_moment());
        let duration_s = duration_s.and_then(|chat| chat.duration_s);
        self.stops_at = duration_s.map(|duration_s| Instant::now() + Duration::from_secs_f64(duration_s));
        self.wait_for_workers(
            |message| matches!(message, ControlMessage::Complete),
            |supervisor, (_, sent, received)| {
                let latency_ns = supervisor.shared.take_new_latencies().into_iter().collect();
                let expected = supervisor.messages_expected(sent + received);
                (supervisor.on_event)(&CrowdEvent::Progress { sent, received, expected, latency_ns });
                // In a pause nothing is expected to move, so the time is counted as progress.
                sent + received + supervisor.pauses.progress()
            },
        )
    }

    /// Messages at the end. A run that ends by time is expected to go on as fast as up to now, with `done` messages.
    fn messages_expected(&self, done: u64) -> u64 {
        let by_time = || {
            let elapsed_s = self.shared.now_ns().saturating_sub(self.shared.gate_ns()) as f64 / 1e9;
            let duration_s = self.options.workload.duration_s().unwrap_or(elapsed_s);
            (done as f64 * (duration_s / elapsed_s.max(1e-9)).max(1.0)) as u64
        };
        self.options.workload.messages_expected().unwrap_or_else(by_time)
    }

    /// Waits for one matching message from each worker. Fails when `progress`, a sum over the workers, stops changing.
    fn wait_for_workers(
        &mut self,
        matches: impl Fn(&ControlMessage) -> bool,
        mut progress: impl FnMut(&mut Self, (u64, u64, u64)) -> u64,
    ) -> Result<(), Failure> {
        let mut missing = self.workers;
        let mut next_report = Instant::now() + PROGRESS_PERIOD;
        let (mut last_sum, mut moved_at) = (0, Instant::now());
        while missing > 0 {
            let began = Instant::now();
            if self.stops_at.take_if(|at| *at <= began).is_some() {
                self.pauses.on_message(ControlMessage::Finish, self.shared, self.workers);
            }
            let wake_at = self.stops_at.map_or(next_report, |at| at.min(next_report));
            let due = wake_at.saturating_duration_since(began).min(TICK);
            let received = self.inbox.recv_timeout(due);
            if let Some(gap) = Gaps::gap(due, began.elapsed()) {
                // The server had no chance to make progress that the crowd could have seen.
                moved_at += gap;
                self.record_gap(gap);
            }
            match received {
                Ok(ControlMessage::Failed(failure)) => return Err(failure),
                Ok(message) => {
                    missing -= usize::from(matches(&message));
                    if let Some(counts) = self.pauses.on_message(message, self.shared, self.workers) {
                        (self.on_event)(&CrowdEvent::Paused(Box::new(counts)));
                    }
                    if self.shared.finished() {
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < next_report => {}
                Err(RecvTimeoutError::Timeout) => {
                    next_report += PROGRESS_PERIOD;
                    let sum = progress(self, self.shared.sums());
                    if sum != last_sum {
                        (last_sum, moved_at) = (sum, Instant::now());
                    } else if moved_at.elapsed() >= self.options.timeout {
                        return Err(self.stalled());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(workers_died()),
            }
        }
        Ok(())
    }

    /// Records that the crowd did not run for so long, up to now. In a pause, and before the gate opens, it has nothing to do.
    fn record_gap(&mut self, gap: Duration) {
        let gate_ns = self.shared.gate_ns();
        if gate_ns > 0 && !self.pauses.is_paused() {
            self.gaps.add(self.shared.now_ns().saturating_sub(gate_ns), gap);
        }
    }

    fn stalled(&self) -> Failure {
        let mut detail = format!("no progress for {} s", self.options.timeout.as_secs_f64());
        if self.shared.gate_ns() == 0 {
            let (connections, (joined, ..)) = (self.options.workload.connections(), self.shared.sums());
            detail += &format!(
                ": {joined} of {connections} connections have joined; the server accepts and does not answer, or it waits for another protocol"
            );
        }
        Failure { kind: FailureKind::Timeout, connection: None, room: None, user: None, detail }
    }

    /// Waits for the start: from the parent, whose end stops the crowd, or from the gate, whose client has a time limit of its own. A
    /// client that is not back by then never will be.
    fn wait_for_go(&mut self) -> Result<(), Failure> {
        let Options { gate, gate_timeout, connect_timeout, .. } = self.options;
        let limit = gate.as_ref().map(|_| *gate_timeout + *connect_timeout + GATE_GRACE);
        let started = Instant::now();
        loop {
            let received = match limit {
                Some(limit) => self.inbox.recv_timeout(limit.saturating_sub(started.elapsed())),
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(ControlMessage::Go) => return Ok(()),
                Ok(ControlMessage::Failed(failure)) => return Err(failure),
                Ok(ControlMessage::ShardsAtGate(here)) => {
                    let shards = gate.as_ref().map_or(0, |gate| gate.shards);
                    (self.on_event)(&CrowdEvent::Gate { here, shards });
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Err(self.gate_is_late(started.elapsed())),
                Err(RecvTimeoutError::Disconnected) => return Err(workers_died()),
            }
        }
    }

    fn gate_is_late(&self, waited: Duration) -> Failure {
        let detail = format!("the gate: no answer for {} s", waited.as_secs());
        Failure { kind: FailureKind::Timeout, connection: None, room: None, user: None, detail }
    }

    /// Waits for `quit` or a stop. Broken connections no longer matter.
    fn wait_for_quit(&mut self) {
        let ends = |message: ControlMessage| match message {
            ControlMessage::Quit => true,
            ControlMessage::Failed(failure) => failure.kind == FailureKind::Stopped,
            _ => false,
        };
        while self.inbox.recv().is_ok_and(|message| !ends(message)) {}
    }
}

fn workers_died() -> Failure {
    stopped("the threads of the crowd ended by themselves".to_owned())
}

fn stopped(detail: String) -> Failure {
    Failure { kind: FailureKind::Stopped, connection: None, room: None, user: None, detail }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::Ordering;
    use std::sync::mpsc::channel;

    use klatch_record::{ChatWorkload, Pacing, Workload};

    use super::*;
    use crate::options::Threads;
    use crate::shared::Wake;

    /// Joining takes longer than one progress period; the report of three users triggers the last one.
    #[test]
    fn joined_users_are_reported_while_others_join() {
        let pacing = Pacing::Turns;
        let options = Options {
            workload: Workload::Chat(ChatWorkload {
                rooms: 1,
                users: 4,
                count: 1,
                size_bytes: 60,
                start: 1,
                pacing,
                pause_s: 0.0,
                churn_per_user_per_s: 0.0,
                duration_s: None,
                stages: None,
                arrivals: klatch_record::Arrivals::Even,
                mqtt: klatch_record::MqttSettings::default(),
            }),
            threads: Threads::Loops(1),
            timeout: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(1),
            seed: 1,
            gate: None,
            gate_timeout: Duration::from_secs(1),
            ledger: None,
            login: None,
            request: None,
            steered: false,
        };
        let shared = Shared::new(vec![Wake::Threads(Mutex::default())]);
        shared.workers[0].joined.store(3, Ordering::Relaxed);
        let (sender, inbox) = channel();
        let mut on_event = |event: &CrowdEvent| {
            if *event == (CrowdEvent::Joining { joined: 3, users: 4 }) {
                sender.send(ControlMessage::Joined).unwrap();
                sender.send(ControlMessage::Complete).unwrap();
            }
        };
        let supervisor = Supervisor {
            options: &options,
            shared: &shared,
            inbox,
            on_event: &mut on_event,
            start_gate_client: |_: &Gate| Ok(()),
            workers: 1,
            pauses: Pauses::default(),
            gaps: Gaps::default(),
            stops_at: None,
        };
        assert_eq!(supervisor.run().failure, None);
    }
}
