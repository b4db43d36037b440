//! Connections that send requests, without any I/O: queues the requests that are due, and checks every reply.

use std::ops::Range;

use klatch_record::{FailureKind, Fault, FaultKind, PartyCounts, Results, RrWorkload};

use crate::link::{Link, OUT_MAX};
use crate::pace::Turn;
use crate::parties::{Parties, one_connection_each};
use crate::payloads::Payloads;
use crate::pipeline::Pipeline;
use crate::protocol::{Credentials, shown, shown_up_to};
use crate::requests::{Greeting, Reply, RequestProtocol};
use crate::worker::{Worker, WorkerState};

/// A socket takes so many bytes at once when its buffers are empty: they begin with 16 KiB, of which a part is overhead.
const ONE_WRITE_BYTES: u32 = 8 * 1024;

/// Most characters of a payload that a message shows.
const PAYLOAD_SHOWN_MAX: usize = 40;

/// The number of the request by which a connection joins. It is not counted.
const JOINING: u32 = u32::MAX;

pub(crate) struct Exchanges<P> {
    worker: Worker,
    workload: RrWorkload,
    payloads: Payloads,
    connections: Vec<Connection<P>>,
    /// Requests without a reply, of all connections.
    in_flight: u64,
    /// Connections that will send nothing more and have all replies.
    done: usize,
}

struct Connection<P> {
    number: u32,
    protocol: P,
    link: Link,
    pipeline: Pipeline,
    /// The request after the last one that has a reply.
    next_reply: u32,
    /// Number of right replies.
    verified: u64,
}

impl<P: RequestProtocol> Exchanges<P> {
    /// The connections `range`, counted from the first of the workload.
    pub(crate) fn new(
        mut worker: Worker,
        workload: &RrWorkload,
        seed: u64,
        login: &Credentials,
        range: Range<u32>,
    ) -> Exchanges<P> {
        worker.stats.begin_stages(workload.stages.as_ref());
        let connection = |index| {
            let number = workload.start + index;
            Connection {
                number,
                protocol: P::new(login),
                link: Link::default(),
                pipeline: Pipeline::new(workload, seed, number),
                next_reply: 0,
                verified: 0,
            }
        };
        Exchanges {
            worker,
            payloads: Payloads::new(seed, workload.size_bytes as usize),
            connections: range.map(connection).collect(),
            in_flight: 0,
            done: 0,
            workload: workload.clone(),
        }
    }

    fn on_reply(&mut self, index: usize, reply: Reply<'_>, now_ns: u64) {
        let connection = &self.connections[index];
        let number = connection.number;
        let payload = match reply {
            Reply::Payload(payload) => payload,
            Reply::Refused(line) if self.worker.state == WorkerState::Leaving => line,
            Reply::Refused(line) => return self.refuse(index, line),
        };
        if !connection.link.joined {
            if !self.payloads.matches(number, JOINING, payload) {
                let detail = format!(
                    "the reply to the first request is wrong: {}",
                    shown_up_to(payload, PAYLOAD_SHOWN_MAX)
                );
                return self.fail(Some(index), FailureKind::Join, detail);
            }
            self.connections[index].link.joined = true;
            return self.worker.record_joined(self.connections.len());
        }
        let is = |(sequence, _): &(u32, u64)| self.payloads.matches(number, *sequence, payload);
        match connection.pipeline.in_flight().iter().position(is) {
            Some(place) => self.on_right_reply(index, place, now_ns),
            None => self.on_wrong_reply(index, payload, now_ns),
        }
        self.report_pause_if_complete();
    }

    /// The server refused a connection, or a request.
    fn refuse(&mut self, index: usize, line: &[u8]) {
        let joined = self.connections[index].link.joined;
        let kind = if joined { FailureKind::Refused } else { FailureKind::Join };
        self.fail(Some(index), kind, format!("the server answered: {}", shown(line)));
    }

    /// Appends the request by which a connection joins.
    fn write_joining(&mut self, index: usize) {
        let Connection { number, link, .. } = &mut self.connections[index];
        let payload = |out: &mut Vec<u8>| self.payloads.write(*number, JOINING, out);
        P::write_request(&mut link.out, self.workload.size_bytes as usize, payload);
    }

    /// Takes what a server sends before it takes requests from the front of `input`.
    #[cold]
    fn on_greeting(&mut self, index: usize, input: &mut &[u8]) {
        loop {
            let Connection { protocol, link, .. } = &mut self.connections[index];
            let Some((taken, greeting)) = protocol.parse_greeting(input, &mut link.out) else { return };
            *input = &input[taken..];
            match greeting {
                Greeting::Continue => {}
                Greeting::Open => return self.write_joining(index),
                // Whatever follows is of no use.
                Greeting::Refused(line) => {
                    self.refuse(index, line);
                    *input = &[];
                    return;
                }
            }
        }
    }

    /// Counts the reply to the request at `place` among those in flight.
    fn on_right_reply(&mut self, index: usize, place: usize, now_ns: u64) {
        let connection = &mut self.connections[index];
        let number = connection.number;
        let depth = self.workload.depth;
        let Some((sequence, meant_ns)) = connection.pipeline.end(place, depth, now_ns) else { return };
        connection.verified += 1;
        self.in_flight -= 1;
        self.worker.stats.record_delivery(self.worker.shared.gate_ns(), now_ns, meant_ns);
        if sequence < connection.next_reply {
            self.record_fault(FaultKind::Reordered, number, sequence, None);
        } else {
            connection.next_reply = sequence + 1;
        }
    }

    /// Records the fault of a reply that is not the one to any request in flight.
    fn on_wrong_reply(&mut self, index: usize, payload: &[u8], now_ns: u64) {
        let connection = &mut self.connections[index];
        let (number, next) = (connection.number, connection.next_reply);
        let is = |sequence: &u32| self.payloads.matches(number, *sequence, payload);
        let earlier = (next.saturating_sub(self.workload.depth + 1)..next).rev().find(is);
        let (kind, sequence) = match (earlier, connection.pipeline.in_flight().front()) {
            (Some(earlier), _) => (FaultKind::Duplicated, earlier),
            (None, None) => (FaultKind::Unexpected, next),
            (None, Some(&(oldest, _))) => {
                // It stands for the reply to the oldest request, so that the ones after it are judged by themselves.
                connection.pipeline.end(0, self.workload.depth, now_ns);
                connection.pipeline.free_ns = now_ns;
                connection.next_reply = next.max(oldest + 1);
                self.in_flight -= 1;
                (FaultKind::Corrupted, oldest)
            }
        };
        self.record_fault(
            kind,
            number,
            sequence,
            Some(format!("got: {}", shown_up_to(payload, PAYLOAD_SHOWN_MAX))),
        );
    }

    fn record_fault(&mut self, kind: FaultKind, connection: u32, sequence: u32, detail: Option<String>) {
        self.worker.stats.record_fault(Fault::of_connection(kind, connection, sequence, detail));
    }
}

impl<P: RequestProtocol> Parties for Exchanges<P> {
    /// The largest payload with its head.
    const UNIT_BYTES_MAX: usize = 80 * 1024;

    one_connection_each!(connections);

    fn write_handshake(&mut self, index: usize) {
        let Connection { protocol, link, .. } = &mut self.connections[index];
        protocol.write_hello(&mut link.out);
        if protocol.is_open() {
            self.write_joining(index);
        }
    }

    fn write_quit(&mut self, index: usize) {
        P::write_quit(&mut self.connections[index].link.out);
    }

    fn on_bytes(&mut self, index: usize, input: &[u8], now_ns: u64) -> usize {
        let size = self.workload.size_bytes as usize;
        let mut rest = input;
        if !self.connections[index].protocol.is_open() {
            self.on_greeting(index, &mut rest);
            // What follows is no reply while the connection is not open.
            if !self.connections[index].protocol.is_open() {
                return input.len() - rest.len();
            }
        }
        while !rest.is_empty()
            && let Some((taken, reply)) = P::parse_reply(size, rest)
        {
            self.on_reply(index, reply, now_ns);
            rest = &rest[taken..];
        }
        input.len() - rest.len()
    }

    fn turn(&self, index: usize, now_ns: u64) -> Turn {
        self.connections[index].pipeline.turn(&self.worker, &self.workload, now_ns)
    }

    fn queue_due(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        while self.connections[index].link.out.len() < OUT_MAX {
            let meant_ns = match self.turn(index, now_ns) {
                Turn::Send(meant_ns) => meant_ns,
                Turn::WaitUntil(moment_ns) => return Some(moment_ns),
                Turn::WaitForOthers => break,
            };
            let connection = &mut self.connections[index];
            if connection.pipeline.is_over(&self.workload, self.worker.shared.gate_ns(), now_ns) {
                connection.pipeline.done = true;
                self.done += 1;
                if self.done == self.connections.len() {
                    self.worker.report_complete();
                }
                break;
            }
            let Connection { number, link, pipeline, .. } = connection;
            if link.out.capacity() == 0 {
                link.out = std::mem::take(&mut self.worker.spare);
            }
            let sequence = pipeline.begin(&mut self.worker, &self.workload, meant_ns, now_ns);
            let payload = |out: &mut Vec<u8>| self.payloads.write(*number, sequence, out);
            P::write_request(&mut link.out, self.workload.size_bytes as usize, payload);
            self.in_flight += 1;
        }
        None
    }

    fn on_unblocked(&mut self, index: usize, now_ns: u64) {
        self.connections[index].pipeline.free_ns = now_ns;
    }

    fn nothing_in_flight(&self) -> bool {
        self.in_flight == 0
    }

    fn receiver_sends(&self) -> bool {
        !self.workload.is_scheduled() && self.workload.depth * self.workload.size_bytes <= ONE_WRITE_BYTES
    }

    fn settle(&mut self) {
        let counts = self.connections.iter().map(|connection| connection.verified);
        let parties = PartyCounts::from_counts(counts);
        self.worker.stats.results = Some(Results::Rr { parties, kinds: Vec::new(), reopened: 0 });
        let lost: Vec<(u32, u32)> = self
            .connections
            .iter()
            .flat_map(|one| one.pipeline.in_flight().iter().map(|(sequence, _)| (one.number, *sequence)))
            .collect();
        for (connection, sequence) in lost {
            self.record_fault(FaultKind::Lost, connection, sequence, None);
        }
    }
}

#[cfg(test)]
#[path = "exchanges_tests.rs"]
mod tests;
