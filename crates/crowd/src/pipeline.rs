//! The requests of one connection: when they are due, and which have no reply yet.

use std::collections::VecDeque;

use klatch_record::RrWorkload;

use crate::pace::Turn;
use crate::schedule::{Rate, Schedule};
use crate::worker::{Worker, WorkerState};

pub(crate) struct Pipeline {
    /// When requests are due; `None` for a closed loop.
    schedule: Option<Schedule>,
    /// Number of requests sent so far.
    sent: u32,
    /// Number and intended send time (ns) of each request in flight.
    in_flight: VecDeque<(u32, u64)>,
    /// When the window of requests in flight was last full and became free, or a blocked write ended, ns; 0 before.
    pub(crate) free_ns: u64,
    /// It will send nothing more, and has all replies.
    pub(crate) done: bool,
}

impl Pipeline {
    pub(crate) fn new(workload: &RrWorkload, seed: u64, number: u32) -> Pipeline {
        let rate = Rate::of(workload.rate_per_connection_per_s, workload.stages.as_ref());
        Pipeline {
            schedule: rate.map(|rate| Schedule::new(seed, number, 0, rate, workload.arrivals)),
            sent: 0,
            in_flight: VecDeque::new(),
            free_ns: 0,
            done: false,
        }
    }

    /// Number and intended send time (ns) of each request in flight, the oldest first.
    pub(crate) fn in_flight(&self) -> &VecDeque<(u32, u64)> {
        &self.in_flight
    }

    /// When the next request is due, and when nothing more is, ns.
    fn due_and_end(&self, workload: &RrWorkload, gate_ns: u64, now_ns: u64) -> (u64, u64) {
        let end_ns = gate_ns + (workload.duration_s * 1e9) as u64;
        let due_ns = match &self.schedule {
            Some(schedule) if schedule.is_over() => end_ns,
            Some(schedule) => gate_ns + schedule.due_ns(),
            None => now_ns,
        };
        (due_ns, end_ns)
    }

    /// Whether nothing more is to be sent.
    pub(crate) fn is_over(&self, workload: &RrWorkload, gate_ns: u64, now_ns: u64) -> bool {
        let (due_ns, end_ns) = self.due_and_end(workload, gate_ns, now_ns);
        due_ns >= end_ns
    }

    /// What the connection does at `now_ns`.
    pub(crate) fn turn(&self, worker: &Worker, workload: &RrWorkload, now_ns: u64) -> Turn {
        if worker.shared.gate_ns() == 0 || worker.state != WorkerState::Running || self.done {
            return Turn::WaitForOthers;
        }
        let (due_ns, end_ns) = self.due_and_end(workload, worker.shared.gate_ns(), now_ns);
        let in_flight = self.in_flight.len();
        if due_ns >= end_ns {
            // Nothing more is to be sent, which is recorded once nothing is in flight.
            return if in_flight == 0 { Turn::Send(now_ns) } else { Turn::WaitForOthers };
        }
        match in_flight < workload.in_flight_max() as usize {
            false => Turn::WaitForOthers,
            true if due_ns > now_ns => Turn::WaitUntil(due_ns),
            true => Turn::Send(due_ns),
        }
    }

    /// Counts a request that is sent at `now_ns`, with its intended send time. Returns its number.
    pub(crate) fn begin(
        &mut self,
        worker: &mut Worker,
        workload: &RrWorkload,
        meant_ns: u64,
        now_ns: u64,
    ) -> u32 {
        let sequence = self.sent;
        self.in_flight.push_back((sequence, meant_ns));
        self.sent += 1;
        self.schedule.iter_mut().for_each(Schedule::advance);
        worker.stats.sent += 1;
        if workload.is_scheduled() {
            worker.stats.record_due(worker.shared.gate_ns(), meant_ns, 1);
            // A request that waits for a place in the window is late by the server.
            worker.stats.record_lag(now_ns.saturating_sub(meant_ns.max(self.free_ns)));
        }
        sequence
    }

    /// Takes the request at `place` among those in flight, which has a reply. Returns its number and its intended send time.
    pub(crate) fn end(&mut self, place: usize, in_flight_max: u32, now_ns: u64) -> Option<(u32, u64)> {
        let was_full = self.in_flight.len() == in_flight_max as usize;
        let ended = self.in_flight.remove(place)?;
        if was_full {
            self.free_ns = now_ns;
        }
        Some(ended)
    }
}
