//! Watches a crowd from the first connect to the last delivery: opens the gate, tells of progress, notices what stands still.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use klatch_record::{CrowdEvent, Failure, FailureKind, Gate};

use crate::options::Options;
use crate::shared::{Notice, Shared};

/// How often progress is told.
const PROGRESS_PERIOD: Duration = Duration::from_millis(500);

/// Watches the parts from the first connect to the last delivery.
pub(crate) struct Watch<'a, F, G> {
    pub(crate) options: &'a Options,
    pub(crate) shared: &'a Shared,
    pub(crate) inbox: Receiver<Notice>,
    pub(crate) tell: F,
    /// Sends somebody to the gate.
    pub(crate) to_gate: G,
    pub(crate) parts: usize,
}

impl<F: FnMut(&CrowdEvent), G: Fn(&Gate) -> std::io::Result<()>> Watch<'_, F, G> {
    /// Gives the time it took to join, and why it ended if not well.
    pub(crate) fn until_done(mut self) -> (f64, Option<Failure>) {
        let mut join_s = 0.0;
        let failure = self.talk(&mut join_s).err();
        (self.tell)(&CrowdEvent::Done);
        let stopped = failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Stopped);
        if self.options.steered && !stopped {
            self.until_quit();
        }
        (join_s, failure)
    }

    fn talk(&mut self, join_s: &mut f64) -> Result<(), Failure> {
        let started = Instant::now();
        let workload = &self.options.workload;
        let expected = workload.sent_expected() + workload.received_expected();
        let users = workload.connections();
        let mut told = 0;
        self.until_all(
            |notice| matches!(notice, Notice::Joined),
            |watch, (joined, ..)| {
                if joined > told {
                    told = joined;
                    (watch.tell)(&CrowdEvent::Joining { joined, users });
                }
                joined
            },
        )?;
        *join_s = started.elapsed().as_secs_f64();
        (self.tell)(&CrowdEvent::Joined { join_s: *join_s });
        if let Some(gate) = &self.options.gate {
            (self.to_gate)(gate).map_err(|error| stopped(format!("cannot wait at the gate: {error}")))?;
        }
        if self.options.steered || self.options.gate.is_some() {
            self.until_go()?;
        }
        (self.tell)(&CrowdEvent::Open);
        self.shared.open_gate();
        self.until_all(
            |notice| matches!(notice, Notice::Complete),
            |watch, (_, sent, received)| {
                let latency_ns = watch.shared.take_fresh().into_iter().collect();
                (watch.tell)(&CrowdEvent::Progress { sent, received, expected, latency_ns });
                sent + received
            },
        )
    }

    /// Waits until each part has sent the notice; fails if the `progress` made of the parts' sums stands still.
    fn until_all(
        &mut self,
        wanted: impl Fn(&Notice) -> bool,
        mut progress: impl FnMut(&mut Self, (u64, u64, u64)) -> u64,
    ) -> Result<(), Failure> {
        let mut missing = self.parts;
        let mut next_look = Instant::now() + PROGRESS_PERIOD;
        let (mut reached, mut moved_at) = (0, Instant::now());
        while missing > 0 {
            match self.inbox.recv_timeout(next_look.saturating_duration_since(Instant::now())) {
                Ok(Notice::Failed(failure)) => return Err(failure),
                Ok(notice) => missing -= usize::from(wanted(&notice)),
                Err(RecvTimeoutError::Timeout) => {
                    next_look += PROGRESS_PERIOD;
                    let now_reached = progress(self, self.shared.sums());
                    if now_reached != reached {
                        (reached, moved_at) = (now_reached, Instant::now());
                    } else if moved_at.elapsed() >= self.options.timeout {
                        return Err(self.stalled());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(died()),
            }
        }
        Ok(())
    }

    fn stalled(&self) -> Failure {
        let detail = format!("nothing came for {} s", self.options.timeout.as_secs_f64());
        Failure { kind: FailureKind::Timeout, room: None, user: None, detail }
    }

    fn until_go(&mut self) -> Result<(), Failure> {
        loop {
            match self.inbox.recv() {
                Ok(Notice::Go) => return Ok(()),
                Ok(Notice::Failed(failure)) => return Err(failure),
                Ok(Notice::Here(here)) => {
                    let shards = self.options.gate.as_ref().map_or(0, |gate| gate.shards);
                    (self.tell)(&CrowdEvent::Gate { here, shards });
                }
                Ok(_) => {}
                Err(_) => return Err(died()),
            }
        }
    }

    /// Connections may break now, but not the word of whoever steers.
    fn until_quit(&mut self) {
        let ends = |notice: Notice| match notice {
            Notice::Quit => true,
            Notice::Failed(failure) => failure.kind == FailureKind::Stopped,
            _ => false,
        };
        while self.inbox.recv().is_ok_and(|notice| !ends(notice)) {}
    }
}

fn died() -> Failure {
    stopped("the threads of the crowd ended by themselves".to_owned())
}

fn stopped(detail: String) -> Failure {
    Failure { kind: FailureKind::Stopped, room: None, user: None, detail }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::Ordering;
    use std::sync::mpsc::channel;

    use klatch_record::{Pacing, ProtocolName, Workload};

    use super::*;
    use crate::options::Threads;
    use crate::shared::Wake;

    /// Only the report lets the last user in.
    #[test]
    fn users_who_have_joined_are_reported_while_others_join() {
        let pacing = Pacing::Turns;
        let options = Options {
            host: String::new(),
            port: 1,
            protocol: ProtocolName::Irc,
            workload: Workload {
                rooms: 1,
                users: 4,
                count: 1,
                size_bytes: 60,
                start: 1,
                pacing,
                pause_s: 0.0,
            },
            threads: Threads::Loops(1),
            timeout: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(1),
            seed: 1,
            gate: None,
            gate_timeout: Duration::from_secs(1),
            steered: false,
        };
        let shared = Shared::new(vec![Wake::Threads(Mutex::default())]);
        shared.posts[0].joined.store(3, Ordering::Relaxed);
        let (sender, inbox) = channel();
        let tell = |event: &CrowdEvent| {
            if *event == (CrowdEvent::Joining { joined: 3, users: 4 }) {
                sender.send(Notice::Joined).unwrap();
                sender.send(Notice::Complete).unwrap();
            }
        };
        let watch =
            Watch { options: &options, shared: &shared, inbox, tell, to_gate: |_: &Gate| Ok(()), parts: 1 };
        assert_eq!(watch.until_done().1, None);
    }
}
