//! What a simulation counts.

use serde::Serialize;

use crate::account::Accounts;
use crate::events::Cycles;
use crate::lock::LockCounts;
use crate::topology::DISTANCES;
use crate::waits::Waits;

/// Counts of a run, or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Cycles that passed, on each CPU.
    pub cycles: Cycles,
    /// Messages sent and received.
    pub messages: u64,
    /// CPU time of all CPUs.
    pub accounts: Accounts,
    /// All run-queue locks together.
    pub locks: LockCounts,
    /// Scheduling decisions: calls of schedule().
    pub decisions: u64,
    /// Of these, after a yield.
    pub yields: u64,
    /// Yields by what they found: no other task, one of the same, of a better and of a worse priority. Only O(1) classifies them.
    pub yields_found: [u64; 4],
    /// Times that a task left its CPU.
    pub switches: u64,
    /// Tasks that were woken.
    pub wakeups: u64,
    /// Elements of run queues that decisions read.
    pub elements: u64,
    /// Sum of the queue's length over decisions.
    pub length_sum: u64,
    /// Sum of its square.
    pub length_squares: u64,
    /// The longest queue of a decision.
    pub length_max: u32,
    /// Waits of woken tasks in run queues.
    pub waits: Waits,
    /// Times that a task ran on another CPU than before, by the distance of the two.
    pub migrations: [u64; DISTANCES],
    /// CPU cycles that were idle while a task waited in a queue and no interrupt was on its way.
    pub stranded: Cycles,
    /// Events of the simulation.
    pub events: u64,
}

impl Counts {
    /// What was counted since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            cycles: self.cycles - earlier.cycles,
            messages: self.messages - earlier.messages,
            accounts: self.accounts.since(&earlier.accounts),
            locks: self.locks.since(earlier.locks),
            decisions: self.decisions - earlier.decisions,
            yields: self.yields - earlier.yields,
            yields_found: std::array::from_fn(|found| self.yields_found[found] - earlier.yields_found[found]),
            switches: self.switches - earlier.switches,
            wakeups: self.wakeups - earlier.wakeups,
            elements: self.elements - earlier.elements,
            length_sum: self.length_sum - earlier.length_sum,
            length_squares: self.length_squares - earlier.length_squares,
            length_max: self.length_max,
            waits: self.waits.since(&earlier.waits),
            migrations: std::array::from_fn(|distance| {
                self.migrations[distance] - earlier.migrations[distance]
            }),
            stranded: self.stranded - earlier.stranded,
            events: self.events - earlier.events,
        }
    }

    /// Counts of this run and another one.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            cycles: self.cycles + other.cycles,
            messages: self.messages + other.messages,
            accounts: self.accounts.plus(&other.accounts),
            locks: self.locks.plus(other.locks),
            decisions: self.decisions + other.decisions,
            yields: self.yields + other.yields,
            yields_found: std::array::from_fn(|found| self.yields_found[found] + other.yields_found[found]),
            switches: self.switches + other.switches,
            wakeups: self.wakeups + other.wakeups,
            elements: self.elements + other.elements,
            length_sum: self.length_sum + other.length_sum,
            length_squares: self.length_squares + other.length_squares,
            length_max: self.length_max.max(other.length_max),
            waits: self.waits.plus(&other.waits),
            migrations: std::array::from_fn(|distance| {
                self.migrations[distance] + other.migrations[distance]
            }),
            stranded: self.stranded + other.stranded,
            events: self.events + other.events,
        }
    }
}
