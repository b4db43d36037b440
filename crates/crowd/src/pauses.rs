//! Pauses of a crowd: a moment when all that was sent is delivered and nothing more is sent.

use klatch_record::PausedCounts;

use crate::shared::{ControlMessage, Shared, WorkerPause};
use crate::timeline::{Counts, add_to};

/// The supervisor's part of the pauses: collects the workers' reports, and stops the clock.
#[derive(Default)]
pub(crate) struct Pauses {
    state: State,
    /// End the run when the pause is complete.
    finish: bool,
    /// Changes whenever time passes in a pause.
    waited: u64,
}

#[derive(Default)]
enum State {
    #[default]
    Talking,
    /// The reports of the workers so far.
    Pausing(Vec<WorkerPause>),
    /// Complete since this time of the crowd's clock, ns.
    Paused(u64),
}

impl Pauses {
    /// Obeys a command, or takes the report of a worker. Returns the counts when a pause is complete.
    pub(crate) fn on_message(
        &mut self,
        message: ControlMessage,
        shared: &Shared,
        workers: usize,
    ) -> Option<PausedCounts> {
        match (message, &mut self.state) {
            (ControlMessage::Pause, State::Talking) => self.begin(shared),
            (ControlMessage::Finish, state) => {
                self.finish = true;
                match state {
                    State::Talking => self.begin(shared),
                    State::Pausing(_) => {}
                    State::Paused(_) => shared.finish(),
                }
            }
            (ControlMessage::Resume, &mut State::Paused(stopped_ns)) => {
                self.state = State::Talking;
                shared.resume(stopped_ns);
            }
            (ControlMessage::Paused(report), State::Pausing(reports)) => {
                reports.push(report);
                if reports.len() == workers {
                    let counts = sum(reports, shared.gate_ns());
                    self.state = State::Paused(shared.now_ns());
                    if self.finish {
                        shared.finish();
                    }
                    return Some(counts);
                }
            }
            _ => {}
        }
        None
    }

    /// A number that changes in a complete pause and stands still otherwise: a pause is no stall.
    pub(crate) fn progress(&mut self) -> u64 {
        self.waited += u64::from(matches!(self.state, State::Paused(_)));
        self.waited
    }

    fn begin(&mut self, shared: &Shared) {
        self.state = State::Pausing(Vec::new());
        shared.pause();
    }
}

fn sum(reports: &[WorkerPause], gate_ns: u64) -> PausedCounts {
    let last_ns = reports.iter().map(|report| report.last_ns).max().unwrap_or(0);
    let mut latency_ns = Counts::new();
    reports.iter().for_each(|report| add_to(&mut latency_ns, report.latency_ns.iter().copied()));
    PausedCounts {
        sent: reports.iter().map(|report| report.sent).sum(),
        received: reports.iter().map(|report| report.received).sum(),
        active_ns: last_ns.saturating_sub(gate_ns),
        latency_ns: latency_ns.into_iter().collect(),
    }
}
