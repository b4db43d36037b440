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
    /// Complete since this time of the crowd's clock, ns, with these counts.
    Paused(u64, PausedCounts),
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
            (ControlMessage::Pause, State::Paused(_, counts)) => return Some(counts.clone()),
            (ControlMessage::Finish, state) => {
                self.finish = true;
                match state {
                    State::Talking => self.begin(shared),
                    State::Pausing(_) => {}
                    State::Paused(..) => shared.finish(),
                }
            }
            (ControlMessage::Resume, State::Paused(stopped_ns, _)) => {
                let stopped_ns = *stopped_ns;
                self.state = State::Talking;
                shared.resume(stopped_ns);
            }
            (ControlMessage::Paused(report), State::Pausing(reports)) => {
                reports.push(report);
                if reports.len() == workers {
                    let counts = sum(reports, shared.gate_ns());
                    let again = PausedCounts { latency_ns: Vec::new(), ..counts.clone() };
                    self.state = State::Paused(shared.stop_clock(), again);
                    if self.finish {
                        shared.finish();
                        return None;
                    }
                    return Some(counts);
                }
            }
            _ => {}
        }
        None
    }

    pub(crate) fn is_paused(&self) -> bool {
        matches!(self.state, State::Paused(..))
    }

    /// A number that changes in a complete pause and stands still otherwise: a pause is no stall.
    pub(crate) fn progress(&mut self) -> u64 {
        self.waited += u64::from(self.is_paused());
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::shared::{Phase, Wake};

    fn report(sent: u64, last_ns: u64) -> ControlMessage {
        ControlMessage::Paused(WorkerPause {
            sent,
            received: 3 * sent,
            last_ns,
            latency_ns: vec![(1_000, sent)],
        })
    }

    #[test]
    fn a_pause_is_complete_with_the_report_of_the_last_worker_and_the_clock_stands_still() {
        let shared = Shared::new(vec![Wake::Threads(Mutex::default()), Wake::Threads(Mutex::default())]);
        let mut pauses = Pauses::default();
        shared.open_gate();
        let gate_ns = shared.gate_ns();
        assert_eq!(pauses.on_message(ControlMessage::Pause, &shared, 2), None);
        assert_eq!(shared.phase(), Phase::Pause);
        assert_eq!(pauses.on_message(report(1, gate_ns + 5), &shared, 2), None);
        let counts = pauses.on_message(report(2, gate_ns + 9), &shared, 2).unwrap();
        assert_eq!((counts.sent, counts.received, counts.active_ns), (3, 9, 9));
        assert_eq!(counts.latency_ns, [(1_000, 3)]);
        let again = pauses.on_message(ControlMessage::Pause, &shared, 2).unwrap();
        assert_eq!((again.sent, again.latency_ns.len()), (3, 0));
        let State::Paused(stopped_ns, _) = pauses.state else { panic!("it is paused") };
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert_eq!(shared.now_ns(), stopped_ns);
        pauses.on_message(ControlMessage::Resume, &shared, 2);
        assert!(shared.now_ns() < stopped_ns + 2_000_000, "the clock continues where it stopped");
        assert_eq!(shared.phase(), Phase::Talk);
        pauses.on_message(ControlMessage::Finish, &shared, 2);
        assert!(!shared.finished(), "messages may be in flight");
        pauses.on_message(report(1, 0), &shared, 2);
        assert_eq!(pauses.on_message(report(1, 0), &shared, 2), None, "the crowd prints `done` instead");
        assert!(shared.finished());
    }
}
