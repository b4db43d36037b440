//! One event loop with whole rooms: it joins their users, lets them talk, and keeps their accounts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError};

use klatch_chat::text::Header;
use klatch_record::{Failure, FailureKind, Fault, FaultKind, Pacing, Workload};

use crate::account::Heard;
use crate::links::{Links, Ready, WAKE};
use crate::pace::Turn;
use crate::shared::{Notice, Phase, Shared};
use crate::tally::Tally;
use crate::timeline::add_to;
use crate::user::{Flushed, OUT_MAX, User};
use crate::wire::{News, Seat, Speaker, Wire};

/// Users that may be joining at a time: few enough for the small listen backlogs that some servers have.
const JOINING_MAX: usize = 8;
const READ_BYTES: usize = 256 * 1024;

pub(crate) struct RoomLoop<W> {
    pub(crate) number: usize,
    pub(crate) shared: Arc<Shared>,
    pub(crate) notices: Sender<Notice>,
    pub(crate) links: Links,
    pub(crate) workload: Workload,
    /// Whole rooms, one after the other.
    pub(crate) users: Vec<User<W>>,
    pub(crate) tally: Tally,
    pub(crate) timers: BinaryHeap<Reverse<(u64, usize)>>,
    pub(crate) ready: Vec<Ready>,
    pub(crate) buffer: Vec<u8>,
    /// The memory of the last output that is sent, for whoever speaks next: so a user who is silent needs none.
    spare: Vec<u8>,
    /// Users that have been connected, and those of them that have joined.
    pub(crate) connected: usize,
    pub(crate) joined: usize,
    pub(crate) state: State,
}

/// How far a loop is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    /// All is said and delivered.
    Complete,
    /// Good-bye is said; only what is left in the connections is listened to.
    Leaving,
}

impl<W: Wire> RoomLoop<W> {
    pub(crate) fn new(
        number: usize,
        shared: Arc<Shared>,
        notices: Sender<Notice>,
        links: Links,
        workload: Workload,
        users: Vec<User<W>>,
    ) -> RoomLoop<W> {
        RoomLoop {
            number,
            shared,
            notices,
            links,
            workload,
            users,
            tally: Tally::new(),
            timers: BinaryHeap::new(),
            ready: Vec::new(),
            buffer: Vec::new(),
            spare: Vec::new(),
            connected: 0,
            joined: 0,
            state: State::Running,
        }
    }

    /// Runs until the crowd stops, and gives what was found.
    pub(crate) fn run(mut self) -> Tally {
        self.buffer.resize(READ_BYTES, 0);
        let mut phase = Phase::Join;
        self.connect_some();
        while phase != Phase::Stop {
            if let Err(error) = self.turn(None) {
                self.fail(None, FailureKind::Disconnect, format!("the event loop failed: {error}"));
                break;
            }
            let before = phase;
            phase = self.shared.phase();
            if (before, phase) == (Phase::Join, Phase::Talk) {
                (0..self.users.len()).for_each(|who| self.speak(who, self.shared.now_ns()));
            }
            self.post();
        }
        self.leave();
        self.settle();
        self.tally
    }

    /// Waits for events once, for the next timer or for `most_ns` at most, and handles them.
    pub(crate) fn turn(&mut self, most_ns: Option<u64>) -> std::io::Result<()> {
        let next_timer = self.timers.peek().map(|Reverse((due_ns, _))| *due_ns);
        let timer_ns = next_timer.map(|due_ns| due_ns.saturating_sub(self.shared.now_ns()));
        let mut ready = std::mem::take(&mut self.ready);
        self.links.wait(timer_ns.or(most_ns), &mut ready)?;
        for &Ready { who, readable, writable } in &ready {
            if who == WAKE {
                rustix::io::read(&self.shared.posts[self.number].wake, &mut [0_u8; 8])?;
                continue;
            }
            if writable {
                self.flush(who as usize);
                self.speak(who as usize, self.shared.now_ns());
            }
            if readable {
                self.listen(who as usize);
            }
        }
        self.ready = ready;
        let now_ns = self.shared.now_ns();
        while let Some(&Reverse((due_ns, who))) =
            self.timers.peek().filter(|Reverse((due_ns, _))| *due_ns <= now_ns)
        {
            self.timers.pop();
            if self.users[who].timer_ns == due_ns {
                self.users[who].timer_ns = 0;
            }
            self.speak(who, now_ns);
        }
        Ok(())
    }

    fn connect_some(&mut self) {
        while self.connected < self.users.len() && self.connected - self.joined < JOINING_MAX {
            let who = self.connected;
            match self.links.connect(who, self.users[who].seat) {
                Ok(stream) => {
                    self.shared.connected.fetch_add(1, Ordering::Relaxed);
                    let user = &mut self.users[who];
                    user.stream = Some(stream);
                    user.wire.hello(&mut user.out);
                    self.connected += 1;
                    self.flush(who);
                }
                Err(error) => {
                    let first = self.shared.connected.load(Ordering::Relaxed) == 0;
                    let kind = if first { FailureKind::Connect } else { FailureKind::Join };
                    return self.fail(Some(who), kind, format!("cannot connect: {error}"));
                }
            }
        }
    }

    /// Reads once what the server says to a user, and lets him answer.
    fn listen(&mut self, who: usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let heard = self.users[who].read(&mut buffer);
        let now_ns = self.shared.now_ns();
        match heard {
            Ok(None) => {}
            Ok(Some([])) => {
                self.fail(Some(who), FailureKind::Disconnect, "the server closed the connection".into())
            }
            Ok(Some(input)) => {
                self.hear(who, input, now_ns);
                if self.shared.gate_ns() == 0 {
                    self.connect_some();
                }
            }
            Err(error) => {
                self.fail(Some(who), FailureKind::Disconnect, format!("the connection broke: {error}"))
            }
        }
        self.buffer = buffer;
    }

    /// Takes in what was said to a user, and lets him answer.
    pub(crate) fn hear(&mut self, who: usize, mut input: &[u8], now_ns: u64) {
        let mut answer = std::mem::take(&mut self.users[who].out);
        while let Some((taken, news)) = self.users[who].wire.hear(input, &mut answer) {
            self.take_in(who, news, now_ns);
            input = &input[taken..];
        }
        self.users[who].out = answer;
        self.users[who].keep(input);
        self.speak(who, now_ns);
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
            return self.tally.fault(fault(FaultKind::Altered, told, None, Some(&format!("got: {shown}"))));
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
                self.tally.fault(fault(FaultKind::Repeated, speaker, sequence, echo));
            }
        }
        if self.state == State::Running && self.complete() {
            self.state = State::Complete;
            self.tell(Notice::Complete);
        }
    }

    /// Lets a user say what it may say now.
    pub(crate) fn speak(&mut self, who: usize, now_ns: u64) {
        let gate_ns = self.shared.gate_ns();
        let size = self.workload.size_bytes as usize;
        let scheduled = matches!(self.workload.pacing, Pacing::Rate { .. });
        let user = &mut self.users[who];
        while gate_ns != 0 && self.state == State::Running && user.out.len() < OUT_MAX {
            match user.pace.turn(
                &self.workload,
                now_ns,
                gate_ns,
                user.account.received,
                user.account.rounds(),
            ) {
                Turn::Speak(meant_ns) => {
                    if user.out.capacity() == 0 {
                        user.out = std::mem::take(&mut self.spare);
                    }
                    let header = Header { user: user.seat.user, sequence: user.pace.sent, time_ns: meant_ns };
                    user.wire.say(&mut user.out, size, |out| header.write(user.seat.room, size, out));
                    user.pace.said(&self.workload, now_ns);
                    self.tally.sent += 1;
                    if scheduled {
                        self.tally.lag(now_ns - meant_ns);
                    }
                }
                Turn::Until(moment_ns) => {
                    if user.timer_ns != moment_ns {
                        user.timer_ns = moment_ns;
                        self.timers.push(Reverse((moment_ns, who)));
                    }
                    break;
                }
                Turn::Listen => break,
            }
        }
        self.flush(who);
    }

    pub(crate) fn flush(&mut self, who: usize) {
        let user = &mut self.users[who];
        if user.out.is_empty() {
            return;
        }
        let flushed = user.flush();
        if user.out.is_empty() {
            self.spare = std::mem::take(&mut user.out);
        }
        let watching = user.output_watched;
        let wanted = matches!(flushed, Ok(Flushed::Partly));
        let watched = match &user.stream {
            Some(stream) if watching != wanted => self.links.watch_output(stream, who, wanted),
            _ => Ok(()),
        };
        user.output_watched = wanted;
        if let Err(error) = flushed.map(|_| ()).and(watched) {
            self.fail(Some(who), FailureKind::Disconnect, format!("the connection broke: {error}"));
        }
    }

    pub(crate) fn complete(&self) -> bool {
        let rooms = (self.users.len() / self.workload.users as usize) as u64;
        let said = rooms * u64::from(self.workload.users) * u64::from(self.workload.count);
        (self.tally.sent, self.tally.received) == (said, said * u64::from(self.workload.users - 1))
    }

    /// Tells what ended this user, who is not listened to any more.
    fn fail(&mut self, who: Option<usize>, kind: FailureKind, detail: String) {
        let seat = who.map(|who| self.users[who].seat);
        if let Some(stream) = who.and_then(|who| self.users[who].stream.take()) {
            self.links.forget(&stream);
        }
        if self.state == State::Leaving {
            return;
        }
        let (room, user) = (seat.map(|seat| seat.room), seat.map(|seat| seat.user));
        self.tell(Notice::Failed(Failure { kind, room, user, detail }));
    }

    fn tell(&self, notice: Notice) {
        // Nobody listens any more once the crowd ends, and then nobody needs to know.
        let _ = self.notices.send(notice);
    }

    fn post(&mut self) {
        let post = &self.shared.posts[self.number];
        post.joined.store(self.joined as u64, Ordering::Relaxed);
        post.sent.store(self.tally.sent, Ordering::Relaxed);
        post.received.store(self.tally.received, Ordering::Relaxed);
        if let Some(fresh) = self.tally.take_fresh() {
            add_to(&mut post.fresh.lock().unwrap_or_else(PoisonError::into_inner), fresh);
        }
    }
}
