//! Who has to be done with something by when. Everybody gets the same time, so those who began first come first.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A connection: its slot, and its serial number, because slots are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) slot: usize,
    pub(crate) serial: u64,
}

pub(crate) struct Waiting {
    time: Duration,
    queue: VecDeque<(Instant, Ticket)>,
}

impl Waiting {
    pub(crate) fn new(time: Duration) -> Waiting {
        Waiting { time, queue: VecDeque::new() }
    }

    /// The clock of `ticket` starts now.
    pub(crate) fn begin(&mut self, ticket: Ticket, now: Instant) {
        self.queue.push_back((now + self.time, ticket));
    }

    /// The next moment at which the time of one that `counts` is over. Forgets those before it that do not.
    pub(crate) fn next(&mut self, counts: impl Fn(Ticket) -> bool) -> Option<Instant> {
        while let Some(&(deadline, ticket)) = self.queue.front() {
            if counts(ticket) {
                return Some(deadline);
            }
            self.queue.pop_front();
        }
        None
    }

    /// Takes out one whose time is over.
    pub(crate) fn overdue(&mut self, now: Instant) -> Option<Ticket> {
        let over = self.queue.front().is_some_and(|(deadline, _)| *deadline <= now);
        if over { self.queue.pop_front().map(|(_, ticket)| ticket) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_come_first() {
        let second = Duration::from_secs(1);
        let mut waiting = Waiting::new(10 * second);
        let start = Instant::now();
        let tickets = [0, 1, 2].map(|slot| Ticket { slot, serial: 7 });
        for (ticket, at) in tickets.into_iter().zip(0..) {
            waiting.begin(ticket, start + second * at);
        }
        assert_eq!(waiting.next(|ticket| ticket.slot != 0), Some(start + 11 * second));
        assert_eq!(waiting.overdue(start + 10 * second), None);
        assert_eq!(waiting.overdue(start + 12 * second), Some(tickets[1]));
        assert_eq!(waiting.overdue(start + 12 * second), Some(tickets[2]));
        assert_eq!(waiting.overdue(start + 99 * second), None);
        assert_eq!(waiting.next(|_| true), None);
    }
}
