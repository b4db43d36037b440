//! The lines of workload `web`, without any I/O: each requests what its script says, and checks every byte of the replies.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use klatch_exchange::web::{Operation, PostEntry};
use klatch_record::{Conforming, FailureKind, Fault, FaultKind, PartyCounts, Results, WebWorkload};

use crate::line::{Line, ReplyFault, ReplyPart, State};
use crate::line_speed::LineSpeed;
use crate::link::OUT_MAX;
use crate::pace::Turn;
use crate::parties::{AfterEnd, Parties, one_connection_each};
use crate::site::{Site, joining_step};
use crate::worker::{Worker, WorkerState};

pub(crate) struct Lines {
    worker: Worker,
    workload: WebWorkload,
    site: Arc<Site>,
    lines: Vec<Line>,
    /// Requests without a reply, of all lines.
    in_flight: u64,
    /// Lines that will send nothing more and have all replies.
    done: usize,
    /// Right replies before the end of the time for which requests are sent.
    in_window: u64,
}

impl Lines {
    /// The lines `range`, counted from the first of the workload.
    pub(crate) fn new(worker: Worker, workload: &WebWorkload, site: Arc<Site>, range: Range<u32>) -> Lines {
        let line = |index| {
            let number = workload.start + index;
            Line::new(number, site.mix.line(number))
        };
        let lines = range.map(line).collect();
        Lines { worker, workload: workload.clone(), site, lines, in_flight: 0, done: 0, in_window: 0 }
    }

    /// The end of the time for which requests are sent, ns.
    fn end_ns(&self) -> u64 {
        self.worker.shared.gate_ns() + (self.workload.duration_s * 1e9) as u64
    }

    /// A reply is complete, right or wrong.
    fn on_reply(&mut self, index: usize, fault: Option<ReplyFault>, now_ns: u64) {
        let line = &mut self.lines[index];
        if !line.link.joined {
            if let Some(fault) = fault {
                let detail = format!("the reply to the first request is wrong: {}", fault.detail);
                return self.fail(Some(index), FailureKind::Join, detail);
            }
            line.link.joined = true;
            return self.worker.record_joined(self.lines.len());
        }
        self.in_flight -= 1;
        let end_ns = self.end_ns();
        let line = &mut self.lines[index];
        // The last byte is through when the line is free again.
        let received_ns = now_ns.max(line.link.next_read_ns);
        line.last_ns = received_ns;
        match fault {
            Some(fault) => self.record_fault(index, fault),
            None => {
                line.verified += 1;
                self.in_window += u64::from(received_ns <= end_ns);
                if let Operation::Post { client, sequence } = line.step.operation {
                    self.worker.stats.posts.push(PostEntry { client, sequence, file: line.step.file });
                }
                let (gate_ns, meant_ns) = (self.worker.shared.gate_ns(), line.meant_ns);
                self.worker.stats.record_delivery(gate_ns, received_ns, meant_ns);
            }
        }
        self.report_pause_if_complete();
    }

    fn record_fault(&mut self, index: usize, fault: ReplyFault) {
        let Line { number, sent, .. } = self.lines[index];
        let ReplyFault { kind, detail } = fault;
        let sequence = sent.saturating_sub(1);
        self.worker.stats.record_fault(Fault::of_connection(kind, number, sequence, Some(detail)));
    }
}

impl Parties for Lines {
    /// The longest head of a reply.
    const UNIT_BYTES_MAX: usize = 16 * 1024;

    one_connection_each!(lines);

    /// The smallest file, by a request that is not counted.
    fn write_handshake(&mut self, index: usize) {
        self.lines[index].request(joining_step());
    }

    fn on_bytes(&mut self, index: usize, input: &[u8], now_ns: u64) -> usize {
        let mut rest = input;
        while !rest.is_empty() {
            let site = self.site.clone();
            let line = &mut self.lines[index];
            let before = rest.len();
            let part = line.on_part(&mut rest, &site);
            line.bytes += (before - rest.len()) as u64;
            match part {
                ReplyPart::Incomplete => break,
                ReplyPart::Complete(fault) => self.on_reply(index, fault, now_ns),
                ReplyPart::Unexpected => {
                    let detail = format!("{} bytes that no request asked for", rest.len());
                    self.record_fault(index, ReplyFault { kind: FaultKind::Unexpected, detail });
                    rest = &[];
                }
                ReplyPart::NoHttp(detail) => {
                    self.fail(Some(index), FailureKind::Refused, detail);
                    rest = &[];
                }
            }
        }
        input.len() - rest.len()
    }

    fn turn(&self, index: usize, now_ns: u64) -> Turn {
        let line = &self.lines[index];
        if self.worker.shared.gate_ns() == 0 || self.worker.state != WorkerState::Running || line.done {
            return Turn::WaitForOthers;
        }
        match line.state {
            State::Idle | State::Closing if now_ns >= self.end_ns() => Turn::Send(now_ns),
            State::Idle if line.link.next_read_ns > now_ns => Turn::WaitUntil(line.link.next_read_ns),
            State::Idle => Turn::Send(now_ns),
            _ => Turn::WaitForOthers,
        }
    }

    fn queue_due(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        let meant_ns = match self.turn(index, now_ns) {
            Turn::Send(meant_ns) => meant_ns,
            Turn::WaitUntil(moment_ns) => return Some(moment_ns),
            Turn::WaitForOthers => return None,
        };
        let is_over = now_ns >= self.end_ns();
        let line = &mut self.lines[index];
        if is_over {
            line.done = true;
            self.done += 1;
            if self.done == self.lines.len() {
                self.worker.report_complete();
            }
            return None;
        }
        if line.link.out.len() >= OUT_MAX {
            return None;
        }
        let step = line.script.next_step(&self.site.mix);
        line.request(step);
        line.meant_ns = meant_ns;
        line.sent += 1;
        self.in_flight += 1;
        self.worker.stats.sent += 1;
        None
    }

    fn nothing_in_flight(&self) -> bool {
        self.in_flight == 0
    }

    fn line_speed(&self) -> Option<LineSpeed> {
        self.workload.line_kbit_per_s.map(LineSpeed::new)
    }

    fn awaits_end(&self, index: usize) -> bool {
        matches!(self.lines[index].state, State::Closing)
    }

    fn on_end(&mut self, index: usize, now_ns: u64) -> AfterEnd {
        let is_over = self.worker.state == WorkerState::Leaving || self.lines[index].done;
        let line = &mut self.lines[index];
        if !line.link.joined {
            return AfterEnd::Failure;
        }
        let was_in_flight = line.is_in_flight();
        let fault = line.on_end(is_over);
        if was_in_flight {
            self.on_reply(index, fault, now_ns);
        } else if let Some(fault) = fault {
            self.record_fault(index, fault);
        }
        if is_over { AfterEnd::Done } else { AfterEnd::Reconnect }
    }

    fn settle(&mut self) {
        let gate_ns = self.worker.shared.gate_ns();
        let conforming = self.workload.line_kbit_per_s.filter(|_| gate_ns > 0).and_then(|speed| {
            let mut received: BTreeMap<u64, u64> = BTreeMap::new();
            self.lines.iter().for_each(|line| *received.entry(line.kbit_per_s(gate_ns)).or_default() += 1);
            Conforming::new(speed, &received.into_iter().collect::<Vec<_>>())
        });
        let parties = PartyCounts::from_counts(self.lines.iter().map(|line| line.verified));
        self.worker.stats.results = Some(Results::Web { parties, in_window: self.in_window, conforming });
        for index in 0..self.lines.len() {
            if self.lines[index].is_in_flight() && self.lines[index].link.joined {
                let detail = "no complete reply".to_owned();
                self.record_fault(index, ReplyFault { kind: FaultKind::Lost, detail });
            }
        }
    }
}
