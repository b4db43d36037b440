//! The time that a client takes for one request. It is kept only while a request is incomplete, so a request that arrives in one piece
//! costs no look at the clock.

use std::time::{Duration, Instant};

/// The clock of one connection.
#[derive(Default)]
pub(crate) struct RequestClock {
    /// Number of the incomplete request, and when its first part arrived.
    started: Option<(u64, Instant)>,
    /// The connection has a check in the queue of its loop.
    checked: bool,
}

/// What a check has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// No request is incomplete.
    Idle,
    /// A request is incomplete: check again.
    Waiting,
    /// A request is incomplete for too long.
    Overdue,
}

impl RequestClock {
    /// Follows the visit's incomplete request after each input. Returns whether the connection needs a check from now on.
    pub(crate) fn follow(&mut self, incomplete: Option<u64>) -> bool {
        match (incomplete, self.started) {
            (None, None) => false,
            (None, Some(_)) => {
                self.started = None;
                false
            }
            (Some(number), Some((same, _))) if number == same => false,
            (Some(number), _) => {
                self.started = Some((number, Instant::now()));
                !std::mem::replace(&mut self.checked, true)
            }
        }
    }

    /// When the request must be complete; `None` if none is incomplete.
    pub(crate) fn deadline(&self, patience: Duration) -> Option<Instant> {
        self.started.map(|(_, at)| at + patience)
    }

    /// Handles a check from the queue. After [`Check::Waiting`] the caller puts another into it.
    pub(crate) fn check(&mut self, now: Instant, patience: Duration) -> Check {
        let check = match self.deadline(patience) {
            None => Check::Idle,
            Some(deadline) if deadline <= now => Check::Overdue,
            Some(_) => Check::Waiting,
        };
        self.checked = check == Check::Waiting;
        check
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_its_own_time_and_one_check_at_a_time() {
        let (mut clock, patience) = (RequestClock::default(), Duration::from_secs(10));
        let later = |seconds| Instant::now() + Duration::from_secs(seconds);
        assert!(!clock.follow(None));
        assert!(clock.follow(Some(1)));
        let first = clock.deadline(patience);
        assert!(!clock.follow(Some(1)), "a byte more is no new request");
        assert_eq!(clock.deadline(patience), first);
        assert!(!clock.follow(Some(2)), "its connection is in the queue already");
        assert!(clock.deadline(patience) > first);
        assert_eq!(clock.check(later(1), patience), Check::Waiting);
        assert_eq!(clock.check(later(11), patience), Check::Overdue);
        assert!(!clock.follow(None));
        assert_eq!(clock.check(later(11), patience), Check::Idle);
        assert!(clock.follow(Some(3)), "the check was used up");
    }
}
