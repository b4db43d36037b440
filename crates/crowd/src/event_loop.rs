//! One event loop that owns whole parties: makes their connections and moves the bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Error, ErrorKind};
use std::sync::atomic::Ordering;

use klatch_record::{FailureKind, TlsSession};

use crate::connections::{Connections, Ready, WAKE_KEY};
use crate::line_speed::LineSpeed;
use crate::link::Flushed;
use crate::parties::{AfterEnd, Parties};
use crate::shared::{Phase, Wake};
use crate::stats::CrowdStats;
use crate::worker::WorkerState;

/// Connections that may be joining at a time. Some servers have small listen backlogs.
const JOINING_MAX: usize = 8;
const READ_BYTES: usize = 256 * 1024;
/// Longest time for a server to close connections after the crowd has quit, ns.
pub(crate) const LEAVE_NS: u64 = 2_000_000_000;

pub(crate) struct EventLoop<P> {
    parties: P,
    connections: Connections,
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    ready: Vec<Ready>,
    buffer: Vec<u8>,
    /// Connections made so far.
    connected: usize,
    /// The speed of each line; `None` to read as fast as possible.
    speed: Option<LineSpeed>,
    /// When the loop had last looked at everything, by the crowd's clock.
    looked_ns: u64,
}

impl<P: Parties> EventLoop<P> {
    pub(crate) fn new(parties: P, connections: Connections) -> EventLoop<P> {
        let buffer = vec![0; READ_BYTES];
        let speed = parties.line_speed();
        EventLoop {
            parties,
            connections,
            timers: BinaryHeap::new(),
            ready: Vec::new(),
            buffer,
            connected: 0,
            speed,
            looked_ns: 0,
        }
    }

    /// Runs until the crowd stops.
    pub(crate) fn run(mut self) -> CrowdStats {
        let mut phase = Phase::Join;
        self.connect_next();
        while phase != Phase::Stop {
            if let Err(error) = self.poll_once(None) {
                self.parties.fail(None, FailureKind::Disconnect, format!("the event loop failed: {error}"));
                break;
            }
            let before = phase;
            phase = self.parties.worker().shared.phase();
            if self.parties.follow_phase() || (before, phase) == (Phase::Join, Phase::Talk) {
                (0..self.parties.connections())
                    .for_each(|index| self.send_due(index, self.parties.worker().shared.now_ns()));
            }
            self.parties.worker_mut().publish();
        }
        self.leave();
        self.parties.settle();
        self.parties.worker_mut().take_stats()
    }

    /// Handles the events of one wait. It ends with the next timer, or after `max_wait_ns` if there is none.
    fn poll_once(&mut self, max_wait_ns: Option<u64>) -> std::io::Result<()> {
        while let Some(index) = self.parties.next_leaving() {
            self.hang_up(index);
        }
        // The clock stands still in a pause, and everything is looked at again after it.
        let is_paused = self.parties.worker().state == WorkerState::Paused;
        let next_timer = self.timers.peek().filter(|_| !is_paused).map(|Reverse((due_ns, _))| *due_ns);
        let timer_ns = next_timer.map(|due_ns| due_ns.saturating_sub(self.now_ns()));
        let mut ready = std::mem::take(&mut self.ready);
        self.connections.wait(timer_ns.or(max_wait_ns), &mut ready)?;
        let began_ns = self.now_ns();
        for (place, &Ready { key, readable, writable, ended }) in ready.iter().enumerate() {
            let now_ns = if place == 0 { began_ns } else { self.now_ns() };
            if key == WAKE_KEY {
                if let Wake::Loop(wake) =
                    &self.parties.worker().shared.workers[self.parties.worker().number].wake
                {
                    rustix::io::read(wake, &mut [0_u8; 8])?;
                }
                continue;
            }
            if writable {
                self.flush(key as usize);
                self.send_due(key as usize, now_ns);
            }
            if ended {
                self.parties.link(key as usize).ended = true;
            }
            if readable {
                // What arrives is timed when it is read, and to send takes time.
                let now_ns = if writable { self.now_ns() } else { now_ns };
                self.on_readable(key as usize, now_ns);
            }
        }
        let now_ns = if ready.is_empty() { began_ns } else { self.now_ns() };
        self.ready = ready;
        self.record_turn(next_timer, began_ns, now_ns);
        while let Some(&Reverse((due_ns, index))) =
            self.timers.peek().filter(|Reverse((due_ns, _))| *due_ns <= now_ns)
        {
            self.timers.pop();
            let link = self.parties.link(index);
            if link.timer_ns == due_ns {
                link.timer_ns = 0;
            }
            if link.unread {
                self.on_readable(index, self.now_ns());
            }
            self.send_due(index, now_ns);
        }
        Ok(())
    }

    fn now_ns(&self) -> u64 {
        self.parties.worker().shared.now_ns()
    }

    /// Records a gap if the loop was away for longer than it should: since it had what was ready, or since its next timer ended, which may
    /// have been due before the loop could wait for it.
    fn record_turn(&mut self, next_timer: Option<u64>, began_ns: u64, done_ns: u64) {
        let due_ns = next_timer.map_or(began_ns, |due_ns| due_ns.max(self.looked_ns).min(began_ns));
        self.looked_ns = done_ns;
        let worker = self.parties.worker_mut();
        if worker.state == WorkerState::Running {
            let gate_ns = worker.shared.gate_ns();
            worker.stats.gaps.add_turn(gate_ns, due_ns, done_ns);
        }
    }

    fn connect_next(&mut self) {
        while self.connected < self.parties.connections()
            && self.connected - self.parties.worker().joined < JOINING_MAX
        {
            let index = self.connected;
            match self.connect(index) {
                Ok(()) => {
                    self.parties.worker().shared.connected.fetch_add(1, Ordering::Relaxed);
                    self.parties.write_handshake(index);
                    self.connected += 1;
                    self.flush(index);
                }
                Err(error) => {
                    let first = self.parties.worker().shared.connected.load(Ordering::Relaxed) == 0;
                    let kind = if first { FailureKind::Connect } else { FailureKind::Join };
                    return self.parties.fail(Some(index), kind, format!("cannot connect: {error}"));
                }
            }
        }
    }

    /// Connects a user, with a channel of its own where the transport has one.
    fn connect(&mut self, index: usize) -> std::io::Result<()> {
        let id = self.parties.id(index);
        let stream = self.connections.connect(index, id, self.speed.is_some())?;
        let channel = self.connections.channel(id);
        let link = self.parties.link(index);
        (link.stream, link.channel) = (Some(stream), channel);
        Ok(())
    }

    /// Reads once from a connection and sends what is due. A line that is still busy reads later.
    fn on_readable(&mut self, index: usize, now_ns: u64) {
        if self.speed.is_some() && self.parties.worker().state != WorkerState::Leaving {
            let link = self.parties.link(index);
            link.unread = true;
            let free_ns = link.next_read_ns;
            if free_ns > now_ns {
                return self.set_timer(index, free_ns);
            }
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let most = self.speed.map_or(READ_BYTES, LineSpeed::sip_bytes);
        let read = self.parties.link(index).read(&mut buffer, P::UNIT_BYTES_MAX, most);
        match read {
            Ok(None) => {
                self.parties.link(index).unread = false;
                // The channel may have replies of its own.
                self.flush(index);
            }
            Ok(Some((_, 0))) => self.on_end(index, now_ns, None),
            Ok(Some((input, new_bytes))) => {
                let link = self.parties.link(index);
                // Epoll reports bytes that arrive after a read that was not filled.
                link.unread = new_bytes == most || link.ended;
                let free_ns = self.occupy(index, new_bytes, now_ns);
                let taken = self.parties.on_bytes(index, input, now_ns);
                self.parties.link(index).save_partial(&input[taken..]);
                self.send_due(index, now_ns);
                while let Some(other) = self.parties.next_ready() {
                    self.send_due(other, now_ns);
                }
                if let Some(free_ns) = free_ns
                    && self.parties.link(index).unread
                {
                    self.set_timer(index, free_ns);
                }
                if self.parties.worker().shared.gate_ns() == 0 {
                    self.connect_next();
                }
            }
            // The server has closed the transport as it must, or without reading the crowd's own close frame.
            Err(error) if is_end(&error) && self.parties.is_leaving(index) => {
                self.on_end(index, now_ns, Some(error))
            }
            // The transport has ended in order, or where no byte can be missing.
            Err(error)
                if error.kind() == ErrorKind::ConnectionAborted
                    || error.kind() == ErrorKind::UnexpectedEof && self.parties.awaits_end(index) =>
            {
                self.on_end(index, now_ns, Some(error))
            }
            Err(error) => self.parties.fail(
                Some(index),
                FailureKind::Disconnect,
                format!("the connection broke: {error}"),
            ),
        }
        self.buffer = buffer;
    }

    /// Occupies the line of a connection for the time of these bytes. Returns when it is free.
    fn occupy(&mut self, index: usize, bytes: usize, now_ns: u64) -> Option<u64> {
        let speed = self.speed?;
        let link = self.parties.link(index);
        link.next_read_ns = link.next_read_ns.max(now_ns) + speed.ns_for(bytes);
        Some(link.next_read_ns)
    }

    /// The server has closed a connection; `error` has the words of the transport for it.
    fn on_end(&mut self, index: usize, now_ns: u64, error: Option<Error>) {
        if self.parties.worker().stats.tls.is_none() {
            self.keep_session(index);
        }
        match self.parties.on_end(index, now_ns) {
            AfterEnd::Failure => {
                let joined = self.parties.link(index).joined;
                let detail = error
                    .map_or_else(|| closed_early(joined), |error| format!("the connection broke: {error}"));
                self.parties.fail(Some(index), FailureKind::Disconnect, detail);
            }
            AfterEnd::Done => self.parties.link(index).reset(),
            after @ (AfterEnd::Reconnect | AfterEnd::Rejoin) => {
                self.parties.link(index).reset();
                match self.connect(index) {
                    Ok(()) => {
                        if after == AfterEnd::Rejoin {
                            self.parties.write_handshake(index);
                        }
                        self.send_due(index, now_ns);
                    }
                    Err(error) => {
                        let detail = format!("cannot connect again: {error}");
                        self.parties.fail(Some(index), FailureKind::Disconnect, detail);
                    }
                }
            }
        }
    }

    /// Keeps what TLS agreed to on a connection that ends: at the end of the run none may be open.
    fn keep_session(&mut self, index: usize) {
        let session = self.parties.link(index).channel.as_ref().and_then(|channel| channel.tls_session());
        let of_none = |session| TlsSession { resumed: 0, in_kernel: 0, ..session };
        self.parties.worker_mut().stats.tls = session.map(of_none);
    }

    fn set_timer(&mut self, index: usize, moment_ns: u64) {
        let link = self.parties.link(index);
        if link.timer_ns != moment_ns {
            link.timer_ns = moment_ns;
            self.timers.push(Reverse((moment_ns, index)));
        }
    }

    /// Sends the messages of a user that are due.
    fn send_due(&mut self, index: usize, now_ns: u64) {
        loop {
            if let Some(moment_ns) = self.parties.queue_due(index, now_ns) {
                self.set_timer(index, moment_ns);
            }
            self.flush(index);
            let link = self.parties.link(index);
            if link.stream.is_none() || link.has_output() || !self.parties.has_more(index) {
                break;
            }
        }
    }

    fn flush(&mut self, index: usize) {
        let link = self.parties.link(index);
        if !link.has_output() {
            return;
        }
        let flushed = link.flush();
        if link.out.is_empty() {
            let spare = std::mem::take(&mut link.out);
            self.parties.worker_mut().spare = spare;
        }
        let link = self.parties.link(index);
        let had_interest = link.write_interest;
        let wants = matches!(flushed, Ok(Flushed::Partly));
        let polled = match &link.stream {
            Some(stream) if had_interest != wants => {
                self.connections.set_write_interest(stream, index, wants, self.speed.is_some())
            }
            _ => Ok(()),
        };
        link.write_interest = wants;
        if let Err(error) = flushed.map(|_| ()).and(polled) {
            self.parties.fail(Some(index), FailureKind::Disconnect, format!("the connection broke: {error}"));
        }
    }

    /// Sends what is left, and ends the output of a connection.
    fn hang_up(&mut self, index: usize) {
        self.flush(index);
        if let Some(channel) = &mut self.parties.link(index).channel {
            channel.close();
            self.flush(index);
        }
        let link = self.parties.link(index);
        if let Some(stream) = link.stream.as_ref().filter(|_| !link.has_output()) {
            // Not every protocol has a quit command. The connection may already be broken.
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
    }

    /// Quits, and reads until every connection is closed: duplicates may still arrive.
    fn leave(&mut self) {
        self.parties.worker_mut().state = WorkerState::Leaving;
        let tls = (0..self.parties.connections())
            .filter_map(|index| self.parties.link(index).channel.as_ref()?.tls_session())
            .reduce(TlsSession::with);
        let stats = &mut self.parties.worker_mut().stats;
        stats.tls = tls.or(stats.tls.take());
        for index in 0..self.parties.connections() {
            self.parties.write_quit(index);
            self.hang_up(index);
        }
        let deadline_ns = self.parties.worker().shared.now_ns() + LEAVE_NS;
        while (0..self.parties.connections()).any(|index| self.parties.link(index).stream.is_some()) {
            let left_ns = deadline_ns.saturating_sub(self.parties.worker().shared.now_ns());
            self.timers.clear();
            if left_ns == 0 || self.poll_once(Some(left_ns)).is_err() {
                break;
            }
        }
    }
}

/// The failure of a connection that the server has closed.
pub(crate) fn closed_early(joined: bool) -> String {
    match joined {
        true => "the server closed the connection".to_owned(),
        // What it sent before would have been reported.
        false => "the server closed the connection without an answer to the first request: it may speak another protocol".to_owned(),
    }
}

/// Whether this is how a connection ends that both sides close.
fn is_end(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}
