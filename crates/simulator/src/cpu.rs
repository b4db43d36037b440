//! One CPU: its activity, and where its cycles went.

use std::collections::VecDeque;

use klatch_schedulers::policies::TaskId;

use crate::account::{Account, Accounts};
use crate::events::Cycles;
use crate::schedulers::Cause;

/// What a CPU needs a run-queue lock for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Wake(TaskId),
    /// To wake a task from an interrupt.
    Interrupt(TaskId),
    Yield,
    Decide(Cause),
    /// To offer a task that was preempted here to other CPUs.
    Offer(TaskId),
}

/// What a CPU does. Each activity but `Idle` and `Spin` ends with a [`Step`](crate::events::Event::Step).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Nothing; a kick ends it.
    Idle,
    /// An operation of its task.
    Op,
    /// Waits for a lock, or for its hand-over.
    Spin { lock: usize, purpose: Purpose },
    /// Holds a lock. `kick`: the CPU to make decide afterwards.
    Hold { lock: usize, purpose: Purpose, kick: Option<usize> },
    /// Switches to its next task.
    Switch,
    /// Handles an interrupt that wakes a task.
    Interrupt(TaskId),
}

/// What follows from the last decision of a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Decided {
    /// The task before it.
    pub(crate) after: Option<TaskId>,
    /// It chose another task.
    pub(crate) switches: bool,
    /// Time that it takes after it has released the lock: new slices for all tasks.
    pub(crate) recalculation: Cycles,
    /// The task before it is offered to other CPUs after the switch.
    pub(crate) offers: bool,
}

pub(crate) struct Cpu {
    pub(crate) activity: Activity,
    /// When the wait for a lock began.
    pub(crate) waits_since: Cycles,
    /// A kick came while it was busy, so it decides at the next opportunity.
    pub(crate) need_resched: bool,
    /// An interrupt is on its way to it.
    pub(crate) kicked: bool,
    /// Tasks that interrupts from outside will wake at its next opportunity.
    pub(crate) arrivals: VecDeque<TaskId>,
    /// Bytes that its cache has loaded since the start.
    pub(crate) loaded_bytes: u64,
    /// The address space whose translations it has; 0 before the first task.
    pub(crate) address_space: u64,
    pub(crate) decided: Decided,
    /// Time of interrupts that its next operation takes longer.
    pub(crate) interrupted: Cycles,
    /// When its task was last charged for CPU time.
    pub(crate) charged_to: Cycles,
    /// `accounts` are complete up to here; the time since is in `account`.
    counted_to: Cycles,
    account: Account,
    accounts: Accounts,
}

impl Cpu {
    pub(crate) fn new() -> Self {
        Self {
            activity: Activity::Idle,
            waits_since: 0,
            need_resched: false,
            kicked: false,
            arrivals: VecDeque::new(),
            loaded_bytes: 0,
            address_space: 0,
            decided: Decided::default(),
            interrupted: 0,
            charged_to: 0,
            counted_to: 0,
            account: Account::Idle,
            accounts: Accounts::default(),
        }
    }

    /// Counts the time from `now` in `account`.
    ///
    /// # Panics
    /// Time that was spent in advance is not over.
    pub(crate) fn enter(&mut self, account: Account, now: Cycles) {
        assert!(now >= self.counted_to, "a CPU does one thing at a time");
        self.accounts.add(self.account, now - self.counted_to);
        self.counted_to = now;
        self.account = account;
    }

    /// Spends the cycles that follow in accounts of their own. Returns when they are over.
    pub(crate) fn spend(&mut self, parts: &[(Account, Cycles)]) -> Cycles {
        for &(account, cycles) in parts {
            self.accounts.add(account, cycles);
            self.counted_to += cycles;
        }
        self.counted_to
    }

    /// The accounts up to `now`, and the cycles in them that are yet to come.
    pub(crate) fn accounts_at(&self, now: Cycles) -> (Accounts, Cycles) {
        let mut accounts = self.accounts;
        accounts.add(self.account, now.saturating_sub(self.counted_to));
        (accounts, self.counted_to.saturating_sub(now))
    }
}
