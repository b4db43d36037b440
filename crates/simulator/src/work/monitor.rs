//! A contended Java monitor in three tiers, as the study of a Java application server (2005) describes it: a thread spins, then
//! yields some times, then blocks.

use std::collections::VecDeque;

use klatch_schedulers::policies::TaskId;

use super::{Effect, Op};
use crate::prices::Prices;

/// A monitor. Entering and leaving without contention costs nothing: it is part of the user time around it.
#[derive(Clone, Default)]
pub(crate) struct Monitor {
    held: bool,
    blocked: VecDeque<TaskId>,
}

/// The progress of a thread that tries to enter a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    Spin,
    /// With the number of yields so far.
    Yield(u64),
    Block,
    /// It has been blocked, and returns from that: with LinuxThreads it handles a signal.
    Return,
}

impl Monitor {
    /// Enters the monitor if it is free. Returns whether it was.
    pub(crate) fn try_enter(&mut self) -> bool {
        !std::mem::replace(&mut self.held, true)
    }

    /// Whether leaving the monitor wakes a thread.
    pub(crate) fn has_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Leaves the monitor. The thread that has been blocked longest is woken and tries again.
    pub(crate) fn leave(&mut self) -> Effect {
        debug_assert!(self.held, "only its holder leaves a monitor");
        self.held = false;
        self.blocked.pop_front().map_or(Effect::Continue, Effect::Wake)
    }

    /// Whether a thread is blocked.
    pub(crate) fn is_blocked(&self, task: TaskId) -> bool {
        self.blocked.contains(&task)
    }

    /// Removes a thread from those that are blocked. Returns whether it was one.
    pub(crate) fn unblock(&mut self, task: TaskId) -> bool {
        let position = self.blocked.iter().position(|&blocked| blocked == task);
        position.is_some_and(|position| self.blocked.remove(position).is_some())
    }

    /// Ends an attempt in `tier`: enters the monitor, or moves to the next tier. Returns the effect, and the tier to continue in if the
    /// monitor was not entered.
    pub(crate) fn attempt(&mut self, task: TaskId, tier: Tier, yields_max: u64) -> (Effect, Option<Tier>) {
        if self.try_enter() {
            return (Effect::Continue, None);
        }
        let yield_or_block = |yields| if yields < yields_max { Tier::Yield(yields) } else { Tier::Block };
        match tier {
            Tier::Spin => (Effect::Continue, Some(yield_or_block(0))),
            Tier::Yield(yields) => (Effect::Yield, Some(yield_or_block(yields + 1))),
            Tier::Block => {
                self.blocked.push_back(task);
                (Effect::Sleep, Some(Tier::Return))
            }
            Tier::Return => (Effect::Continue, Some(Tier::Spin)),
        }
    }
}

impl Tier {
    /// The operation of an attempt.
    pub(crate) fn op(self, prices: &Prices) -> Op {
        match self {
            Self::Spin => Op::user(prices.monitor_spin),
            Self::Yield(_) | Self::Block => Op::kernel(prices.system_call),
            Self::Return => Op::kernel(prices.monitor_resume),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contended_thread_spins_then_yields_then_blocks_until_it_is_woken() {
        let mut monitor = Monitor::default();
        assert!(monitor.try_enter());
        let (mut tier, mut effects) = (Tier::Spin, Vec::new());
        loop {
            let (effect, next) = monitor.attempt(7, tier, 2);
            effects.push(effect);
            tier = next.unwrap();
            if effect == Effect::Sleep {
                break;
            }
        }
        assert_eq!(effects, [Effect::Continue, Effect::Yield, Effect::Yield, Effect::Sleep]);
        assert_eq!(monitor.leave(), Effect::Wake(7));
        // It returns, and enters.
        assert_eq!((tier, monitor.attempt(7, tier, 2)), (Tier::Return, (Effect::Continue, None)));
    }

    #[test]
    fn a_thread_that_is_interrupted_is_no_longer_blocked() {
        let mut monitor = Monitor::default();
        assert!(monitor.try_enter());
        monitor.attempt(7, Tier::Block, 2);
        assert!(monitor.unblock(7) && !monitor.unblock(7));
        assert_eq!(monitor.leave(), Effect::Continue);
    }
}
