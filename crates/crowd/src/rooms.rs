//! Whole rooms without any I/O: takes in what their users hear, lets them say what they may, and keeps their accounts.

use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError};

use klatch_chat::text::Header;
use klatch_record::{Failure, FailureKind, Fault, FaultKind, Pacing, Workload};

use crate::account::Heard;
use crate::pace::Turn;
use crate::protocol::{News, Protocol, Seat, Speaker};
use crate::shared::{Notice, Shared};
use crate::tally::Tally;
use crate::timeline::add_to;
use crate::user::{OUT_MAX, User};

pub(crate) struct Rooms<W> {
    pub(crate) number: usize,
    pub(crate) shared: Arc<Shared>,
    notices: Sender<Notice>,
    pub(crate) workload: Workload,
    /// One room after the other.
    pub(crate) users: Vec<User<W>>,
    pub(crate) tally: Tally,
    /// The memory of the last output that is sent, for whoever speaks next: so a user who is silent needs none.
    pub(crate) spare: Vec<u8>,
    /// Users that have joined.
    pub(crate) joined: usize,
    pub(crate) state: State,
}

/// How far the rooms are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    /// All is said and delivered.
    Complete,
    /// Good-bye is said; only what is left in the connections is listened to.
    Leaving,
}

impl<W: Protocol> Rooms<W> {
    pub(crate) fn new(
        number: usize,
        shared: Arc<Shared>,
        notices: Sender<Notice>,
        workload: Workload,
        users: Vec<User<W>>,
    ) -> Rooms<W> {
        let (tally, spare, state) = (Tally::new(), Vec::new(), State::Running);
        Rooms { number, shared, notices, workload, users, tally, spare, joined: 0, state }
    }

    /// Takes in what was said to a user, but for the beginning of a line whose rest has not come; how many bytes that were.
    pub(crate) fn hear(&mut self, who: usize, input: &[u8], now_ns: u64) -> usize {
        let mut rest = input;
        let mut answer = std::mem::take(&mut self.users[who].out);
        while let Some((taken, news)) = self.users[who].protocol.hear(rest, &mut answer) {
            self.take_in(who, news, now_ns);
            rest = &rest[taken..];
        }
        self.users[who].out = answer;
        input.len() - rest.len()
    }

    fn take_in(&mut self, who: usize, news: News<'_>, now_ns: u64) {
        let Seat { room, user, .. } = self.users[who].seat;
        match news {
            News::Said(Speaker::Member(speaker), text) => self.delivery(who, Some(speaker), text, now_ns),
            News::Said(Speaker::Untold, text) => self.delivery(who, None, text, now_ns),
            News::Said(Speaker::Stranger(nick), _) => self.tally.stranger(room, nick, u64::from(user == 0)),
            News::Stranger(nick) => self.tally.stranger(room, nick, 0),
            News::Joined if !self.users[who].joined => {
                self.users[who].joined = true;
                self.joined += 1;
                if self.joined == self.users.len() {
                    self.tell(Notice::Joined);
                }
            }
            News::Refused(line) | News::Closing(line) if self.state != State::Leaving => {
                let kind = match (self.users[who].joined, news) {
                    (false, _) => FailureKind::Join,
                    (true, News::Closing(_)) => FailureKind::Disconnect,
                    (true, _) => FailureKind::Refused,
                };
                self.fail(Some(who), kind, format!("the server said: {}", String::from_utf8_lossy(line)));
            }
            News::Joined | News::Refused(_) | News::Closing(_) | News::Nothing => {}
        }
    }

    /// Checks one delivery; `told` is the speaker by the protocol's word, where it has one.
    fn delivery(&mut self, who: usize, told: Option<u32>, text: &[u8], now_ns: u64) {
        let listener = &mut self.users[who];
        let Seat { room, user, users } = listener.seat;
        let fault = |kind, speaker, sequence, detail: Option<&str>| {
            let (user, detail) = (Some(user), detail.map(str::to_owned));
            Fault { kind, room, user, speaker, sequence, count: 1, detail }
        };
        let possible = |header: &Header| {
            let size_is_right = text.len() == self.workload.size_bytes as usize;
            let speaker_is_right = header.user < users && told.is_none_or(|told| header.user == told);
            size_is_right && speaker_is_right && header.sequence < self.workload.count
        };
        let Some(header) = Header::read(room, text).filter(possible) else {
            let shown: String = String::from_utf8_lossy(text).chars().take(80).collect();
            return self.tally.fault(fault(FaultKind::Corrupted, told, None, Some(&format!("got: {shown}"))));
        };
        let (speaker, sequence) = (Some(header.user), Some(header.sequence));
        if W::ECHOES && header.user == user {
            return;
        }
        match listener.account.hear(header.user, header.sequence) {
            Heard::New => self.tally.delivery(self.shared.gate_ns(), now_ns, header.time_ns),
            Heard::Late => {
                self.tally.delivery(self.shared.gate_ns(), now_ns, header.time_ns);
                self.tally.fault(fault(FaultKind::Reordered, speaker, sequence, None));
            }
            Heard::Again => {
                let echo = (header.user == user).then_some("delivered to its own speaker");
                self.tally.fault(fault(FaultKind::Duplicated, speaker, sequence, echo));
            }
        }
        if self.state == State::Running && self.complete() {
            self.state = State::Complete;
            self.tell(Notice::Complete);
        }
    }

    /// Whether a user may speak now.
    pub(crate) fn turn(&self, who: usize, now_ns: u64) -> Turn {
        let (gate_ns, user) = (self.shared.gate_ns(), &self.users[who]);
        if gate_ns == 0 || self.state != State::Running {
            return Turn::Listen;
        }
        user.pace.turn(&self.workload, now_ns, gate_ns, user.account.received, user.account.rounds())
    }

    /// Puts what a user may say now into its output. The moment at which it may say more, if the clock alone decides.
    pub(crate) fn say(&mut self, who: usize, now_ns: u64) -> Option<u64> {
        let size = self.workload.size_bytes as usize;
        let scheduled = matches!(self.workload.pacing, Pacing::Rate { .. });
        while self.users[who].out.len() < OUT_MAX {
            let meant_ns = match self.turn(who, now_ns) {
                Turn::Speak(meant_ns) => meant_ns,
                Turn::Until(moment_ns) => return Some(moment_ns),
                Turn::Listen => break,
            };
            let user = &mut self.users[who];
            if user.out.capacity() == 0 {
                user.out = std::mem::take(&mut self.spare);
            }
            let header = Header { user: user.seat.user, sequence: user.pace.sent, time_ns: meant_ns };
            user.protocol.say(&mut user.out, size, |out| header.write(user.seat.room, size, out));
            user.pace.said(&self.workload, now_ns);
            self.tally.sent += 1;
            if scheduled {
                self.tally.lag(now_ns - meant_ns);
            }
        }
        None
    }

    pub(crate) fn complete(&self) -> bool {
        let rooms = (self.users.len() / self.workload.users as usize) as u64;
        let said = rooms * u64::from(self.workload.users) * u64::from(self.workload.count);
        (self.tally.sent, self.tally.received) == (said, said * u64::from(self.workload.users - 1))
    }

    /// Tells what ended a user, who is not listened to any more, or all of it.
    pub(crate) fn fail(&mut self, who: Option<usize>, kind: FailureKind, detail: String) {
        if let Some(who) = who {
            self.users[who].stream = None;
        }
        if self.state == State::Leaving {
            return;
        }
        let seat = who.map(|who| self.users[who].seat);
        let (room, user) = (seat.map(|seat| seat.room), seat.map(|seat| seat.user));
        self.tell(Notice::Failed(Failure { kind, room, user, detail }));
    }

    fn tell(&self, notice: Notice) {
        // Nobody listens any more once the crowd ends, and then nobody needs to know.
        let _ = self.notices.send(notice);
    }

    /// Lets whoever watches know how far it is.
    pub(crate) fn post(&mut self) {
        let post = &self.shared.posts[self.number];
        post.joined.store(self.joined as u64, Ordering::Relaxed);
        post.sent.store(self.tally.sent, Ordering::Relaxed);
        post.received.store(self.tally.received, Ordering::Relaxed);
        if let Some(fresh) = self.tally.take_fresh() {
            add_to(&mut post.fresh.lock().unwrap_or_else(PoisonError::into_inner), fresh);
        }
    }

    /// Notes what never came.
    pub(crate) fn settle(&mut self) {
        if self.complete() {
            return;
        }
        for room in self.users.chunks(self.workload.users as usize) {
            let said: Vec<u32> = room.iter().map(|user| user.pace.sent).collect();
            for user in room {
                let Seat { room, user: speaker, .. } = user.seat;
                user.account.lost(room, &said).into_iter().for_each(|fault| self.tally.fault(fault));
                let unsent = u64::from(self.workload.count - user.pace.sent);
                if unsent > 0 {
                    let (speaker, sequence) = (Some(speaker), Some(user.pace.sent));
                    let kind = FaultKind::Unsent;
                    self.tally.fault(Fault {
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
