//! Whole rooms without any I/O: processes received bytes, queues the messages that are due, and checks every delivery.

use std::ops::Range;

use klatch_protocol::chat::text::Header;
use klatch_record::{ChatWorkload, Failure, FailureKind, Fault, FaultKind, Pacing, Results};

use crate::account::DeliveryOrder;
use crate::churn::Churn;
use crate::link::{Link, OUT_MAX};
use crate::pace::Turn;
use crate::parties::{AfterEnd, Parties};
use crate::protocol::{Protocol, ServerEvent, Speaker, UserId, shown, shown_up_to};
use crate::user::{HELD, User};
use crate::worker::{Worker, WorkerState};

/// Most characters of a wrong text that a message shows.
const TEXT_SHOWN_MAX: usize = 80;

pub(crate) struct Rooms<P: Protocol> {
    worker: Worker,
    workload: ChatWorkload,
    /// In the order of the rooms.
    pub(crate) users: Vec<User<P>>,
    /// `None` if nobody leaves during the run.
    churn: Option<Churn>,
    /// Users who have messages left, or whose time has not ended.
    talking: usize,
    /// Handshakes of messages that are not complete, of all users.
    open_handshakes: usize,
    /// Deliveries that arrived again where the protocol allows it.
    repeated: u64,
    terms: P::Terms,
}

impl<P: Protocol> Rooms<P> {
    /// The rooms `range`, counted from the first of the workload.
    pub(crate) fn new(
        mut worker: Worker,
        workload: &ChatWorkload,
        seed: u64,
        terms: &P::Terms,
        range: Range<u32>,
    ) -> Rooms<P> {
        worker.stats.begin_stages(workload.stages.as_ref());
        let users: Vec<User<P>> = User::all(workload, seed, terms, range);
        let ids: Vec<UserId> = users.iter().map(|user| user.id).collect();
        let churn = Churn::new(workload, seed, &ids);
        let talking = users.iter().filter(|user| !user.pace.is_done(workload)).count();
        Rooms {
            worker,
            workload: workload.clone(),
            users,
            churn,
            talking,
            open_handshakes: 0,
            repeated: 0,
            terms: terms.clone(),
        }
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
            ServerEvent::Joined if !self.users[index].link.joined => self.on_joined(index, now_ns),
            ServerEvent::Refused(line) | ServerEvent::Closing(line)
                if self.worker.state != WorkerState::Leaving && !self.is_leaving(index) =>
            {
                let kind = match (self.users[index].link.joined, event) {
                    (false, _) => FailureKind::Join,
                    (true, ServerEvent::Closing(_)) => FailureKind::Disconnect,
                    (true, _) => FailureKind::Refused,
                };
                self.fail(Some(index), kind, format!("the server answered: {}", shown(line)));
            }
            ServerEvent::Joined
            | ServerEvent::Refused(_)
            | ServerEvent::Closing(_)
            | ServerEvent::Left(_)
            | ServerEvent::Ignored => {}
        }
    }

    #[cold]
    fn on_joined(&mut self, index: usize, now_ns: u64) {
        self.users[index].link.joined = true;
        match &mut self.churn {
            Some(churn) if self.worker.shared.gate_ns() > 0 => {
                let joined_ns = churn.on_joined(index, now_ns);
                joined_ns.into_iter().for_each(|ns| self.worker.stats.record_reconnect(ns));
                self.report_progress();
            }
            _ => self.worker.record_joined(self.users.len()),
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
            let shown = shown_up_to(text, TEXT_SHOWN_MAX);
            return self.worker.stats.record_fault(fault(
                FaultKind::Corrupted,
                reported,
                None,
                Some(&format!("got: {shown}")),
            ));
        };
        let (speaker, sequence) = (Some(header.user), Some(header.sequence));
        if listener.protocol.echoes() && header.user == user {
            return;
        }
        let order = listener.account.record(header.user, header.sequence);
        match order {
            DeliveryOrder::InOrder => {
                self.worker.stats.record_delivery(self.worker.shared.gate_ns(), now_ns, header.time_ns)
            }
            DeliveryOrder::Late => {
                self.worker.stats.record_delivery(self.worker.shared.gate_ns(), now_ns, header.time_ns);
                self.worker.stats.record_fault(fault(FaultKind::Reordered, speaker, sequence, None));
            }
            DeliveryOrder::Duplicate if self.workload.mqtt.may_repeat() && header.user != user => {
                self.repeated += 1;
            }
            DeliveryOrder::Duplicate => {
                let echo = (header.user == user).then_some("delivered to its own speaker");
                self.worker.stats.record_fault(fault(FaultKind::Duplicated, speaker, sequence, echo));
            }
        }
        if let Some(churn) = &mut self.churn
            && order != DeliveryOrder::Duplicate
        {
            churn.on_delivery(index);
        }
        self.report_progress();
    }

    fn report_progress(&mut self) {
        match self.worker.state {
            WorkerState::Running if self.complete() => self.worker.report_complete(),
            WorkerState::Pausing if self.nothing_in_flight() => self.worker.report_pause(),
            _ => {}
        }
    }

    fn complete(&self) -> bool {
        self.talking == 0 && self.nothing_in_flight()
    }

    fn all_are_here(&self) -> bool {
        self.churn.as_ref().is_none_or(Churn::all_are_here)
    }

    /// Begins the reconnect of a user if it is time. Returns when that will be, if only the clock decides.
    fn leave_if_due(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        let churn = self.churn.as_mut()?;
        let gate_ns = self.worker.shared.gate_ns();
        let is_done = self.users[index].pace.is_done(&self.workload);
        if gate_ns == 0 || self.worker.state != WorkerState::Running || is_done {
            return None;
        }
        let due_ns = gate_ns + churn.due_ns(index)?;
        if due_ns > now_ns {
            return Some(due_ns);
        }
        let (users, others) = (self.workload.users as usize, u64::from(self.workload.users - 1));
        let room = &self.users[index / users * users..][..users];
        let sent: u64 = room.iter().map(|user| u64::from(user.pace.sent)).sum();
        let received: u64 = room.iter().map(|user| user.account.received).sum();
        churn.silence(index, sent * others - received);
        None
    }

    /// Queues the messages of a user that are due. Returns the time of the next if only the clock decides.
    fn queue_messages(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        let size = self.workload.size_bytes as usize;
        let scheduled = matches!(self.workload.pacing, Pacing::Rate { .. });
        loop {
            if self.users[index].link.out.len() >= OUT_MAX {
                self.users[index].free_ns = HELD;
                break;
            }
            let meant_ns = match self.turn(index, now_ns) {
                Turn::Send(meant_ns) => meant_ns,
                Turn::WaitUntil(moment_ns) => return Some(moment_ns),
                Turn::WaitForOthers => {
                    if scheduled && self.worker.shared.gate_ns() > 0 {
                        self.users[index].free_ns = HELD;
                        // Nothing may be due before the end.
                        self.report_progress();
                    }
                    break;
                }
            };
            let user = &mut self.users[index];
            if user.link.out.capacity() == 0 {
                user.link.out = std::mem::take(&mut self.worker.spare);
            }
            let header = Header { user: user.id.user, sequence: user.pace.sent, time_ns: meant_ns };
            let open = user.protocol.open_handshakes();
            user.protocol
                .write_message(&mut user.link.out, size, |out| header.write(user.id.room, size, out));
            self.open_handshakes += user.protocol.open_handshakes() - open;
            user.pace.record_sent(&self.workload, now_ns);
            self.talking -= usize::from(user.pace.is_done(&self.workload));
            self.worker.stats.sent += 1;
            self.churn.iter_mut().for_each(|churn| churn.on_message(index));
            if scheduled {
                let user = &mut self.users[index];
                if user.free_ns == HELD {
                    user.free_ns = now_ns;
                }
                self.worker.stats.record_lag(now_ns.saturating_sub(meant_ns.max(user.free_ns)));
                let deliveries = u64::from(self.workload.users - 1);
                self.worker.stats.record_due(self.worker.shared.gate_ns(), meant_ns, deliveries);
            }
        }
        None
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
        loop {
            let protocol = &mut self.users[index].protocol;
            let before = protocol.open_handshakes();
            let Some((taken, event)) = protocol.parse(rest, &mut answer) else { break };
            let after = protocol.open_handshakes();
            // A delivery may open a handshake, which must be known before it completes the run.
            self.open_handshakes = self.open_handshakes + after - before;
            self.on_event(index, event, now_ns);
            rest = &rest[taken..];
            if after < before {
                self.report_progress();
            }
        }
        self.users[index].link.out = answer;
        input.len() - rest.len()
    }

    fn turn(&self, index: usize, now_ns: u64) -> Turn {
        let (gate_ns, user) = (self.worker.shared.gate_ns(), &self.users[index]);
        let is_silent = self.churn.as_ref().is_some_and(|churn| churn.is_silent(index));
        let is_held = is_silent || !user.protocol.may_send();
        if gate_ns == 0 || self.worker.state != WorkerState::Running || is_held {
            return Turn::WaitForOthers;
        }
        user.pace.turn(&self.workload, now_ns, gate_ns, user.account.received, user.account.rounds())
    }

    fn queue_due(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        let reconnect_ns = self.leave_if_due(index, now_ns);
        let message_ns = self.queue_messages(index, now_ns);
        reconnect_ns.into_iter().chain(message_ns).min()
    }

    fn next_ready(&mut self) -> Option<usize> {
        self.churn.as_mut()?.next_waiting()
    }

    fn next_leaving(&mut self) -> Option<usize> {
        // What the server would still answer, nobody would hear.
        let may_leave = |index: usize| self.users[index].protocol.open_handshakes() == 0;
        let index = self.churn.as_mut()?.next_leaving(may_leave)?;
        self.write_quit(index);
        Some(index)
    }

    fn is_leaving(&self, index: usize) -> bool {
        self.churn.as_ref().is_some_and(|churn| churn.is_leaving(index))
    }

    fn on_end(&mut self, index: usize, now_ns: u64) -> AfterEnd {
        if self.worker.state == WorkerState::Leaving || !self.is_leaving(index) {
            return AfterEnd::Failure;
        }
        let user = &mut self.users[index];
        self.open_handshakes -= user.protocol.open_handshakes();
        user.protocol = P::new(user.id, &self.terms);
        user.link.joined = false;
        self.churn.iter_mut().for_each(|churn| churn.on_end(index, now_ns));
        AfterEnd::Rejoin
    }

    fn on_unblocked(&mut self, index: usize, now_ns: u64) {
        self.users[index].free_ns = now_ns;
    }

    fn nothing_in_flight(&self) -> bool {
        self.worker.stats.received == self.worker.stats.sent * u64::from(self.workload.users - 1)
            && self.all_are_here()
            && self.open_handshakes == 0
    }

    fn settle(&mut self) {
        let reconnects = self.worker.stats.reconnects();
        self.worker.stats.results = Some(Results::Chat {
            reconnects,
            repeated: self.repeated,
            open_handshakes: self.open_handshakes as u64,
        });
        if self.complete() {
            return;
        }
        for (number, room) in self.users.chunks(self.workload.users as usize).enumerate() {
            let absent = self.churn.as_ref().and_then(|churn| churn.absent_user(number));
            let absent = absent.map(|user| format!("user {} was reconnecting", self.users[user].id.user));
            let sent: Vec<u32> = room.iter().map(|user| user.pace.sent).collect();
            for user in room {
                let UserId { room, user: speaker, .. } = user.id;
                user.account
                    .lost(room, &sent)
                    .into_iter()
                    .for_each(|fault| self.worker.stats.record_fault(fault));
                let unsent = user.pace.unsent(&self.workload);
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
                        detail: absent.clone(),
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::irc::Irc;
    use crate::shared::{Shared, Wake};

    /// The server reads nothing for ten seconds, so the output of a user is full: what is due meanwhile is not late by the crowd.
    #[test]
    fn a_message_that_waited_for_the_server_to_read_is_not_late_by_the_crowd() {
        let pacing = Pacing::Rate { per_user_per_s: Some(1_000.0) };
        let workload = ChatWorkload {
            rooms: 1,
            users: 2,
            count: 20_000,
            size_bytes: 60,
            start: 1,
            pacing,
            pause_s: 0.0,
            churn_per_user_per_s: 0.0,
            duration_s: None,
            stages: None,
            arrivals: klatch_record::Arrivals::Even,
            mqtt: klatch_record::MqttSettings::default(),
        };
        let shared = Arc::new(Shared::new(vec![Wake::Threads(Mutex::default())]));
        let worker = Worker::new(0, shared.clone(), channel().0);
        let mut rooms = Rooms::<Irc>::new(worker, &workload, 1, &None, 0..1);
        shared.open_gate();
        let gate_ns = shared.gate_ns();
        let mut now_ns = gate_ns;
        while rooms.users[0].link.out.len() < OUT_MAX {
            now_ns = rooms.queue_due(0, now_ns).unwrap_or(now_ns);
        }
        now_ns += 10_000_000_000;
        while rooms.users[0].pace.sent < workload.count {
            rooms.users[0].link.out.clear();
            now_ns = rooms.queue_due(0, now_ns).unwrap_or(now_ns + 1_000);
        }
        let result = rooms.worker_mut().take_stats().into_result();
        let late = result.send_lag_ns.iter().filter(|(ns, _)| *ns > 0).count();
        assert_eq!(late, 0, "{:?}", result.send_lag_ns);
    }
}
