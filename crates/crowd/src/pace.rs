//! When a user speaks. Definition of the pacings: `docs/reference/benchmark.md`.

use klatch_record::{Pacing, Workload};

/// The pace of one user: from its own counters and the clock alone it knows whether to speak. What is the same for all
/// users is in the workload.
pub(crate) struct Pace {
    user: u32,
    /// Messages said.
    pub(crate) sent: u32,
    /// When the first message is due under `rate`, ns after the gate.
    phase_ns: u64,
    /// No message before this moment (`pause`).
    rest_until_ns: u64,
}

/// What a user does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Speaks; the message is meant for this moment.
    Speak(u64),
    /// Waits for this moment.
    Until(u64),
    /// Waits for others, or has said everything.
    Listen,
}

impl Pace {
    /// `jitter` in 0..1 places the user's schedule within one period (pacing `rate`).
    pub(crate) fn new(workload: &Workload, user: u32, jitter: f64) -> Pace {
        let phase_ns = match workload.pacing {
            Pacing::Rate { per_user_per_s } => (jitter * 1e9 / per_user_per_s) as u64,
            _ => 0,
        };
        Pace { user, sent: 0, phase_ns, rest_until_ns: 0 }
    }

    /// What to do at `now_ns`, the gate having opened at `gate_ns`, after `received` messages of which all the others'
    /// first `rounds` are part.
    pub(crate) fn turn(
        &self,
        workload: &Workload,
        now_ns: u64,
        gate_ns: u64,
        received: u64,
        rounds: u32,
    ) -> Turn {
        if self.sent == workload.count {
            return Turn::Listen;
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
            false => Turn::Listen,
            true if moment_ns > now_ns => Turn::Until(moment_ns),
            true => Turn::Speak(moment_ns),
        }
    }

    /// Notes that a message was said.
    pub(crate) fn said(&mut self, workload: &Workload, now_ns: u64) {
        self.sent += 1;
        if workload.pause_s > 0.0 {
            self.rest_until_ns = now_ns + (workload.pause_s * 1e9) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(pacing: Pacing, pause_s: f64) -> Workload {
        Workload { rooms: 1, users: 3, count: 2, size_bytes: 60, start: 1, pacing, pause_s }
    }

    #[test]
    fn turns_go_round_by_each_users_own_counters() {
        let work = workload(Pacing::Turns, 0.0);
        let mut room: Vec<Pace> = (0..3).map(|user| Pace::new(&work, user, 0.0)).collect();
        for said in 0..6_u64 {
            for (user, pace) in room.iter().enumerate() {
                let received = said - u64::from(pace.sent);
                let speaks = pace.turn(&work, 7, 0, received, 0) == Turn::Speak(7);
                assert_eq!(speaks, user as u64 == said % 3, "message {said}, user {user}");
            }
            room[said as usize % 3].said(&work, 7);
        }
        assert_eq!(room[0].turn(&work, 7, 0, 4, 0), Turn::Listen, "all is said");
    }

    #[test]
    fn rounds_keep_the_window() {
        let work = workload(Pacing::Rounds { window: 1 }, 0.0);
        let mut pace = Pace::new(&work, 1, 0.0);
        assert_eq!(pace.turn(&work, 5, 0, 0, 0), Turn::Speak(5));
        pace.said(&work, 5);
        assert_eq!(pace.turn(&work, 6, 0, 1, 0), Turn::Listen);
        assert_eq!(pace.turn(&work, 7, 0, 2, 1), Turn::Speak(7));
    }

    #[test]
    fn a_schedule_does_not_move_when_the_user_is_late() {
        let work = workload(Pacing::Rate { per_user_per_s: 10.0 }, 0.0);
        let mut pace = Pace::new(&work, 0, 0.5);
        let gate = 1_000_000_000;
        assert_eq!(pace.turn(&work, gate, gate, 0, 0), Turn::Until(gate + 50_000_000));
        assert_eq!(pace.turn(&work, gate + 900_000_000, gate, 0, 0), Turn::Speak(gate + 50_000_000));
        pace.said(&work, gate + 900_000_000);
        assert_eq!(pace.turn(&work, gate + 900_000_000, gate, 0, 0), Turn::Speak(gate + 150_000_000));
    }

    #[test]
    fn a_pause_holds_the_next_message_back() {
        let work = workload(Pacing::Flood, 2.0);
        let mut pace = Pace::new(&work, 0, 0.0);
        pace.said(&work, 1_000);
        assert_eq!(pace.turn(&work, 2_000, 0, 0, 0), Turn::Until(2_000_001_000));
        assert_eq!(pace.turn(&work, 2_000_001_000, 0, 0, 0), Turn::Speak(2_000_001_000));
    }
}
