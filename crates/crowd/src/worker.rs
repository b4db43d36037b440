//! What every workload keeps for the parties of one worker: their progress, their statistics, and the way to the supervisor.

use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError};

use crate::shared::{ControlMessage, Shared, WorkerPause};
use crate::stats::CrowdStats;
use crate::timeline::add_to;

pub(crate) struct Worker {
    pub(crate) number: usize,
    pub(crate) shared: Arc<Shared>,
    control: Sender<ControlMessage>,
    pub(crate) stats: CrowdStats,
    /// The memory of the last output that was sent. The next connection to send takes it over, so silent ones own none.
    pub(crate) spare: Vec<u8>,
    /// Connections that have joined.
    pub(crate) joined: usize,
    pub(crate) state: WorkerState,
    /// Pauses begun so far.
    pub(crate) pauses: u32,
}

/// The progress of the parties of one worker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkerState {
    Running,
    /// Nothing more is sent; something is in flight.
    Pausing,
    /// Nothing more is sent, and nothing is in flight.
    Paused,
    /// Everything is sent and received.
    Complete,
    /// The connections are being closed. Only the rest of their input is still read.
    Leaving,
}

impl Worker {
    pub(crate) fn new(number: usize, shared: Arc<Shared>, control: Sender<ControlMessage>) -> Worker {
        Worker {
            number,
            shared,
            control,
            stats: CrowdStats::new(),
            spare: Vec::new(),
            joined: 0,
            state: WorkerState::Running,
            pauses: 0,
        }
    }

    /// Counts a connection that has joined, out of `connections`.
    pub(crate) fn record_joined(&mut self, connections: usize) {
        self.joined += 1;
        if self.joined == connections {
            self.send_control(ControlMessage::Joined);
        }
    }

    /// Everything is sent and received.
    pub(crate) fn report_complete(&mut self) {
        self.state = WorkerState::Complete;
        self.send_control(ControlMessage::Complete);
    }

    /// Nothing is in flight.
    pub(crate) fn report_pause(&mut self) {
        if self.state == WorkerState::Pausing {
            self.state = WorkerState::Paused;
        }
        let CrowdStats { sent, received, last_ns, .. } = self.stats;
        let latency_ns = self.stats.take_since_pause();
        self.send_control(ControlMessage::Paused(WorkerPause { sent, received, last_ns, latency_ns }));
    }

    /// The statistics, at the end.
    pub(crate) fn take_stats(&mut self) -> CrowdStats {
        std::mem::replace(&mut self.stats, CrowdStats::new())
    }

    pub(crate) fn send_control(&self, message: ControlMessage) {
        // The receiver is gone only when the crowd has ended.
        let _ = self.control.send(message);
    }

    /// Publishes counters and new latencies for the supervisor.
    pub(crate) fn publish(&mut self) {
        let worker = &self.shared.workers[self.number];
        worker.joined.store(self.joined as u64, Ordering::Relaxed);
        worker.sent.store(self.stats.sent, Ordering::Relaxed);
        worker.received.store(self.stats.received, Ordering::Relaxed);
        if let Some(new_latencies) = self.stats.take_new_latencies() {
            add_to(&mut worker.new_latencies.lock().unwrap_or_else(PoisonError::into_inner), new_latencies);
        }
    }
}
