//! The crowd's interface to a workload. The parties of one worker are plain data: received bytes go in, bytes to send come
//! out, and the parties keep the accounts. Event loops and pairs of threads move the bytes.

use klatch_record::{Failure, FailureKind};

use crate::line_speed::LineSpeed;
use crate::link::Link;
use crate::pace::Turn;
use crate::protocol::{UserId, printable};
use crate::shared::{ControlMessage, Phase};
use crate::worker::{Worker, WorkerState};

/// What follows when the server has closed a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterEnd {
    /// It should have stayed open, and the crowd cannot go on.
    Failure,
    /// The connection is made anew.
    Reconnect,
    /// The connection is made anew, and begins with the handshake.
    Rejoin,
    /// Nothing: it is not needed any more.
    Done,
}

pub(crate) trait Parties: Send + 'static {
    /// Longest unit of the protocol that is parsed as a whole, in bytes.
    const UNIT_BYTES_MAX: usize;

    fn worker(&self) -> &Worker;

    fn worker_mut(&mut self) -> &mut Worker;

    /// Number of connections of all parties.
    fn connections(&self) -> usize;

    fn link(&mut self, index: usize) -> &mut Link;

    /// The place of a connection in the whole crowd, from which its source address follows.
    fn id(&self, index: usize) -> UserId;

    /// The failure of a connection, or of all (`None`).
    fn failure(&self, index: Option<usize>, kind: FailureKind, detail: String) -> Failure;

    /// Appends what a new connection sends first.
    fn write_handshake(&mut self, index: usize);

    /// Appends what a connection sends before it is closed.
    fn write_quit(&mut self, _index: usize) {}

    /// Processes bytes that a connection received. Returns the number of bytes consumed; the rest is an incomplete unit.
    fn on_bytes(&mut self, index: usize, input: &[u8], now_ns: u64) -> usize;

    /// What a connection does at `now_ns`.
    fn turn(&self, index: usize, now_ns: u64) -> Turn;

    /// Appends what is due to a connection's output. Returns the time of the next unit if only the clock decides.
    fn queue_due(&mut self, index: usize, now_ns: u64) -> Option<u64>;

    /// Whether [`Parties::queue_due`] has more to append as soon as the output is empty.
    fn has_more(&self, _index: usize) -> bool {
        false
    }

    /// Notes that the server did not read until now, so what was due before is late by it. Only crowds whose writes block call it.
    fn on_unblocked(&mut self, _index: usize, _now_ns: u64) {}

    /// Whether everything that was sent is received.
    fn nothing_in_flight(&self) -> bool;

    /// Completes the statistics at the end: records what is missing.
    fn settle(&mut self);

    /// The speed of each connection's line; `None` to read as fast as possible.
    fn line_speed(&self) -> Option<LineSpeed> {
        None
    }

    /// Whether a thread that has received a reply sends what is then due, instead of waking the sender. Then what a connection has
    /// in flight must fit into one write that does not block.
    fn receiver_sends(&self) -> bool {
        false
    }

    /// The next connection that may have something to send because of what another one received.
    fn next_ready(&mut self) -> Option<usize> {
        None
    }

    /// The next connection to be closed and made anew. Appends what it sends last.
    fn next_leaving(&mut self) -> Option<usize> {
        None
    }

    /// Whether a connection is being closed to be made anew.
    fn is_leaving(&self, _index: usize) -> bool {
        false
    }

    /// Whether a server has sent all of a connection and is to close it, so that no byte can be missing at its end.
    fn awaits_end(&self, _index: usize) -> bool {
        false
    }

    /// The server has closed a connection.
    fn on_end(&mut self, _index: usize, _now_ns: u64) -> AfterEnd {
        AfterEnd::Failure
    }

    /// Reports a pause to the supervisor if one is under way and everything that was sent is received.
    fn report_pause_if_complete(&mut self) {
        if self.worker().state == WorkerState::Pausing && self.nothing_in_flight() {
            self.worker_mut().report_pause();
        }
    }

    /// Follows the phase of the crowd into or out of a pause. Returns whether the parties may send again.
    fn follow_phase(&mut self) -> bool {
        let worker = self.worker();
        match worker.shared.phase() {
            Phase::Pause if worker.pauses != worker.shared.pauses() => {
                let worker = self.worker_mut();
                worker.pauses = worker.shared.pauses();
                worker.state = match worker.state {
                    WorkerState::Running | WorkerState::Paused => WorkerState::Pausing,
                    other => other,
                };
                if self.nothing_in_flight() {
                    self.worker_mut().report_pause();
                }
                false
            }
            Phase::Talk if worker.state == WorkerState::Paused => {
                self.worker_mut().state = WorkerState::Running;
                true
            }
            _ => false,
        }
    }

    /// Reports a failure. With an `index`, that connection is dropped as well, and only its first failure is reported: one read may
    /// contain a hundred thousand refusals.
    fn fail(&mut self, index: Option<usize>, kind: FailureKind, detail: String) {
        if let Some(index) = index {
            let link = self.link(index);
            link.stream = None;
            if std::mem::replace(&mut link.failed, true) {
                return;
            }
        }
        if self.worker().state != WorkerState::Leaving {
            let failure = self.failure(index, kind, printable(detail));
            self.worker().send_control(ControlMessage::Failed(failure));
        }
    }
}

/// The accessors of [`Parties`] that have one connection each, with a `number` and a `link`, and are in this field.
macro_rules! one_connection_each {
    ($parties:ident) => {
        fn worker(&self) -> &$crate::worker::Worker {
            &self.worker
        }

        fn worker_mut(&mut self) -> &mut $crate::worker::Worker {
            &mut self.worker
        }

        fn connections(&self) -> usize {
            self.$parties.len()
        }

        fn link(&mut self, index: usize) -> &mut $crate::link::Link {
            &mut self.$parties[index].link
        }

        fn id(&self, index: usize) -> $crate::protocol::UserId {
            $crate::protocol::UserId { room: self.$parties[index].number, user: 0, users: 1 }
        }

        fn failure(
            &self,
            index: Option<usize>,
            kind: klatch_record::FailureKind,
            detail: String,
        ) -> klatch_record::Failure {
            let connection = index.map(|index| self.$parties[index].number);
            klatch_record::Failure { kind, connection, room: None, user: None, detail }
        }
    };
}
pub(crate) use one_connection_each;
