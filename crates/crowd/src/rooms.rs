//! Whole rooms without any I/O: processes received bytes, queues the messages that are due, and checks every delivery.

use klatch_chat::text::Header;
use klatch_record::{ChatWorkload, Failure, FailureKind, Fault, FaultKind, Pacing};

use crate::account::{Account, DeliveryOrder};
use crate::link::{Link, OUT_MAX};
use crate::pace::{Pace, Turn};
use crate::parties::Parties;
use crate::protocol::{Protocol, ServerEvent, Speaker, UserId};
use crate::worker::{Worker, WorkerState};

pub(crate) struct Rooms<P> {
    worker: Worker,
    workload: ChatWorkload,
    /// In the order of the rooms.
    pub(crate) users: Vec<User<P>>,
}

/// One user: its connection, its account and its pace.
pub(crate) struct User<P> {
    id: UserId,
    protocol: P,
    account: Account,
    pace: Pace,
    pub(crate) link: Link,
}

impl<P: Protocol> User<P> {
    pub(crate) fn new(id: UserId, pace: Pace) -> User<P> {
        User {
            id,
            protocol: P::new(id),
            account: Account::new(id.user, id.users),
            pace,
            link: Link::default(),
        }
    }
}

impl<P: Protocol> Rooms<P> {
    pub(crate) fn new(worker: Worker, workload: ChatWorkload, users: Vec<User<P>>) -> Rooms<P> {
        Rooms { worker, workload, users }
    }

    fn on_event(&mut self, index: usize, event: ServerEvent<'_>, now_ns: u64) {
        let UserId { room, user, .. } = self.users[index].id;
        match event {
            ServerEvent::Message(Speaker::Member(speaker), text) => {
                self.on_delivery(index, Some(speaker), text, now_ns)
            }
            ServerEvent::Message(Speaker::Unknown, text) => self.on_delivery(index, None, text, now_ns),
            ServerEvent::Message(Speaker::Stranger(nick), _) => {
                self.worker.stats.record_stranger(room, nick, u64::from(user == 0))
            }
            ServerEvent::Stranger(nick) => self.worker.stats.record_stranger(room, nick, 0),
            ServerEvent::Joined if !self.users[index].link.joined => {
                self.users[index].link.joined = true;
                self.worker.record_joined(self.users.len());
            }
            ServerEvent::Refused(line) | ServerEvent::Closing(line)
                if self.worker.state != WorkerState::Leaving =>
            {
                let kind = match (self.users[index].link.joined, event) {
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
            | ServerEvent::Left(_)
            | ServerEvent::Ignored => {}
        }
    }

    /// Checks one delivery. `reported` is the speaker that the protocol names, if it names one.
    fn on_delivery(&mut self, index: usize, reported: Option<u32>, text: &[u8], now_ns: u64) {
        let listener = &mut self.users[index];
        let UserId { room, user, users } = listener.id;
        let fault = |kind, speaker, sequence, detail: Option<&str>| {
            let (user, detail) = (Some(user), detail.map(str::to_owned));
            Fault { kind, connection: None, reader: None, room, user, speaker, sequence, count: 1, detail }
        };
        let possible = |header: &Header| {
            let size_is_right = text.len() == self.workload.size_bytes as usize;
            let speaker_is_right =
                header.user < users && reported.is_none_or(|reported| header.user == reported);
            size_is_right && speaker_is_right && header.sequence < self.workload.count
        };
        let Some(header) = Header::read(room, text).filter(possible) else {
            let shown: String = String::from_utf8_lossy(text).chars().take(80).collect();
            return self.worker.stats.record_fault(fault(
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
                self.worker.stats.record_delivery(self.worker.shared.gate_ns(), now_ns, header.time_ns)
            }
            DeliveryOrder::Late => {
                self.worker.stats.record_delivery(self.worker.shared.gate_ns(), now_ns, header.time_ns);
                self.worker.stats.record_fault(fault(FaultKind::Reordered, speaker, sequence, None));
            }
            DeliveryOrder::Duplicate => {
                let echo = (header.user == user).then_some("delivered to its own speaker");
                self.worker.stats.record_fault(fault(FaultKind::Duplicated, speaker, sequence, echo));
            }
        }
        match self.worker.state {
            WorkerState::Running if self.complete() => self.worker.report_complete(),
            WorkerState::Pausing if self.nothing_in_flight() => self.worker.report_pause(),
            _ => {}
        }
    }

    fn complete(&self) -> bool {
        let rooms = (self.users.len() / self.workload.users as usize) as u64;
        let sent = rooms * u64::from(self.workload.users) * u64::from(self.workload.count);
        (self.worker.stats.sent, self.worker.stats.received)
            == (sent, sent * u64::from(self.workload.users - 1))
    }
}

impl<P: Protocol> Parties for Rooms<P> {
    const UNIT_BYTES_MAX: usize = 16 * 1024;

    fn worker(&self) -> &Worker {
        &self.worker
    }

    fn worker_mut(&mut self) -> &mut Worker {
        &mut self.worker
    }

    fn connections(&self) -> usize {
        self.users.len()
    }

    fn link(&mut self, index: usize) -> &mut Link {
        &mut self.users[index].link
    }

    fn id(&self, index: usize) -> UserId {
        self.users[index].id
    }

    fn failure(&self, index: Option<usize>, kind: FailureKind, detail: String) -> Failure {
        let id = index.map(|index| self.users[index].id);
        let (room, user) = (id.map(|id| id.room), id.map(|id| id.user));
        Failure { kind, connection: None, room, user, detail }
    }

    fn write_handshake(&mut self, index: usize) {
        let user = &mut self.users[index];
        user.protocol.write_handshake(&mut user.link.out);
    }

    fn write_quit(&mut self, index: usize) {
        let user = &mut self.users[index];
        user.protocol.write_quit(&mut user.link.out);
    }

    fn on_bytes(&mut self, index: usize, input: &[u8], now_ns: u64) -> usize {
        let mut rest = input;
        let mut answer = std::mem::take(&mut self.users[index].link.out);
        while let Some((taken, event)) = self.users[index].protocol.parse(rest, &mut answer) {
            self.on_event(index, event, now_ns);
            rest = &rest[taken..];
        }
        self.users[index].link.out = answer;
        input.len() - rest.len()
    }

    fn turn(&self, index: usize, now_ns: u64) -> Turn {
        let (gate_ns, user) = (self.worker.shared.gate_ns(), &self.users[index]);
        if gate_ns == 0 || self.worker.state != WorkerState::Running {
            return Turn::WaitForOthers;
        }
        user.pace.turn(&self.workload, now_ns, gate_ns, user.account.received, user.account.rounds())
    }

    fn queue_due(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        let size = self.workload.size_bytes as usize;
        let scheduled = matches!(self.workload.pacing, Pacing::Rate { .. });
        while self.users[index].link.out.len() < OUT_MAX {
            let meant_ns = match self.turn(index, now_ns) {
                Turn::Send(meant_ns) => meant_ns,
                Turn::WaitUntil(moment_ns) => return Some(moment_ns),
                Turn::WaitForOthers => break,
            };
            let user = &mut self.users[index];
            if user.link.out.capacity() == 0 {
                user.link.out = std::mem::take(&mut self.worker.spare);
            }
            let header = Header { user: user.id.user, sequence: user.pace.sent, time_ns: meant_ns };
            user.protocol
                .write_message(&mut user.link.out, size, |out| header.write(user.id.room, size, out));
            user.pace.record_sent(&self.workload, now_ns);
            self.worker.stats.sent += 1;
            if scheduled {
                self.worker.stats.record_lag(now_ns - meant_ns);
            }
        }
        None
    }

    fn nothing_in_flight(&self) -> bool {
        self.worker.stats.received == self.worker.stats.sent * u64::from(self.workload.users - 1)
    }

    fn settle(&mut self) {
        if self.complete() {
            return;
        }
        for room in self.users.chunks(self.workload.users as usize) {
            let sent: Vec<u32> = room.iter().map(|user| user.pace.sent).collect();
            for user in room {
                let UserId { room, user: speaker, .. } = user.id;
                user.account
                    .lost(room, &sent)
                    .into_iter()
                    .for_each(|fault| self.worker.stats.record_fault(fault));
                let unsent = u64::from(self.workload.count - user.pace.sent);
                if unsent > 0 && !self.worker.shared.finished() {
                    let (speaker, sequence) = (Some(speaker), Some(user.pace.sent));
                    let kind = FaultKind::Unsent;
                    self.worker.stats.record_fault(Fault {
                        kind,
                        connection: None,
                        reader: None,
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
