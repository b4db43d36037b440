//! What the workers share with the supervisor: a clock, a phase, counters that one worker writes, and control messages.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Instant;

use klatch_record::Failure;
use rustix::event::{EventfdFlags, eventfd};

use crate::system::monotonic_ns;
use crate::timeline::{Counts, add_to};

/// The phase of the whole crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Phase {
    /// Connect, join, and wait for the gate.
    Join,
    /// Send and receive messages.
    Talk,
    /// Receive what is in flight, and send nothing.
    Pause,
    /// Quit, and end all workers.
    Stop,
}

/// A message to the supervisor.
pub(crate) enum ControlMessage {
    /// All users of one worker have joined.
    Joined,
    /// All messages of one worker are sent and delivered.
    Complete,
    /// One worker sends nothing, and all that it sent is delivered.
    Paused(WorkerPause),
    /// The crowd cannot go on.
    Failed(Failure),
    /// The number of shards at the gate.
    ShardsAtGate(u32),
    Go,
    Quit,
    /// Send nothing until `Resume`.
    Pause,
    Resume,
    /// End the run in a pause.
    Finish,
}

/// What one worker did up to a pause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkerPause {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// The time of the last verified delivery, ns; 0 if there was none.
    pub(crate) last_ns: u64,
    /// Latencies since the previous pause: lowest value of a bucket in ns, and how often.
    pub(crate) latency_ns: Vec<(u64, u64)>,
}

pub(crate) struct Shared {
    started: Instant,
    /// Odd while the next two are changed.
    clock_changes: AtomicU32,
    /// The time of all pauses that have ended, which the crowd's clock leaves out, ns.
    paused_ns: AtomicU64,
    /// Where the clock stands still in a complete pause, ns; `u64::MAX` while it runs.
    stopped_ns: AtomicU64,
    /// When the last pause was requested, on the crowd's clock, ns.
    pause_requested_ns: AtomicU64,
    /// Time from the request of each pause until it was complete, of all pauses that have ended, ns.
    pausing_ns: AtomicU64,
    /// Number of pauses requested so far.
    pauses: AtomicU32,
    /// The run ends in a pause.
    finished: AtomicBool,
    /// The start on CLOCK_MONOTONIC, ns.
    started_machine_ns: u64,
    phase: AtomicU8,
    gate_ns: AtomicU64,
    /// The number with which the gate of the shards was opened.
    gate_run: OnceLock<u64>,
    /// Connections made by all workers.
    pub(crate) connected: AtomicU64,
    pub(crate) workers: Vec<WorkerStatus>,
}

/// The published counters of one worker, and how to wake it.
pub(crate) struct WorkerStatus {
    pub(crate) joined: AtomicU64,
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
    /// Latencies that the supervisor has not taken yet; written once an interval.
    pub(crate) new_latencies: Mutex<Counts>,
    pub(crate) wake: Wake,
}

/// How to wake a worker.
pub(crate) enum Wake {
    /// The eventfd of an event loop.
    Loop(OwnedFd),
    /// The threads of the worker, which park while idle.
    Threads(Mutex<Vec<Thread>>),
}

impl Wake {
    pub(crate) fn event_loop() -> std::io::Result<Wake> {
        Ok(Wake::Loop(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
    }

    fn wake(&self) {
        self.wake_threads(usize::MAX);
    }

    /// Wakes the sender threads of these users. The threads of a worker are its starter and then the senders, in order.
    pub(crate) fn wake_senders(&self, users: &[usize]) {
        if let Wake::Threads(threads) = self {
            let threads = threads.lock().unwrap_or_else(PoisonError::into_inner);
            users.iter().filter_map(|user| threads.get(user + 1)).for_each(Thread::unpark);
        }
    }

    /// Wakes an event loop, or the first `threads` threads.
    fn wake_threads(&self, threads: usize) {
        match self {
            // Fails only when 2^64 wake-ups are pending, and then the loop is awake.
            Wake::Loop(fd) => drop(rustix::io::write(fd, &1_u64.to_ne_bytes())),
            Wake::Threads(all) => {
                let all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.iter().take(threads).for_each(Thread::unpark);
            }
        }
    }
}

impl Shared {
    pub(crate) fn new(wakes: Vec<Wake>) -> Shared {
        let worker = |wake| {
            let zero = || AtomicU64::new(0);
            WorkerStatus {
                joined: zero(),
                sent: zero(),
                received: zero(),
                new_latencies: Mutex::default(),
                wake,
            }
        };
        Shared {
            started: Instant::now(),
            clock_changes: AtomicU32::new(0),
            paused_ns: AtomicU64::new(0),
            stopped_ns: AtomicU64::new(u64::MAX),
            pause_requested_ns: AtomicU64::new(0),
            pausing_ns: AtomicU64::new(0),
            pauses: AtomicU32::new(0),
            finished: AtomicBool::new(false),
            started_machine_ns: monotonic_ns(),
            phase: AtomicU8::new(Phase::Join as u8),
            gate_ns: AtomicU64::new(0),
            gate_run: OnceLock::new(),
            connected: AtomicU64::new(0),
            workers: wakes.into_iter().map(worker).collect(),
        }
    }

    /// The crowd's clock: ns since its start, without the time of pauses. So schedules, rests, latencies and intervals leave
    /// pauses out. It stands still in a complete pause, and never goes back.
    pub(crate) fn now_ns(&self) -> u64 {
        loop {
            let before = self.clock_changes.load(Ordering::Acquire);
            let paused_ns = self.paused_ns.load(Ordering::Acquire);
            let stopped_ns = self.stopped_ns.load(Ordering::Acquire);
            let running_ns = self.running_ns(paused_ns);
            // Else the time may have a part of a pause in it.
            if before.is_multiple_of(2) && self.clock_changes.load(Ordering::Acquire) == before {
                return running_ns.min(stopped_ns);
            }
            std::hint::spin_loop();
        }
    }

    /// The clock as if no pause were in progress, ns. `paused_ns` was read before.
    fn running_ns(&self, paused_ns: u64) -> u64 {
        self.started.elapsed().as_nanos() as u64 - paused_ns
    }

    /// Changes the clock: whoever reads it meanwhile reads again. Only the supervisor does.
    fn change_clock<T>(&self, change: impl FnOnce() -> T) -> T {
        self.clock_changes.fetch_add(1, Ordering::SeqCst);
        let result = change();
        self.clock_changes.fetch_add(1, Ordering::SeqCst);
        result
    }

    /// A pause is complete: stops the clock. Returns its time, ns.
    pub(crate) fn stop_clock(&self) -> u64 {
        self.change_clock(|| {
            let now_ns = self.running_ns(self.paused_ns.load(Ordering::Acquire));
            self.stopped_ns.store(now_ns, Ordering::Release);
            now_ns
        })
    }

    /// Makes the workers pause. Each sends [`ControlMessage::Paused`] once.
    pub(crate) fn pause(&self) {
        self.pause_requested_ns.store(self.now_ns(), Ordering::Relaxed);
        self.pauses.fetch_add(1, Ordering::Relaxed);
        self.phase.store(Phase::Pause as u8, Ordering::Release);
        self.workers.iter().for_each(|worker| worker.wake.wake_threads(1));
    }

    /// Ends a pause. The clock continues at `stopped_ns`, where [`Shared::stop_clock`] stopped it.
    pub(crate) fn resume(&self, stopped_ns: u64) {
        let pausing_ns = stopped_ns.saturating_sub(self.pause_requested_ns());
        self.pausing_ns.fetch_add(pausing_ns, Ordering::Relaxed);
        self.change_clock(|| {
            let paused_ns = self.paused_ns.load(Ordering::Acquire);
            let pause_ns = self.running_ns(paused_ns).saturating_sub(stopped_ns);
            self.paused_ns.store(paused_ns + pause_ns, Ordering::Release);
            self.stopped_ns.store(u64::MAX, Ordering::Release);
        });
        self.phase.store(Phase::Talk as u8, Ordering::Release);
        self.workers.iter().for_each(|worker| worker.wake.wake_threads(1));
    }

    /// When the last pause was requested, on the crowd's clock, ns.
    pub(crate) fn pause_requested_ns(&self) -> u64 {
        self.pause_requested_ns.load(Ordering::Relaxed)
    }

    /// Time for which nothing began because a pause was requested and not complete, of all pauses that have ended, ns. A schedule
    /// that stands still then leaves it out.
    pub(crate) fn pausing_ns(&self) -> u64 {
        self.pausing_ns.load(Ordering::Relaxed)
    }

    /// Number of pauses requested so far.
    pub(crate) fn pauses(&self) -> u32 {
        self.pauses.load(Ordering::Acquire)
    }

    /// The run ends although users have not sent all their messages.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
    }

    pub(crate) fn finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Join,
            1 => Phase::Talk,
            2 => Phase::Pause,
            _ => Phase::Stop,
        }
    }

    /// When the gate opened, ns since the start; 0 before.
    pub(crate) fn gate_ns(&self) -> u64 {
        self.gate_ns.load(Ordering::Acquire)
    }

    /// When the gate opened on CLOCK_MONOTONIC, ns; `None` before.
    pub(crate) fn opened_machine_ns(&self) -> Option<u64> {
        Some(self.gate_ns()).filter(|&gate_ns| gate_ns > 0).map(|gate_ns| self.started_machine_ns + gate_ns)
    }

    /// Records the number with which the gate of the shards was opened.
    pub(crate) fn set_gate_run(&self, run: u64) {
        self.gate_run.get_or_init(|| run);
    }

    /// That number in hexadecimal; `None` without a gate of shards, or before it opens.
    pub(crate) fn gate_run(&self) -> Option<String> {
        self.gate_run.get().map(|run| format!("{run:x}"))
    }

    /// Opens the gate and starts the clock of the score.
    pub(crate) fn open_gate(&self) {
        self.gate_ns.store(self.now_ns(), Ordering::Release);
        self.enter(Phase::Talk);
    }

    /// Enters a phase and wakes all workers. The clock runs: to leave has a time limit, also out of a pause.
    pub(crate) fn enter(&self, phase: Phase) {
        self.change_clock(|| self.stopped_ns.store(u64::MAX, Ordering::Release));
        self.phase.store(phase as u8, Ordering::Release);
        self.workers.iter().for_each(|worker| worker.wake.wake());
    }

    /// Users joined, messages sent and deliveries verified, summed over the workers.
    pub(crate) fn sums(&self) -> (u64, u64, u64) {
        let sum = |counter: fn(&WorkerStatus) -> &AtomicU64| {
            self.workers.iter().map(|worker| counter(worker).load(Ordering::Relaxed)).sum()
        };
        (sum(|worker| &worker.joined), sum(|worker| &worker.sent), sum(|worker| &worker.received))
    }

    /// Takes the latencies that all workers have published since the last call.
    pub(crate) fn take_new_latencies(&self) -> Counts {
        let mut all = Counts::new();
        for worker in &self.workers {
            add_to(
                &mut all,
                std::mem::take(&mut *worker.new_latencies.lock().unwrap_or_else(PoisonError::into_inner)),
            );
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread reads the clock while another one pauses and resumes, again and again.
    #[test]
    fn the_clock_never_goes_back_and_leaves_pauses_out() {
        let shared = Shared::new(vec![Wake::Threads(Mutex::default())]);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut latest_ns = 0;
                let mut read = || {
                    let now_ns = shared.now_ns();
                    assert!(now_ns >= latest_ns, "{now_ns} after {latest_ns}");
                    latest_ns = now_ns;
                };
                while shared.phase() != Phase::Stop {
                    read();
                }
                // The phase may have changed just after a reading.
                read();
                latest_ns
            });
            shared.open_gate();
            for _ in 0..100_000 {
                shared.pause();
                let stopped_ns = shared.stop_clock();
                assert_eq!(shared.now_ns(), stopped_ns);
                shared.resume(stopped_ns);
            }
            let end_ns = shared.now_ns();
            shared.enter(Phase::Stop);
            assert!(reader.join().unwrap() >= end_ns);
        });
    }
}
