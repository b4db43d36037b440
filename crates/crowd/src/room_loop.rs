//! One event loop with whole rooms: it connects their users and moves the bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

use klatch_record::FailureKind;

use crate::links::{Links, Ready, WAKE};
use crate::protocol::Protocol;
use crate::rooms::{Rooms, State};
use crate::shared::{Phase, Wake};
use crate::tally::Tally;
use crate::user::Flushed;

/// Users that may be joining at a time: few enough for the small listen backlogs that some servers have.
const JOINING_MAX: usize = 8;
const READ_BYTES: usize = 256 * 1024;
/// How long a server may take to close the connections of users who have quit.
pub(crate) const LEAVE_NS: u64 = 2_000_000_000;

pub(crate) struct RoomLoop<W> {
    rooms: Rooms<W>,
    links: Links,
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    ready: Vec<Ready>,
    buffer: Vec<u8>,
    /// Users that have been connected.
    connected: usize,
}

impl<W: Protocol> RoomLoop<W> {
    pub(crate) fn new(rooms: Rooms<W>, links: Links) -> RoomLoop<W> {
        let buffer = vec![0; READ_BYTES];
        RoomLoop { rooms, links, timers: BinaryHeap::new(), ready: Vec::new(), buffer, connected: 0 }
    }

    /// Runs until the crowd stops, and gives what was found.
    pub(crate) fn run(mut self) -> Tally {
        let mut phase = Phase::Join;
        self.connect_some();
        while phase != Phase::Stop {
            if let Err(error) = self.turn(None) {
                self.rooms.fail(None, FailureKind::Disconnect, format!("the event loop failed: {error}"));
                break;
            }
            let before = phase;
            phase = self.rooms.shared.phase();
            if (before, phase) == (Phase::Join, Phase::Talk) {
                (0..self.rooms.users.len()).for_each(|who| self.speak(who, self.rooms.shared.now_ns()));
            }
            self.rooms.post();
        }
        self.leave();
        self.rooms.settle();
        self.rooms.tally
    }

    /// Waits for events once, for the next timer or for `most_ns` at most, and handles them.
    fn turn(&mut self, most_ns: Option<u64>) -> std::io::Result<()> {
        let next_timer = self.timers.peek().map(|Reverse((due_ns, _))| *due_ns);
        let timer_ns = next_timer.map(|due_ns| due_ns.saturating_sub(self.rooms.shared.now_ns()));
        let mut ready = std::mem::take(&mut self.ready);
        self.links.wait(timer_ns.or(most_ns), &mut ready)?;
        for &Ready { who, readable, writable } in &ready {
            if who == WAKE {
                if let Wake::Loop(wake) = &self.rooms.shared.posts[self.rooms.number].wake {
                    rustix::io::read(wake, &mut [0_u8; 8])?;
                }
                continue;
            }
            if writable {
                self.flush(who as usize);
                self.speak(who as usize, self.rooms.shared.now_ns());
            }
            if readable {
                self.listen(who as usize);
            }
        }
        self.ready = ready;
        let now_ns = self.rooms.shared.now_ns();
        while let Some(&Reverse((due_ns, who))) =
            self.timers.peek().filter(|Reverse((due_ns, _))| *due_ns <= now_ns)
        {
            self.timers.pop();
            if self.rooms.users[who].timer_ns == due_ns {
                self.rooms.users[who].timer_ns = 0;
            }
            self.speak(who, now_ns);
        }
        Ok(())
    }

    fn connect_some(&mut self) {
        while self.connected < self.rooms.users.len() && self.connected - self.rooms.joined < JOINING_MAX {
            let who = self.connected;
            match self.links.connect(who, self.rooms.users[who].seat) {
                Ok(stream) => {
                    self.rooms.shared.connected.fetch_add(1, Ordering::Relaxed);
                    let user = &mut self.rooms.users[who];
                    user.stream = Some(stream);
                    user.protocol.hello(&mut user.out);
                    self.connected += 1;
                    self.flush(who);
                }
                Err(error) => {
                    let first = self.rooms.shared.connected.load(Ordering::Relaxed) == 0;
                    let kind = if first { FailureKind::Connect } else { FailureKind::Join };
                    return self.rooms.fail(Some(who), kind, format!("cannot connect: {error}"));
                }
            }
        }
    }

    /// Reads once what the server says to a user, and lets him answer.
    fn listen(&mut self, who: usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let heard = self.rooms.users[who].read(&mut buffer);
        let now_ns = self.rooms.shared.now_ns();
        match heard {
            Ok(None) => {}
            Ok(Some([])) => {
                self.rooms.fail(Some(who), FailureKind::Disconnect, "the server closed the connection".into())
            }
            Ok(Some(input)) => {
                let taken = self.rooms.hear(who, input, now_ns);
                self.rooms.users[who].keep(&input[taken..]);
                self.speak(who, now_ns);
                if self.rooms.shared.gate_ns() == 0 {
                    self.connect_some();
                }
            }
            Err(error) => {
                self.rooms.fail(Some(who), FailureKind::Disconnect, format!("the connection broke: {error}"))
            }
        }
        self.buffer = buffer;
    }

    /// Lets a user say what it may say now.
    fn speak(&mut self, who: usize, now_ns: u64) {
        if let Some(moment_ns) = self.rooms.say(who, now_ns) {
            let user = &mut self.rooms.users[who];
            if user.timer_ns != moment_ns {
                user.timer_ns = moment_ns;
                self.timers.push(Reverse((moment_ns, who)));
            }
        }
        self.flush(who);
    }

    fn flush(&mut self, who: usize) {
        let user = &mut self.rooms.users[who];
        if user.out.is_empty() {
            return;
        }
        let flushed = user.flush();
        if user.out.is_empty() {
            self.rooms.spare = std::mem::take(&mut user.out);
        }
        let watching = user.output_watched;
        let wanted = matches!(flushed, Ok(Flushed::Partly));
        let watched = match &user.stream {
            Some(stream) if watching != wanted => self.links.watch_output(stream, who, wanted),
            _ => Ok(()),
        };
        user.output_watched = wanted;
        if let Err(error) = flushed.map(|_| ()).and(watched) {
            self.rooms.fail(Some(who), FailureKind::Disconnect, format!("the connection broke: {error}"));
        }
    }

    /// Says good-bye and listens until every connection is closed: what comes too often shows only now.
    fn leave(&mut self) {
        self.rooms.state = State::Leaving;
        for who in 0..self.rooms.users.len() {
            let user = &mut self.rooms.users[who];
            user.protocol.bye(&mut user.out);
            self.flush(who);
            let user = &self.rooms.users[who];
            if let Some(stream) = user.stream.as_ref().filter(|_| user.out.is_empty()) {
                // Not every protocol has a word for good-bye. A connection that is gone needs none.
                let _ = stream.shutdown(std::net::Shutdown::Write);
            }
        }
        let deadline_ns = self.rooms.shared.now_ns() + LEAVE_NS;
        while self.rooms.users.iter().any(|user| user.stream.is_some()) {
            let left_ns = deadline_ns.saturating_sub(self.rooms.shared.now_ns());
            self.timers.clear();
            if left_ns == 0 || self.turn(Some(left_ns)).is_err() {
                break;
            }
        }
    }
}
