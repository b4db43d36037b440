//! When a user sends its next message. The pacings are defined in `docs/reference/benchmark.md`.

use klatch_record::{ChatWorkload, Pacing};

/// The pace of one user. It decides from the user's own counters and the clock. What all users share is in the workload.
pub(crate) struct Pace {
    user: u32,
    /// Number of messages sent so far.
    pub(crate) sent: u32,
    /// When the first message is due under `rate`, in ns after the gate opened.
    phase_ns: u64,
    /// No message before this time, ns (`pause`).
    rest_until_ns: u64,
}

/// What a user does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Send a message whose intended send time is this, ns.
    Send(u64),
    /// Wait until this time, ns.
    WaitUntil(u64),
    /// Wait for deliveries; or everything is sent.
    WaitForOthers,
}

impl Pace {
    /// `jitter` in 0..1 shifts the user's schedule within one period (pacing `rate`).
    pub(crate) fn new(workload: &ChatWorkload, user: u32, jitter: f64) -> Pace {
        let phase_ns = match workload.pacing {
            Pacing::Rate { per_user_per_s } => (jitter * 1e9 / per_user_per_s) as u64,
            _ => 0,
        };
        Pace { user, sent: 0, phase_ns, rest_until_ns: 0 }
    }

    /// What to do at `now_ns`. The gate opened at `gate_ns`, and `received` messages have arrived; they contain the first
    /// `rounds` messages of every other user.
    pub(crate) fn turn(
        &self,
        workload: &ChatWorkload,
        now_ns: u64,
        gate_ns: u64,
        received: u64,
        rounds: u32,
    ) -> Turn {
        if self.sent == workload.count {
            return Turn::WaitForOthers;
        }
        let (ready, due_ns) = match workload.pacing {
            Pacing::Turns => {
                let turn = (u64::from(self.sent) + received) % u64::from(workload.users);
                (turn == u64::from(self.user), now_ns)
            }
            Pacing::Rounds { window } => (self.sent < rounds.saturating_add(window), now_ns),
            Pacing::Flood => (true, now_ns),
            Pacing::Rate { per_user_per_s } => {
                let since_first = (f64::from(self.sent) * 1e9 / per_user_per_s) as u64;
                (true, gate_ns + self.phase_ns + since_first)
            }
        };
        let moment_ns = due_ns.max(self.rest_until_ns);
        match ready {
            false => Turn::WaitForOthers,
            true if moment_ns > now_ns => Turn::WaitUntil(moment_ns),
            true => Turn::Send(moment_ns),
        }
    }

    /// Counts a sent message and starts its pause.
    pub(crate) fn record_sent(&mut self, workload: &ChatWorkload, now_ns: u64) {
        self.sent += 1;
        if workload.pause_s > 0.0 {
            self.rest_until_ns = now_ns + (workload.pause_s * 1e9) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(pacing: Pacing, pause_s: f64) -> ChatWorkload {
        ChatWorkload {
            rooms: 1,
            users: 3,
            count: 2,
            size_bytes: 60,
            start: 1,
            pacing,
            pause_s,
            churn_per_user_per_s: 0.0,
        }
    }

    #[test]
    fn turns_go_round_by_each_users_own_counters() {
        let work = workload(Pacing::Turns, 0.0);
        let mut room: Vec<Pace> = (0..3).map(|user| Pace::new(&work, user, 0.0)).collect();
        for sent in 0..6_u64 {
            for (user, pace) in room.iter().enumerate() {
                let received = sent - u64::from(pace.sent);
                let sends = pace.turn(&work, 7, 0, received, 0) == Turn::Send(7);
                assert_eq!(sends, user as u64 == sent % 3, "message {sent}, user {user}");
            }
            room[sent as usize % 3].record_sent(&work, 7);
        }
        assert_eq!(room[0].turn(&work, 7, 0, 4, 0), Turn::WaitForOthers, "everything is sent");
    }

    #[test]
    fn rounds_keep_the_window() {
        let work = workload(Pacing::Rounds { window: 1 }, 0.0);
        let mut pace = Pace::new(&work, 1, 0.0);
        assert_eq!(pace.turn(&work, 5, 0, 0, 0), Turn::Send(5));
        pace.record_sent(&work, 5);
        assert_eq!(pace.turn(&work, 6, 0, 1, 0), Turn::WaitForOthers);
        assert_eq!(pace.turn(&work, 7, 0, 2, 1), Turn::Send(7));
    }

    #[test]
    fn a_schedule_does_not_move_when_the_user_is_late() {
        let work = workload(Pacing::Rate { per_user_per_s: 10.0 }, 0.0);
        let mut pace = Pace::new(&work, 0, 0.5);
        let gate = 1_000_000_000;
        assert_eq!(pace.turn(&work, gate, gate, 0, 0), Turn::WaitUntil(gate + 50_000_000));
        assert_eq!(pace.turn(&work, gate + 900_000_000, gate, 0, 0), Turn::Send(gate + 50_000_000));
        pace.record_sent(&work, gate + 900_000_000);
        assert_eq!(pace.turn(&work, gate + 900_000_000, gate, 0, 0), Turn::Send(gate + 150_000_000));
    }

    #[test]
    fn a_pause_holds_the_next_message_back() {
        let work = workload(Pacing::Flood, 2.0);
        let mut pace = Pace::new(&work, 0, 0.0);
        pace.record_sent(&work, 1_000);
        assert_eq!(pace.turn(&work, 2_000, 0, 0, 0), Turn::WaitUntil(2_000_001_000));
        assert_eq!(pace.turn(&work, 2_000_001_000, 0, 0, 0), Turn::Send(2_000_001_000));
    }
}
