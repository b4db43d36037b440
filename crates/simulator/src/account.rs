//! Accounts of CPU time. Each cycle of a CPU is in exactly one account.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::events::Cycles;

/// What a CPU spends a cycle on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Account {
    /// A program outside the kernel.
    User,
    /// Garbage collection, outside the kernel.
    Collector,
    /// A program inside the kernel, except for the accounts below.
    Kernel,
    /// Cache lines that another CPU wrote.
    Lines,
    /// Data of a returning task that other tasks displaced from the cache.
    Refill,
    /// A run-queue lock held to wake a task, or for a yield.
    Wake,
    /// A run-queue lock held for a scheduling decision.
    Decide,
    /// Waiting for a run-queue lock.
    Spin,
    /// Switching from one task to another.
    Switch,
    /// No task to run.
    Idle,
}

impl Account {
    /// All accounts, in the order of reports.
    pub const ALL: [Self; 10] = klatch_record::variants();
}

impl Account {
    /// Its name in JSON and in the names of metrics.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Collector => "garbage collector",
            Self::Kernel => "kernel",
            Self::Lines => "cache lines of other CPUs",
            Self::Refill => "cold caches",
            Self::Wake => "wake-ups",
            Self::Decide => "decisions",
            Self::Spin => "spinning on locks",
            Self::Switch => "switches",
            Self::Idle => "idle",
        })
    }
}

/// Cycles of one or several CPUs by account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounts([Cycles; Account::ALL.len()]);

impl Accounts {
    pub(crate) fn add(&mut self, account: Account, cycles: Cycles) {
        self.0[account as usize] += cycles;
    }

    /// Cycles in one account.
    pub fn get(&self, account: Account) -> Cycles {
        self.0[account as usize]
    }

    /// Cycles in all accounts.
    pub fn total(&self) -> Cycles {
        self.0.iter().sum()
    }

    /// Cycles in the kernel as a profile counts them: all but programs, their collector, and idle time.
    pub fn kernel(&self) -> Cycles {
        self.busy() - self.get(Account::User) - self.get(Account::Collector)
    }

    /// Cycles that are not idle.
    pub fn busy(&self) -> Cycles {
        self.total() - self.get(Account::Idle)
    }

    pub(crate) fn plus(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(own, more)| *own += more);
        self
    }

    pub(crate) fn since(mut self, earlier: &Self) -> Self {
        self.0.iter_mut().zip(earlier.0).for_each(|(now, before)| *now -= before);
        self
    }
}

impl Serialize for Accounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Account::ALL.map(|account| (account.name(), self.get(account))))
    }
}
