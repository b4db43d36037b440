//! Instruments that watch a run and look away by turns: what their looking costs.

use std::time::{Duration, Instant};

use klatch_instruments::{Files, Instruments, Targets, Watch, cpu_time_ns};
use klatch_record::Observation;
use klatch_runner::Watcher;

/// Progress that was told before this is over is of before the turn, or of the turning.
const SETTLING: Duration = Duration::from_millis(300);
/// Half of a turn. Each half is compared with the neighbouring half of the turn beside it, so a machine that is slower now
/// than it was some seconds ago is so for both.
const HALF: Duration = Duration::from_millis(900);

/// Watches a run by turns.
pub(crate) struct ByTurns<'a> {
    instruments: &'a Instruments,
    files: &'a Files,
    targets: Targets,
    watch: Option<Watch>,
    warming: Duration,
    turned: Instant,
    half_began: Option<Look>,
    /// The halves that have ended, in the order of time.
    pub(crate) halves: Vec<Half>,
    /// Why an instrument did not watch.
    pub(crate) failure: Option<String>,
    /// Is told how many pairs of halves there are.
    tell: Box<dyn FnMut(usize) + 'a>,
}

/// Half of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Half {
    pub(crate) watched: bool,
    pub(crate) elapsed_s: f64,
    pub(crate) messages: u64,
    /// CPU time of servers and crowds.
    pub(crate) cpu_s: [f64; 2],
}

struct Look {
    at: Instant,
    messages: u64,
    cpu_ns: [u64; 2],
}

impl<'a> ByTurns<'a> {
    /// What comes in the first `warming` does not count: a JVM is slow in its first seconds.
    pub(crate) fn new(
        instruments: &'a Instruments,
        files: &'a Files,
        warming: Duration,
        tell: impl FnMut(usize) + 'a,
    ) -> ByTurns<'a> {
        ByTurns {
            instruments,
            files,
            targets: Targets::default(),
            watch: None,
            warming,
            turned: Instant::now(),
            half_began: None,
            halves: Vec::new(),
            failure: None,
            tell: Box::new(tell),
        }
    }

    fn turn(&mut self) {
        self.watch = match self.watch.take() {
            // What it saw is of no interest, and to tell it would take longer than the turn.
            Some(_) => None,
            None => {
                let watch = self.instruments.start(&self.targets, self.files);
                self.failure = self.failure.take().or_else(|| watch.failure());
                Some(watch)
            }
        };
        (self.turned, self.half_began) = (Instant::now(), None);
    }

    fn look(&self, messages: u64) -> Look {
        let used = |pids: &[u32]| pids.iter().filter_map(|&pid| cpu_time_ns(pid).ok()).sum();
        let cpu_ns = [used(&self.targets.servers), used(&self.targets.crowds)];
        Look { at: Instant::now(), messages, cpu_ns }
    }

    /// Pairs of neighbouring halves, of which the first was not watched.
    pub(crate) fn pairs(&self) -> Vec<(Half, Half)> {
        let beside = self.halves.windows(2).filter(|two| two[0].watched != two[1].watched);
        beside.map(|two| if two[0].watched { (two[1], two[0]) } else { (two[0], two[1]) }).collect()
    }
}

impl Watcher for ByTurns<'_> {
    fn opens(&mut self, targets: &Targets) {
        self.targets = targets.clone();
        self.turned = Instant::now() + self.warming;
    }

    fn progress(&mut self, messages: u64) {
        if self.turned.elapsed() < SETTLING {
            return;
        }
        let now = self.look(messages);
        let Some(began) = &self.half_began else {
            self.half_began = Some(now);
            return;
        };
        let elapsed = now.at - began.at;
        if elapsed < HALF {
            return;
        }
        let cpu_s = [0, 1].map(|side| (now.cpu_ns[side] - began.cpu_ns[side]) as f64 / 1e9);
        let watched = self.watch.is_some();
        let messages = now.messages - began.messages;
        self.halves.push(Half { watched, elapsed_s: elapsed.as_secs_f64(), messages, cpu_s });
        // The first turn has one half only; after that, every second half ends a turn.
        if self.halves.len() % 2 == 1 {
            self.turn();
        } else {
            self.half_began = Some(now);
            (self.tell)(self.halves.len() / 2);
        }
    }

    fn closes(&mut self) -> Vec<Observation> {
        self.watch = None;
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_paired_and_each_half_once() {
        let (instruments, folder) =
            (Instruments::new(klatch_instruments::Kernel::here(), &[], &[]), "x".into());
        let files = Files { folder, stem: String::new() };
        let mut by_turns = ByTurns::new(&instruments, &files, Duration::ZERO, |_| {});
        let half = |(number, watched)| Half { watched, elapsed_s: 1.0, messages: number, cpu_s: [0.0; 2] };
        let turns = [false, true, true, false, false, true];
        by_turns.halves = (1..).zip(turns).map(half).collect();
        let numbers: Vec<_> = by_turns.pairs().iter().map(|(a, b)| (a.messages, b.messages)).collect();
        assert_eq!(numbers, [(1, 2), (4, 3), (5, 6)]);
        assert!(by_turns.pairs().iter().all(|(a, b)| !a.watched && b.watched));
    }
}
