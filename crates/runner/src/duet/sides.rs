//! The two sides of a duet: what a slice of one is, and how it is measured.

use std::time::{Duration, Instant};

use klatch_host::machine::cpu_time_ns;
use klatch_instruments::Targets;
use klatch_record::{Latency, PausedCounts, Slice};

use crate::duet::placement::{Confined, Placement};
use crate::{RunError, SteeredRun};

/// Two sides that can run for a slice of time, and pause.
pub(crate) trait Sides {
    /// Lets the users of a side send, first on the CPUs of `placement` if there is one.
    fn begin_slice(&mut self, side: usize, placement: Option<Placement>) -> Result<(), RunError>;

    /// Pauses the side and measures its slice; `None` if its crowd has ended by itself.
    fn end_slice(&mut self, side: usize) -> Result<Option<Slice>, RunError>;

    /// Called once, after the warm-up and before the first pair that counts.
    fn warmed_up(&mut self) {}

    /// CPU time so far of the servers and crowds that a side does not share with the other, ns.
    fn cpu_ns(&self, side: usize) -> u64;

    /// CPU time of all servers and crowds so far, ns.
    fn all_cpu_ns(&self) -> u64;
}

/// How long threads are confined to a CPU at the beginning of a slice.
const CONFINED: Duration = Duration::from_millis(2);
/// How often a paused side is checked for being idle.
const IDLE_CHECK: Duration = Duration::from_micros(300);
/// CPU time within one check below which a side is idle, ns.
const IDLE_NS: u64 = 15_000;
/// Longest wait for a side to be idle. A JVM may compile for longer than that; the next slice then counts as disturbed.
const IDLE_WAIT_MAX: Duration = Duration::from_millis(20);

/// One server, its crowd, and what they had done and used at the last pause.
pub(crate) struct Measured<'a> {
    pub(crate) run: SteeredRun<'a>,
    targets: Targets,
    counts: PausedCounts,
    before: [Option<u64>; 2],
}

impl<'a> Measured<'a> {
    /// Takes over a run whose gate is open, and pauses it. Returns whether its crowd has ended by itself.
    ///
    /// # Errors
    /// The user interrupted Klatch, or the crowd hangs.
    pub(crate) fn paused(run: SteeredRun<'a>) -> Result<(Measured<'a>, bool), RunError> {
        let targets = run.targets();
        let mut measured = Measured { run, targets, counts: PausedCounts::default(), before: [None; 2] };
        let counts = measured.run.pause()?;
        let ended = counts.is_none();
        measured.counts = counts.unwrap_or_default();
        Ok((measured, ended))
    }

    pub(crate) fn targets(&self) -> &Targets {
        &self.targets
    }

    pub(crate) fn begin_slice(&mut self, placement: Option<Placement>) {
        let Targets { servers, crowds, .. } = &self.targets;
        let confined = placement.map(|at| [Confined::to(at.server, servers), Confined::to(at.crowd, crowds)]);
        self.before = self.clocks();
        self.run.resume();
        if confined.is_some() {
            // A blocked thread moves when it wakes, so it must have time to.
            std::thread::sleep(CONFINED);
        }
    }

    pub(crate) fn end_slice(&mut self) -> Result<Option<Slice>, RunError> {
        let Some(counts) = self.run.pause()? else { return Ok(None) };
        let end_margin = self.wait_until_idle();
        let cpu_s = |after: Option<u64>, before: Option<u64>| Some((after? - before?) as f64 / 1e9);
        let after = self.clocks();
        let latency = Latency::from_counts_ns(&counts.latency_ns)?;
        let slice = Slice {
            messages: counts.sent + counts.received - self.counts.sent - self.counts.received,
            elapsed_s: (counts.active_ns - self.counts.active_ns) as f64 / 1e9,
            server_cpu_s: cpu_s(after[0], self.before[0]),
            crowd_cpu_s: cpu_s(after[1], self.before[1]),
            latency_p50_us: latency.as_ref().map(|latency| latency.p50_us),
            latency_p99_us: latency.as_ref().map(|latency| latency.p99_us),
            end_margin_ms: end_margin.as_secs_f64() * 1e3,
        };
        self.counts = counts;
        Ok(Some(slice))
    }

    /// Messages sent and deliveries received since the gate opened.
    pub(crate) fn messages(&self) -> u64 {
        self.counts.sent + self.counts.received
    }

    /// CPU time of servers and crowds so far, ns.
    pub(crate) fn cpu_ns(&self) -> u64 {
        self.clocks().into_iter().flatten().sum()
    }

    /// CPU time of the servers and of the crowds, ns; `None` for a side on another machine.
    fn clocks(&self) -> [Option<u64>; 2] {
        let sum = |pids: &[u32]| {
            let each: Option<Vec<u64>> = pids.iter().map(|&pid| cpu_time_ns(pid).ok()).collect();
            each.filter(|each| !each.is_empty()).map(|each| each.iter().sum())
        };
        [sum(&self.targets.servers), sum(&self.targets.crowds)]
    }

    /// Waits until server and crowd use no more CPU time, since their work may outlast the last delivery. Nothing signals
    /// that moment, so their clocks are read. Returns the time since the pause began to be complete.
    fn wait_until_idle(&self) -> Duration {
        let began = Instant::now();
        let mut used_ns = self.cpu_ns();
        while began.elapsed() < IDLE_WAIT_MAX {
            std::thread::sleep(IDLE_CHECK);
            let now_ns = self.cpu_ns();
            // A process that has ended lowers the sum.
            if now_ns.saturating_sub(used_ns) < IDLE_NS {
                break;
            }
            used_ns = now_ns;
        }
        began.elapsed()
    }
}
