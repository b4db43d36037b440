//! The little that the parts of a crowd share with who watches them: a clock, a phase, counters that only the
//! owner writes, and notices.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Thread;
use std::time::Instant;

use klatch_record::Failure;
use rustix::event::{EventfdFlags, eventfd};

use crate::system::monotonic_ns;
use crate::timeline::{Counts, add_to};

/// What all are to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Phase {
    /// Connect and join, and then wait.
    Join,
    /// Talk.
    Talk,
    /// Say good-bye and end.
    Stop,
}

/// What reaches the one who watches.
pub(crate) enum Notice {
    /// All users of a part have joined.
    Joined,
    /// All messages of a part are said and delivered.
    Complete,
    /// Something ended it.
    Failed(Failure),
    /// So many shards are at the gate.
    Here(u32),
    Go,
    Quit,
}

pub(crate) struct Shared {
    started: Instant,
    /// The start on the machine's own clock, ns.
    started_machine_ns: u64,
    phase: AtomicU8,
    gate_ns: AtomicU64,
    /// Connections that have been made.
    pub(crate) connected: AtomicU64,
    pub(crate) posts: Vec<Post>,
}

/// What one part, some whole rooms, tells, and how it is woken.
pub(crate) struct Post {
    pub(crate) joined: AtomicU64,
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
    /// Latencies that nobody has fetched; written once an interval.
    pub(crate) fresh: Mutex<Counts>,
    pub(crate) wake: Wake,
}

/// How whoever runs the rooms is woken.
pub(crate) enum Wake {
    /// An event loop, by its eventfd.
    Loop(OwnedFd),
    /// Threads that are parked.
    Threads(Mutex<Vec<Thread>>),
}

impl Wake {
    pub(crate) fn of_loop() -> std::io::Result<Wake> {
        Ok(Wake::Loop(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
    }

    fn wake(&self) {
        match self {
            // It can only fail when 2^64 wake-ups are pending, and then the loop is awake.
            Wake::Loop(fd) => drop(rustix::io::write(fd, &1_u64.to_ne_bytes())),
            Wake::Threads(threads) => {
                threads.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Thread::unpark);
            }
        }
    }
}

impl Shared {
    pub(crate) fn new(wakes: Vec<Wake>) -> Shared {
        let post = |wake| {
            let zero = || AtomicU64::new(0);
            Post { joined: zero(), sent: zero(), received: zero(), fresh: Mutex::default(), wake }
        };
        Shared {
            started: Instant::now(),
            started_machine_ns: monotonic_ns(),
            phase: AtomicU8::new(Phase::Join as u8),
            gate_ns: AtomicU64::new(0),
            connected: AtomicU64::new(0),
            posts: wakes.into_iter().map(post).collect(),
        }
    }

    /// ns since the crowd's own start.
    pub(crate) fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Join,
            1 => Phase::Talk,
            _ => Phase::Stop,
        }
    }

    /// When the gate opened, ns since the start; 0 before.
    pub(crate) fn gate_ns(&self) -> u64 {
        self.gate_ns.load(Ordering::Acquire)
    }

    /// The same on the machine's clock; `None` before.
    pub(crate) fn opened_machine_ns(&self) -> Option<u64> {
        Some(self.gate_ns()).filter(|&gate_ns| gate_ns > 0).map(|gate_ns| self.started_machine_ns + gate_ns)
    }

    /// Opens the gate: the clock of the score runs from here.
    pub(crate) fn open_gate(&self) {
        self.gate_ns.store(self.now_ns(), Ordering::Release);
        self.enter(Phase::Talk);
    }

    /// Enters a phase and wakes all.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
        self.posts.iter().for_each(|post| post.wake.wake());
    }

    /// Users joined, messages said, deliveries verified: sums over the parts.
    pub(crate) fn sums(&self) -> (u64, u64, u64) {
        let sum = |of: fn(&Post) -> &AtomicU64| {
            self.posts.iter().map(|post| of(post).load(Ordering::Relaxed)).sum()
        };
        (sum(|post| &post.joined), sum(|post| &post.sent), sum(|post| &post.received))
    }

    /// Latencies of all parts that were not fetched before.
    pub(crate) fn take_fresh(&self) -> Counts {
        let mut all = Counts::new();
        for post in &self.posts {
            add_to(&mut all, std::mem::take(&mut *post.fresh.lock().unwrap_or_else(PoisonError::into_inner)));
        }
        all
    }
}
