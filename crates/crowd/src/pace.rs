//! When a user sends its next message. The pacings are defined in `docs/reference/benchmark.md`.

use klatch_record::{ChatWorkload, Pacing};

use crate::schedule::{Rate, Schedule};

/// The pace of one user. It decides from the user's own counters and the clock. What all users share is in the workload.
pub(crate) struct Pace {
    user: u32,
    /// Number of messages sent so far.
    pub(crate) sent: u32,
    /// When messages are due under `rate`.
    schedule: Option<Box<Schedule>>,
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
    /// The pace of a user of a room, whose schedule under `rate` follows from the seed.
    pub(crate) fn new(workload: &ChatWorkload, seed: u64, room: u32, user: u32) -> Pace {
        let schedule = match workload.pacing {
            Pacing::Rate { per_user_per_s } => {
                let rate = Rate::of(per_user_per_s, workload.stages.as_ref());
                let schedule = |rate| Schedule::new(seed, room, user, rate, workload.arrivals);
                rate.map(|rate| Box::new(schedule(rate).until(workload.duration_s)))
            }
            _ => None,
        };
        Pace { user, sent: 0, schedule, rest_until_ns: 0 }
    }

    /// Whether the user sends nothing more, whatever happens.
    pub(crate) fn is_done(&self, workload: &ChatWorkload) -> bool {
        self.sent == workload.count || self.schedule.as_ref().is_some_and(|schedule| schedule.is_over())
    }

    /// Messages that the user should still have sent; none if its time ended.
    pub(crate) fn unsent(&self, workload: &ChatWorkload) -> u64 {
        match (&self.schedule, workload.duration_s) {
            (_, None) => u64::from(workload.count - self.sent),
            (Some(schedule), Some(_)) => schedule.left(),
            (None, Some(_)) => 0,
        }
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
        if self.is_done(workload) {
            return Turn::WaitForOthers;
        }
        let (ready, due_ns) = match workload.pacing {
            Pacing::Rate { .. } => {
                let due_ns = self.schedule.as_ref().map_or(0, |schedule| schedule.due_ns());
                (true, gate_ns + due_ns)
            }
            Pacing::Turns => {
                let turn = (u64::from(self.sent) + received) % u64::from(workload.users);
                (turn == u64::from(self.user), now_ns)
            }
            Pacing::Rounds { window } => (self.sent < rounds.saturating_add(window), now_ns),
            Pacing::Flood => (true, now_ns),
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
        self.schedule.iter_mut().for_each(|schedule| schedule.advance());
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
            duration_s: None,
            stages: None,
            arrivals: klatch_record::Arrivals::Even,
            mqtt: klatch_record::MqttSettings::default(),
        }
    }

    #[test]
    fn turns_go_round_by_each_users_own_counters() {
        let work = workload(Pacing::Turns, 0.0);
        let mut room: Vec<Pace> = (0..3).map(|user| Pace::new(&work, 1, 1, user)).collect();
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
        let mut pace = Pace::new(&work, 1, 1, 1);
        assert_eq!(pace.turn(&work, 5, 0, 0, 0), Turn::Send(5));
        pace.record_sent(&work, 5);
        assert_eq!(pace.turn(&work, 6, 0, 1, 0), Turn::WaitForOthers);
        assert_eq!(pace.turn(&work, 7, 0, 2, 1), Turn::Send(7));
    }

    #[test]
    fn a_schedule_does_not_move_when_the_user_is_late() {
        let work = workload(Pacing::Rate { per_user_per_s: Some(10.0) }, 0.0);
        let mut pace = Pace::new(&work, 1, 1, 0);
        let gate = 1_000_000_000;
        let Turn::WaitUntil(first) = pace.turn(&work, gate, gate, 0, 0) else { panic!("it is not due") };
        assert_eq!(pace.turn(&work, gate + 900_000_000, gate, 0, 0), Turn::Send(first));
        pace.record_sent(&work, gate + 900_000_000);
        assert_eq!(pace.turn(&work, gate + 900_000_000, gate, 0, 0), Turn::Send(first + 100_000_000));
    }

    #[test]
    fn a_user_with_a_duration_sends_what_is_due_before_its_end() {
        let work = workload(Pacing::Rate { per_user_per_s: Some(10.0) }, 0.0).with_duration(0.5);
        let mut pace = Pace::new(&work, 1, 1, 0);
        assert_eq!(pace.unsent(&work), 5);
        for _ in 0..5 {
            assert!(matches!(pace.turn(&work, 9_000_000_000, 0, 0, 0), Turn::Send(_)));
            pace.record_sent(&work, 9_000_000_000);
        }
        assert_eq!((pace.turn(&work, 9_000_000_000, 0, 0, 0), pace.unsent(&work)), (Turn::WaitForOthers, 0));
        let turns = workload(Pacing::Turns, 0.0).with_duration(0.5);
        let pace = Pace::new(&turns, 1, 1, 0);
        assert_eq!((pace.is_done(&turns), pace.unsent(&turns)), (false, 0), "the supervisor ends it");
    }

    #[test]
    fn a_pause_holds_the_next_message_back() {
        let work = workload(Pacing::Flood, 2.0);
        let mut pace = Pace::new(&work, 1, 1, 0);
        pace.record_sent(&work, 1_000);
        assert_eq!(pace.turn(&work, 2_000, 0, 0, 0), Turn::WaitUntil(2_000_001_000));
        assert_eq!(pace.turn(&work, 2_000_001_000, 0, 0, 0), Turn::Send(2_000_001_000));
    }
}
