//! Instruments that are switched on and off within one run, to measure their cost.

use std::time::{Duration, Instant};

use klatch_instruments::{Files, Instruments, RunningInstruments, Targets};
use klatch_machine::cpu_time_ns;
use klatch_record::Observation;
use klatch_runner::RunObserver;

/// Progress reported earlier than this after a switch is ignored: it may be of before the switch, or of the switching.
const SETTLING: Duration = Duration::from_millis(300);
/// Length of a phase. Each phase is compared with its neighbour on the other side of a switch, so that a machine that
/// slows down over seconds slows down both.
const PHASE: Duration = Duration::from_millis(900);

/// Switches instruments on and off during a run, and measures phases of either kind.
pub(crate) struct Alternating<'a> {
    instruments: &'a Instruments,
    files: &'a Files,
    targets: Targets,
    running: Option<RunningInstruments>,
    warming: Duration,
    switched_at: Instant,
    phase_began: Option<Counters>,
    /// The phases that have ended, in the order of time.
    pub(crate) phases: Vec<Phase>,
    /// Why an instrument did not run.
    pub(crate) failure: Option<String>,
    /// Receives the number of pairs so far.
    on_pair: Box<dyn FnMut(usize) + 'a>,
}

/// A phase with or without instruments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Phase {
    pub(crate) instrumented: bool,
    pub(crate) elapsed_s: f64,
    pub(crate) messages: u64,
    /// CPU time of servers and of crowds.
    pub(crate) cpu_s: [f64; 2],
}

struct Counters {
    at: Instant,
    messages: u64,
    cpu_ns: [u64; 2],
}

impl<'a> Alternating<'a> {
    /// The first `warming` of the run is not measured: a JVM is slow in its first seconds.
    pub(crate) fn new(
        instruments: &'a Instruments,
        files: &'a Files,
        warming: Duration,
        on_pair: impl FnMut(usize) + 'a,
    ) -> Alternating<'a> {
        Alternating {
            instruments,
            files,
            targets: Targets::default(),
            running: None,
            warming,
            switched_at: Instant::now(),
            phase_began: None,
            phases: Vec::new(),
            failure: None,
            on_pair: Box::new(on_pair),
        }
    }

    fn switch(&mut self) {
        self.running = match self.running.take() {
            // The observations are not needed, and to evaluate them would take longer than a phase.
            Some(_) => None,
            None => {
                let running = self.instruments.start(&self.targets, self.files);
                self.failure = self.failure.take().or_else(|| running.failure());
                Some(running)
            }
        };
        (self.switched_at, self.phase_began) = (Instant::now(), None);
    }

    fn counters(&self, messages: u64) -> Counters {
        let used = |pids: &[u32]| pids.iter().filter_map(|&pid| cpu_time_ns(pid).ok()).sum();
        let cpu_ns = [used(&self.targets.servers), used(&self.targets.crowds)];
        Counters { at: Instant::now(), messages, cpu_ns }
    }

    /// The phases on both sides of each switch, the one without instruments first.
    pub(crate) fn pairs(&self) -> Vec<(Phase, Phase)> {
        let switches = self.phases.windows(2).filter(|two| two[0].instrumented != two[1].instrumented);
        switches.map(|two| if two[0].instrumented { (two[1], two[0]) } else { (two[0], two[1]) }).collect()
    }
}

impl RunObserver for Alternating<'_> {
    fn gate_opening(&mut self, targets: &Targets) {
        self.targets = targets.clone();
        self.switched_at = Instant::now() + self.warming;
    }

    fn progress(&mut self, messages: u64) {
        if self.switched_at.elapsed() < SETTLING {
            return;
        }
        let now = self.counters(messages);
        let Some(began) = &self.phase_began else {
            self.phase_began = Some(now);
            return;
        };
        let elapsed = now.at - began.at;
        if elapsed < PHASE {
            return;
        }
        let cpu_s = [0, 1].map(|side| (now.cpu_ns[side] - began.cpu_ns[side]) as f64 / 1e9);
        let instrumented = self.running.is_some();
        let messages = now.messages - began.messages;
        self.phases.push(Phase { instrumented, elapsed_s: elapsed.as_secs_f64(), messages, cpu_s });
        // The first switch follows one phase, every later one two phases: off, on, on, off, off and so on.
        if self.phases.len() % 2 == 1 {
            self.switch();
        } else {
            self.phase_began = Some(now);
            (self.on_pair)(self.phases.len() / 2);
        }
    }

    fn deliveries_done(&mut self) -> Vec<Observation> {
        self.running = None;
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_phases_are_paired_and_each_phase_once() {
        let (instruments, folder) =
            (Instruments::new(klatch_instruments::Kernel::detect(), &[], &[]), "x".into());
        let files = Files { folder, stem: String::new() };
        let mut alternating = Alternating::new(&instruments, &files, Duration::ZERO, |_| {});
        let phase = |(number, instrumented)| Phase {
            instrumented,
            elapsed_s: 1.0,
            messages: number,
            cpu_s: [0.0; 2],
        };
        let kinds = [false, true, true, false, false, true];
        alternating.phases = (1..).zip(kinds).map(phase).collect();
        let numbers: Vec<_> = alternating.pairs().iter().map(|(a, b)| (a.messages, b.messages)).collect();
        assert_eq!(numbers, [(1, 2), (4, 3), (5, 6)]);
        assert!(alternating.pairs().iter().all(|(a, b)| !a.instrumented && b.instrumented));
    }
}
