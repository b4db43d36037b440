//! Whole rooms without any I/O: processes received bytes, queues the messages that are due, and checks every delivery.

use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError};

use klatch_chat::text::Header;
use klatch_record::{Failure, FailureKind, Fault, FaultKind, Pacing, Workload};

use crate::account::DeliveryOrder;
use crate::pace::Turn;
use crate::protocol::{Protocol, ServerEvent, Speaker, UserId};
use crate::shared::{ControlMessage, Phase, Shared, WorkerPause};
use crate::stats::CrowdStats;
use crate::timeline::add_to;
use crate::user::{OUT_MAX, User};

pub(crate) struct Rooms<P> {
    pub(crate) number: usize,
    pub(crate) shared: Arc<Shared>,
    control: Sender<ControlMessage>,
    pub(crate) workload: Workload,
    /// In the order of the rooms.
    pub(crate) users: Vec<User<P>>,
    pub(crate) stats: CrowdStats,
    /// The memory of the last output that was sent. The next user to send takes it over, so silent users own none.
    pub(crate) spare: Vec<u8>,
    /// Users that have joined.
    pub(crate) joined: usize,
    pub(crate) state: RoomsState,
    /// Pauses begun so far.
    pub(crate) pauses: u32,
}

/// The progress of one worker's rooms.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoomsState {
    Running,
    /// Nothing more is sent; some deliveries are missing.
    Pausing,
    /// Nothing more is sent, and nothing is in flight.
    Paused,
    /// Everything is sent and delivered.
    Complete,
    /// The users have quit. Only the rest of their input is still read.
    Leaving,
}

impl<P: Protocol> Rooms<P> {
    pub(crate) fn new(
        number: usize,
        shared: Arc<Shared>,
        control: Sender<ControlMessage>,
        workload: Workload,
        users: Vec<User<P>>,
    ) -> Rooms<P> {
        let (stats, spare, state) = (CrowdStats::new(), Vec::new(), RoomsState::Running);
        Rooms { number, shared, control, workload, users, stats, spare, joined: 0, state, pauses: 0 }
    }

    /// Processes bytes that a user received. Returns the number of bytes consumed; the rest is an incomplete line.
    pub(crate) fn on_bytes(&mut self, index: usize, input: &[u8], now_ns: u64) -> usize {
        let mut rest = input;
        let mut answer = std::mem::take(&mut self.users[index].out);
        while let Some((taken, event)) = self.users[index].protocol.parse(rest, &mut answer) {
            self.on_event(index, event, now_ns);
            rest = &rest[taken..];
        }
        self.users[index].out = answer;
        input.len() - rest.len()
    }

    fn on_event(&mut self, index: usize, event: ServerEvent<'_>, now_ns: u64) {
        let UserId { room, user, .. } = self.users[index].id;
        match event {
            ServerEvent::Message(Speaker::Member(speaker), text) => {
                self.on_delivery(index, Some(speaker), text, now_ns)
            }
            ServerEvent::Message(Speaker::Unknown, text) => self.on_delivery(index, None, text, now_ns),
            ServerEvent::Message(Speaker::Stranger(nick), _) => {
                self.stats.record_stranger(room, nick, u64::from(user == 0))
            }
            ServerEvent::Stranger(nick) => self.stats.record_stranger(room, nick, 0),
            ServerEvent::Joined if !self.users[index].joined => {
                self.users[index].joined = true;
                self.joined += 1;
                if self.joined == self.users.len() {
                    self.send_control(ControlMessage::Joined);
                }
            }
            ServerEvent::Refused(line) | ServerEvent::Closing(line) if self.state != RoomsState::Leaving => {
                let kind = match (self.users[index].joined, event) {
                    (false, _) => FailureKind::Join,
                    (true, ServerEvent::Closing(_)) => FailureKind::Disconnect,
                    (true, _) => FailureKind::Refused,
                };
                self.fail(
                    Some(index),
                    kind,
                    format!("the server answered: {}", String::from_utf8_lossy(line)),
                );
            }
            ServerEvent::Joined
            | ServerEvent::Refused(_)
            | ServerEvent::Closing(_)
            | ServerEvent::Ignored => {}
        }
    }

    /// Checks one delivery. `reported` is the speaker that the protocol names, if it names one.
    fn on_delivery(&mut self, index: usize, reported: Option<u32>, text: &[u8], now_ns: u64) {
        let listener = &mut self.users[index];
        let UserId { room, user, users } = listener.id;
        let fault = |kind, speaker, sequence, detail: Option<&str>| {
            let (user, detail) = (Some(user), detail.map(str::to_owned));
            Fault { kind, room, user, speaker, sequence, count: 1, detail }
        };
        let possible = |header: &Header| {
            let size_is_right = text.len() == self.workload.size_bytes as usize;
            let speaker_is_right =
                header.user < users && reported.is_none_or(|reported| header.user == reported);
            size_is_right && speaker_is_right && header.sequence < self.workload.count
        };
        let Some(header) = Header::read(room, text).filter(possible) else {
            let shown: String = String::from_utf8_lossy(text).chars().take(80).collect();
            return self.stats.record_fault(fault(
                FaultKind::Corrupted,
                reported,
                None,
                Some(&format!("got: {shown}")),
            ));
        };
        let (speaker, sequence) = (Some(header.user), Some(header.sequence));
        if P::ECHOES && header.user == user {
            return;
        }
        match listener.account.record(header.user, header.sequence) {
            DeliveryOrder::InOrder => {
                self.stats.record_delivery(self.shared.gate_ns(), now_ns, header.time_ns)
            }
            DeliveryOrder::Late => {
                self.stats.record_delivery(self.shared.gate_ns(), now_ns, header.time_ns);
                self.stats.record_fault(fault(FaultKind::Reordered, speaker, sequence, None));
            }
            DeliveryOrder::Duplicate => {
                let echo = (header.user == user).then_some("delivered to its own speaker");
                self.stats.record_fault(fault(FaultKind::Duplicated, speaker, sequence, echo));
            }
        }
        match self.state {
            RoomsState::Running if self.complete() => {
                self.state = RoomsState::Complete;
                self.send_control(ControlMessage::Complete);
            }
            RoomsState::Pausing if self.all_delivered() => self.report_pause(),
            _ => {}
        }
    }

    /// What a user does at `now_ns` under its pacing.
    pub(crate) fn turn(&self, index: usize, now_ns: u64) -> Turn {
        let (gate_ns, user) = (self.shared.gate_ns(), &self.users[index]);
        if gate_ns == 0 || self.state != RoomsState::Running {
            return Turn::WaitForOthers;
        }
        user.pace.turn(&self.workload, now_ns, gate_ns, user.account.received, user.account.rounds())
    }

    /// Appends the messages that are due to a user's output. Returns the time of the next one if only the clock decides.
    pub(crate) fn queue_messages(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        let size = self.workload.size_bytes as usize;
        let scheduled = matches!(self.workload.pacing, Pacing::Rate { .. });
        while self.users[index].out.len() < OUT_MAX {
            let meant_ns = match self.turn(index, now_ns) {
                Turn::Send(meant_ns) => meant_ns,
                Turn::WaitUntil(moment_ns) => return Some(moment_ns),
                Turn::WaitForOthers => break,
            };
            let user = &mut self.users[index];
            if user.out.capacity() == 0 {
                user.out = std::mem::take(&mut self.spare);
            }
            let header = Header { user: user.id.user, sequence: user.pace.sent, time_ns: meant_ns };
            user.protocol.write_message(&mut user.out, size, |out| header.write(user.id.room, size, out));
            user.pace.record_sent(&self.workload, now_ns);
            self.stats.sent += 1;
            if scheduled {
                self.stats.record_lag(now_ns - meant_ns);
            }
        }
        None
    }

    pub(crate) fn complete(&self) -> bool {
        let rooms = (self.users.len() / self.workload.users as usize) as u64;
        let sent = rooms * u64::from(self.workload.users) * u64::from(self.workload.count);
        (self.stats.sent, self.stats.received) == (sent, sent * u64::from(self.workload.users - 1))
    }

    fn all_delivered(&self) -> bool {
        self.stats.received == self.stats.sent * u64::from(self.workload.users - 1)
    }

    /// Follows the phase of the crowd into or out of a pause. Returns whether the users may send again.
    pub(crate) fn follow_phase(&mut self) -> bool {
        match self.shared.phase() {
            Phase::Pause if self.pauses != self.shared.pauses() => {
                self.pauses = self.shared.pauses();
                self.state = match self.state {
                    RoomsState::Running | RoomsState::Paused => RoomsState::Pausing,
                    other => other,
                };
                if self.all_delivered() {
                    self.report_pause();
                }
                false
            }
            Phase::Talk if self.state == RoomsState::Paused => {
                self.state = RoomsState::Running;
                true
            }
            _ => false,
        }
    }

    fn report_pause(&mut self) {
        if self.state == RoomsState::Pausing {
            self.state = RoomsState::Paused;
        }
        let CrowdStats { sent, received, last_ns, .. } = self.stats;
        let latency_ns = self.stats.take_since_pause();
        self.send_control(ControlMessage::Paused(WorkerPause { sent, received, last_ns, latency_ns }));
    }

    /// Reports a failure. With an `index`, that user's connection is dropped as well.
    pub(crate) fn fail(&mut self, index: Option<usize>, kind: FailureKind, detail: String) {
        if let Some(index) = index {
            self.users[index].stream = None;
        }
        if self.state == RoomsState::Leaving {
            return;
        }
        let id = index.map(|index| self.users[index].id);
        let (room, user) = (id.map(|id| id.room), id.map(|id| id.user));
        self.send_control(ControlMessage::Failed(Failure { kind, room, user, detail }));
    }

    fn send_control(&self, message: ControlMessage) {
        // The receiver is gone only when the crowd has ended.
        let _ = self.control.send(message);
    }

    /// Publishes counters and new latencies for the supervisor.
    pub(crate) fn publish(&mut self) {
        let worker = &self.shared.workers[self.number];
        worker.joined.store(self.joined as u64, Ordering::Relaxed);
        worker.sent.store(self.stats.sent, Ordering::Relaxed);
        worker.received.store(self.stats.received, Ordering::Relaxed);
        if let Some(new_latencies) = self.stats.take_new_latencies() {
            add_to(&mut worker.new_latencies.lock().unwrap_or_else(PoisonError::into_inner), new_latencies);
        }
    }

    /// Records the messages that were not sent or did not arrive.
    pub(crate) fn record_missing(&mut self) {
        if self.complete() {
            return;
        }
        for room in self.users.chunks(self.workload.users as usize) {
            let sent: Vec<u32> = room.iter().map(|user| user.pace.sent).collect();
            for user in room {
                let UserId { room, user: speaker, .. } = user.id;
                user.account.lost(room, &sent).into_iter().for_each(|fault| self.stats.record_fault(fault));
                let unsent = u64::from(self.workload.count - user.pace.sent);
                if unsent > 0 && !self.shared.finished() {
                    let (speaker, sequence) = (Some(speaker), Some(user.pace.sent));
                    let kind = FaultKind::Unsent;
                    self.stats.record_fault(Fault {
                        kind,
                        room,
                        user: None,
                        speaker,
                        sequence,
                        count: unsent,
                        detail: None,
                    });
                }
            }
        }
    }
}
