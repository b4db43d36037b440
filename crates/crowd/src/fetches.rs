//! Connections that ask for URLs, without any I/O: queues the requests that are due, and checks every reply. A connection that the server
//! closes after a reply is made anew.

use std::ops::Range;
use std::sync::Arc;

use hdrhistogram::Histogram;
use klatch_record::{FailureKind, Fault, FaultKind, OperationKindScore, PartyCounts, Results, RrWorkload};

use crate::histogram::{new_histogram, recorded};
use crate::http_connection::{End, HttpConnection, Part, Request};
use crate::link::{Link, OUT_MAX};
use crate::pace::Turn;
use crate::parties::{AfterEnd, Parties, one_connection_each};
use crate::pipeline::Pipeline;
use crate::urls::Urls;
use crate::worker::{Worker, WorkerState};

/// The request by which a connection joins. It is not counted.
const JOINING: Request = Request { sequence: u32::MAX, url: 0 };

pub(crate) struct Fetches<H> {
    worker: Worker,
    workload: RrWorkload,
    urls: Arc<Urls>,
    connections: Vec<Connection<H>>,
    /// Requests without a reply, of all connections.
    in_flight: u64,
    /// Connections that will send nothing more and have all replies.
    done: usize,
    /// Connections that the server is to close, as it announced.
    leaving: Vec<usize>,
    /// Connections that were made anew so far.
    reopened: u64,
    /// Latencies of each URL; empty for one URL.
    latency_ns: Vec<Histogram<u32>>,
}

struct Connection<H> {
    number: u32,
    link: Link,
    pipeline: Pipeline,
    http: H,
    /// Number of right replies.
    verified: u64,
    /// The requests in flight are to be sent on a new connection.
    resends: bool,
    /// The server has sent no reply on this connection, which is not the first.
    is_fruitless: bool,
}

impl<H: HttpConnection> Fetches<H> {
    /// The connections `range`, counted from the first of the workload. Each is made anew from `http`.
    pub(crate) fn new(
        mut worker: Worker,
        workload: &RrWorkload,
        urls: Arc<Urls>,
        http: &H,
        seed: u64,
        range: Range<u32>,
    ) -> Fetches<H> {
        worker.stats.begin_stages(workload.stages.as_ref());
        let connection = |index| {
            let number = workload.start + index;
            Connection {
                number,
                link: Link::default(),
                pipeline: Pipeline::new(workload, seed, number),
                http: http.anew(),
                verified: 0,
                resends: false,
                is_fruitless: false,
            }
        };
        let histograms = if urls.count() > 1 { urls.count() } else { 0 };
        Fetches {
            worker,
            workload: workload.clone(),
            connections: range.map(connection).collect(),
            in_flight: 0,
            done: 0,
            leaving: Vec::new(),
            reopened: 0,
            latency_ns: (0..histograms).map(|_| new_histogram()).collect(),
            urls,
        }
    }

    /// A reply is complete, right or wrong, or its connection has ended.
    fn on_reply(&mut self, index: usize, request: Request, fault: Option<String>, now_ns: u64) {
        let connection = &mut self.connections[index];
        connection.is_fruitless = false;
        if !connection.link.joined {
            if let Some(fault) = fault {
                let detail = format!("the reply to the first request is wrong: {fault}");
                return self.fail(Some(index), FailureKind::Join, detail);
            }
            connection.link.joined = true;
            return self.worker.record_joined(self.connections.len());
        }
        let pipeline = &mut connection.pipeline;
        let is_it = |(sequence, _): &(u32, u64)| *sequence == request.sequence;
        let place = pipeline.in_flight().iter().position(is_it);
        let in_flight_max = self.workload.in_flight_max();
        let ended = place.and_then(|place| pipeline.end(place, in_flight_max, now_ns));
        let Some((sequence, meant_ns)) = ended else { return };
        self.in_flight -= 1;
        match fault {
            Some(fault) => self.record_fault(index, FaultKind::Wrong, sequence, fault),
            None => {
                connection.verified += 1;
                self.worker.stats.record_delivery(self.worker.shared.gate_ns(), now_ns, meant_ns);
                if let Some(histogram) = self.latency_ns.get_mut(request.url) {
                    histogram.saturating_record(now_ns.saturating_sub(meant_ns));
                }
            }
        }
        self.report_pause_if_complete();
    }

    fn record_fault(&mut self, index: usize, kind: FaultKind, sequence: u32, detail: String) {
        let number = self.connections[index].number;
        self.worker.stats.record_fault(Fault::of_connection(kind, number, sequence, Some(detail)));
    }

    /// Sends the requests that are due. Returns the time of the next one if only the clock decides.
    fn send_due(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        while self.connections[index].link.out.len() < OUT_MAX {
            let meant_ns = match self.turn(index, now_ns) {
                Turn::Send(meant_ns) => meant_ns,
                Turn::WaitUntil(moment_ns) => return Some(moment_ns),
                Turn::WaitForOthers => break,
            };
            let Connection { number, link, pipeline, http, .. } = &mut self.connections[index];
            if pipeline.is_over(&self.workload, self.worker.shared.gate_ns(), now_ns) {
                pipeline.done = true;
                self.done += 1;
                if self.done == self.connections.len() {
                    self.worker.report_complete();
                }
                break;
            }
            if link.out.capacity() == 0 {
                link.out = std::mem::take(&mut self.worker.spare);
            }
            let sequence = pipeline.begin(&mut self.worker, &self.workload, meant_ns, now_ns);
            http.send(request(&self.urls, *number, sequence), &mut link.out);
            self.in_flight += 1;
        }
        None
    }

    /// Appends the requests in flight to the output of a connection that was made anew.
    fn send_again(&mut self, index: usize) {
        let Connection { number, link, pipeline, http, resends, .. } = &mut self.connections[index];
        *resends = false;
        for (sequence, _) in pipeline.in_flight() {
            http.send(request(&self.urls, *number, *sequence), &mut link.out);
        }
    }
}

impl<H> Connection<H> {
    /// The oldest request of the connection that has no reply; `None` if there is none.
    fn awaited(&self, urls: &Urls) -> Option<Request> {
        awaited(urls, self.number, &self.pipeline, self.link.joined)
    }
}

fn awaited(urls: &Urls, number: u32, pipeline: &Pipeline, joined: bool) -> Option<Request> {
    match pipeline.in_flight().front() {
        Some((sequence, _)) => Some(request(urls, number, *sequence)),
        None => (!joined).then_some(JOINING),
    }
}

/// A request of a connection by its number.
fn request(urls: &Urls, connection: u32, sequence: u32) -> Request {
    Request { sequence, url: urls.choose(connection, sequence) }
}

impl<H: HttpConnection> Parties for Fetches<H> {
    /// The longest head of a reply.
    const UNIT_BYTES_MAX: usize = 16 * 1024;

    one_connection_each!(connections);

    fn write_handshake(&mut self, index: usize) {
        let Connection { link, http, .. } = &mut self.connections[index];
        http.send(JOINING, &mut link.out);
        http.flush(&mut link.out);
    }

    fn write_quit(&mut self, index: usize) {
        let Connection { link, http, .. } = &mut self.connections[index];
        http.close(&mut link.out);
    }

    fn on_bytes(&mut self, index: usize, input: &[u8], now_ns: u64) -> usize {
        let mut rest = input;
        let was_closing = self.connections[index].http.is_closing();
        loop {
            let Connection { number, link, pipeline, http, .. } = &mut self.connections[index];
            match http.next(&mut rest, &self.urls, || awaited(&self.urls, *number, pipeline, link.joined)) {
                Part::Incomplete => break,
                Part::Complete(request, fault) => self.on_reply(index, request, fault, now_ns),
                Part::NoHttp(detail) => {
                    let awaited = self.connections[index].awaited(&self.urls).unwrap_or(JOINING);
                    let name = self.urls.name(awaited.url);
                    self.fail(Some(index), FailureKind::Refused, format!("{name}: {detail}"));
                    return input.len();
                }
                Part::Unexpected(detail) => {
                    self.record_fault(index, FaultKind::Unexpected, 0, detail);
                    return input.len();
                }
            }
        }
        match self.connections[index].http.is_closing() {
            true => {
                if !was_closing {
                    self.leaving.push(index);
                }
                // What follows the last reply of a connection is of no use.
                input.len()
            }
            false => input.len() - rest.len(),
        }
    }

    fn turn(&self, index: usize, now_ns: u64) -> Turn {
        let Connection { pipeline, http, .. } = &self.connections[index];
        let is_over = || pipeline.is_over(&self.workload, self.worker.shared.gate_ns(), now_ns);
        if !http.may_send() && !is_over() {
            return Turn::WaitForOthers;
        }
        pipeline.turn(&self.worker, &self.workload, now_ns)
    }

    fn queue_due(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        if self.connections[index].resends {
            self.send_again(index);
        }
        let next_ns = self.send_due(index, now_ns);
        let Connection { link, http, .. } = &mut self.connections[index];
        http.flush(&mut link.out);
        next_ns
    }

    fn has_more(&self, index: usize) -> bool {
        self.connections[index].http.has_more()
    }

    fn on_unblocked(&mut self, index: usize, now_ns: u64) {
        self.connections[index].pipeline.free_ns = now_ns;
    }

    fn nothing_in_flight(&self) -> bool {
        self.in_flight == 0
    }

    fn next_leaving(&mut self) -> Option<usize> {
        self.leaving.pop()
    }

    fn is_leaving(&self, index: usize) -> bool {
        self.connections[index].http.is_closing()
    }

    fn awaits_end(&self, index: usize) -> bool {
        self.is_leaving(index)
    }

    fn on_end(&mut self, index: usize, now_ns: u64) -> AfterEnd {
        let connection = &mut self.connections[index];
        let (awaited, joined) = (connection.awaited(&self.urls), connection.link.joined);
        // A connection that the crowd ends says nothing of the server: what is in flight is lost.
        let is_leaving = self.worker.state == WorkerState::Leaving;
        match (connection.http.on_end(&self.urls, awaited), awaited) {
            (End::Complete(fault), Some(request)) => self.on_reply(index, request, fault, now_ns),
            (End::Cut(detail), Some(request)) if joined && !is_leaving => {
                let detail = format!("{}: {detail}", self.urls.name(request.url));
                self.on_reply(index, request, Some(detail), now_ns);
            }
            (End::Instead(detail), Some(request)) if joined && !is_leaving => {
                if connection.is_fruitless {
                    let detail = "the server closes each connection instead of a reply".to_owned();
                    self.fail(Some(index), FailureKind::Disconnect, detail);
                    return AfterEnd::Done;
                }
                let detail = format!("{}: {detail}", self.urls.name(request.url));
                self.on_reply(index, request, Some(detail), now_ns);
                self.connections[index].is_fruitless = true;
            }
            _ => {}
        }
        let connection = &mut self.connections[index];
        if !connection.link.joined {
            return if connection.link.failed { AfterEnd::Done } else { AfterEnd::Failure };
        }
        if is_leaving || connection.pipeline.done {
            return AfterEnd::Done;
        }
        connection.resends = true;
        self.reopened += 1;
        AfterEnd::Reconnect
    }

    fn settle(&mut self) {
        let parties = PartyCounts::from_counts(self.connections.iter().map(|one| one.verified));
        let mut kinds = std::collections::BTreeMap::<&str, Vec<(u64, u64)>>::new();
        for (url, histogram) in self.latency_ns.iter().enumerate() {
            kinds.entry(self.urls.name(url)).or_default().extend(recorded(histogram));
        }
        let kinds = OperationKindScore::from_counts(&kinds).expect("histograms of a worker can be packed");
        self.worker.stats.results = Some(Results::Rr { parties, kinds, reopened: self.reopened });
        for index in 0..self.connections.len() {
            let in_flight: Vec<u32> =
                self.connections[index].pipeline.in_flight().iter().map(|(sequence, _)| *sequence).collect();
            for sequence in in_flight {
                self.record_fault(index, FaultKind::Lost, sequence, "no complete reply".to_owned());
            }
        }
    }
}

#[cfg(test)]
#[path = "fetches_support.rs"]
mod support;

#[cfg(test)]
#[path = "fetches_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fetches_http2_tests.rs"]
mod http2_tests;
