//! One event loop that owns whole rooms: connects their users and moves the bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

use klatch_record::FailureKind;

use crate::connections::{Connections, Ready, WAKE_KEY};
use crate::protocol::Protocol;
use crate::rooms::{Rooms, RoomsState};
use crate::shared::{Phase, Wake};
use crate::stats::CrowdStats;
use crate::user::Flushed;

/// Users that may be joining at a time. Some servers have small listen backlogs.
const JOINING_MAX: usize = 8;
const READ_BYTES: usize = 256 * 1024;
/// Longest time for a server to close the connections of users that have quit, ns.
pub(crate) const LEAVE_NS: u64 = 2_000_000_000;

pub(crate) struct RoomLoop<P> {
    rooms: Rooms<P>,
    connections: Connections,
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    ready: Vec<Ready>,
    buffer: Vec<u8>,
    /// Users that have been connected.
    connected: usize,
}

impl<P: Protocol> RoomLoop<P> {
    pub(crate) fn new(rooms: Rooms<P>, connections: Connections) -> RoomLoop<P> {
        let buffer = vec![0; READ_BYTES];
        RoomLoop { rooms, connections, timers: BinaryHeap::new(), ready: Vec::new(), buffer, connected: 0 }
    }

    /// Runs until the crowd stops.
    pub(crate) fn run(mut self) -> CrowdStats {
        let mut phase = Phase::Join;
        self.connect_next();
        while phase != Phase::Stop {
            if let Err(error) = self.poll_once(None) {
                self.rooms.fail(None, FailureKind::Disconnect, format!("the event loop failed: {error}"));
                break;
            }
            let before = phase;
            phase = self.rooms.shared.phase();
            if self.rooms.follow_phase() || (before, phase) == (Phase::Join, Phase::Talk) {
                (0..self.rooms.users.len())
                    .for_each(|index| self.send_due(index, self.rooms.shared.now_ns()));
            }
            self.rooms.publish();
        }
        self.leave();
        self.rooms.record_missing();
        self.rooms.stats
    }

    /// Handles the events of one wait. It ends with the next timer, or after `max_wait_ns` if there is none.
    fn poll_once(&mut self, max_wait_ns: Option<u64>) -> std::io::Result<()> {
        let next_timer = self.timers.peek().map(|Reverse((due_ns, _))| *due_ns);
        let timer_ns = next_timer.map(|due_ns| due_ns.saturating_sub(self.rooms.shared.now_ns()));
        let mut ready = std::mem::take(&mut self.ready);
        self.connections.wait(timer_ns.or(max_wait_ns), &mut ready)?;
        for &Ready { key, readable, writable } in &ready {
            if key == WAKE_KEY {
                if let Wake::Loop(wake) = &self.rooms.shared.workers[self.rooms.number].wake {
                    rustix::io::read(wake, &mut [0_u8; 8])?;
                }
                continue;
            }
            if writable {
                self.flush(key as usize);
                self.send_due(key as usize, self.rooms.shared.now_ns());
            }
            if readable {
                self.on_readable(key as usize);
            }
        }
        self.ready = ready;
        let now_ns = self.rooms.shared.now_ns();
        while let Some(&Reverse((due_ns, index))) =
            self.timers.peek().filter(|Reverse((due_ns, _))| *due_ns <= now_ns)
        {
            self.timers.pop();
            if self.rooms.users[index].timer_ns == due_ns {
                self.rooms.users[index].timer_ns = 0;
            }
            self.send_due(index, now_ns);
        }
        Ok(())
    }

    fn connect_next(&mut self) {
        while self.connected < self.rooms.users.len() && self.connected - self.rooms.joined < JOINING_MAX {
            let index = self.connected;
            match self.connections.connect(index, self.rooms.users[index].id) {
                Ok(stream) => {
                    self.rooms.shared.connected.fetch_add(1, Ordering::Relaxed);
                    let user = &mut self.rooms.users[index];
                    user.stream = Some(stream);
                    user.protocol.write_handshake(&mut user.out);
                    self.connected += 1;
                    self.flush(index);
                }
                Err(error) => {
                    let first = self.rooms.shared.connected.load(Ordering::Relaxed) == 0;
                    let kind = if first { FailureKind::Connect } else { FailureKind::Join };
                    return self.rooms.fail(Some(index), kind, format!("cannot connect: {error}"));
                }
            }
        }
    }

    /// Reads once from a user's connection and sends what is due.
    fn on_readable(&mut self, index: usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.rooms.users[index].read(&mut buffer);
        let now_ns = self.rooms.shared.now_ns();
        match read {
            Ok(None) => {}
            Ok(Some([])) => self.rooms.fail(
                Some(index),
                FailureKind::Disconnect,
                "the server closed the connection".into(),
            ),
            Ok(Some(input)) => {
                let taken = self.rooms.on_bytes(index, input, now_ns);
                self.rooms.users[index].save_partial(&input[taken..]);
                self.send_due(index, now_ns);
                if self.rooms.shared.gate_ns() == 0 {
                    self.connect_next();
                }
            }
            Err(error) => self.rooms.fail(
                Some(index),
                FailureKind::Disconnect,
                format!("the connection broke: {error}"),
            ),
        }
        self.buffer = buffer;
    }

    /// Sends the messages of a user that are due.
    fn send_due(&mut self, index: usize, now_ns: u64) {
        if let Some(moment_ns) = self.rooms.queue_messages(index, now_ns) {
            let user = &mut self.rooms.users[index];
            if user.timer_ns != moment_ns {
                user.timer_ns = moment_ns;
                self.timers.push(Reverse((moment_ns, index)));
            }
        }
        self.flush(index);
    }

    fn flush(&mut self, index: usize) {
        let user = &mut self.rooms.users[index];
        if user.out.is_empty() {
            return;
        }
        let flushed = user.flush();
        if user.out.is_empty() {
            self.rooms.spare = std::mem::take(&mut user.out);
        }
        let had_interest = user.write_interest;
        let wants = matches!(flushed, Ok(Flushed::Partly));
        let polled = match &user.stream {
            Some(stream) if had_interest != wants => {
                self.connections.set_write_interest(stream, index, wants)
            }
            _ => Ok(()),
        };
        user.write_interest = wants;
        if let Err(error) = flushed.map(|_| ()).and(polled) {
            self.rooms.fail(Some(index), FailureKind::Disconnect, format!("the connection broke: {error}"));
        }
    }

    /// Quits, and reads until every connection is closed: duplicates may still arrive.
    fn leave(&mut self) {
        self.rooms.state = RoomsState::Leaving;
        for index in 0..self.rooms.users.len() {
            let user = &mut self.rooms.users[index];
            user.protocol.write_quit(&mut user.out);
            self.flush(index);
            let user = &self.rooms.users[index];
            if let Some(stream) = user.stream.as_ref().filter(|_| user.out.is_empty()) {
                // Not every protocol has a quit command. The connection may already be broken.
                let _ = stream.shutdown(std::net::Shutdown::Write);
            }
        }
        let deadline_ns = self.rooms.shared.now_ns() + LEAVE_NS;
        while self.rooms.users.iter().any(|user| user.stream.is_some()) {
            let left_ns = deadline_ns.saturating_sub(self.rooms.shared.now_ns());
            self.timers.clear();
            if left_ns == 0 || self.poll_once(Some(left_ns)).is_err() {
                break;
            }
        }
    }
}
