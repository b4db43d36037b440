//! Users who leave and come back while the rooms talk, without any I/O.
//!
//! A user may miss nothing that its room sends, so the room falls silent first: nobody sends until all that was sent is delivered, the user
//! has closed its connection, made another and joined again. Every message then has the same listeners as in a room that nobody leaves.

use klatch_record::ChatWorkload;

use crate::protocol::UserId;
use crate::schedule::jitter;

pub(crate) struct Churn {
    /// Users in each room.
    users: usize,
    /// Time between two reconnects of a user, ns.
    period_ns: u64,
    /// For each user: when it is to reconnect next, ns after the gate has opened.
    due_ns: Vec<u64>,
    /// For each room: who is away from it.
    absences: Vec<Option<Absence>>,
    /// For each room: whether somebody has spoken since the last return.
    has_spoken: Vec<bool>,
    /// Rooms that somebody is away from.
    away: usize,
    /// Users whose connection is to be closed.
    leaving: Vec<usize>,
    /// Users who may send again.
    waiting: Vec<usize>,
}

/// A user who wants to leave its room, or has left it.
struct Absence {
    user: usize,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// So many deliveries of the room's messages are missing.
    Silence(u64),
    /// The connection is being closed.
    Leaving,
    /// A new connection was begun at this time, ns.
    Joining(u64),
}

impl Churn {
    /// The schedules of these users, whole rooms of them; `None` if nobody leaves.
    pub(crate) fn new(workload: &ChatWorkload, seed: u64, users: &[UserId]) -> Option<Churn> {
        if workload.churn_per_user_per_s == 0.0 {
            return None;
        }
        let period_s = 1.0 / workload.churn_per_user_per_s;
        let due_ns = |id: &UserId| (jitter(seed, id.room, id.user) * period_s * 1e9) as u64;
        Some(Churn {
            users: workload.users as usize,
            period_ns: (period_s * 1e9) as u64,
            due_ns: users.iter().map(due_ns).collect(),
            absences: (0..users.len() / workload.users as usize).map(|_| None).collect(),
            has_spoken: vec![true; users.len() / workload.users as usize],
            away: 0,
            leaving: Vec::new(),
            waiting: Vec::new(),
        })
    }

    /// Whether nobody is away.
    pub(crate) fn all_are_here(&self) -> bool {
        self.away == 0
    }

    /// Whether the room of a user is silent.
    pub(crate) fn is_silent(&self, user: usize) -> bool {
        self.absences[user / self.users].is_some()
    }

    /// The user who is away from a room, by its place among all.
    pub(crate) fn absent_user(&self, room: usize) -> Option<usize> {
        self.absences[room].as_ref().map(|absence| absence.user)
    }

    /// Whether this user has said that it leaves, and its connection is still open.
    pub(crate) fn is_leaving(&self, user: usize) -> bool {
        let absence = self.absences[user / self.users].as_ref();
        absence.is_some_and(|absence| absence.user == user && absence.stage == Stage::Leaving)
    }

    /// When a user is to reconnect next, ns after the gate has opened; `None` if others of its room decide. A room in which somebody is
    /// always due would never speak, so each return is followed by a message.
    pub(crate) fn due_ns(&self, user: usize) -> Option<u64> {
        let may_leave = self.has_spoken[user / self.users] && !self.is_silent(user);
        may_leave.then_some(self.due_ns[user])
    }

    /// A user has spoken.
    pub(crate) fn on_message(&mut self, user: usize) {
        self.has_spoken[user / self.users] = true;
    }

    /// A user wants to leave, and so many deliveries are missing in its room.
    pub(crate) fn silence(&mut self, user: usize, missing: u64) {
        self.absences[user / self.users] = Some(Absence { user, stage: Stage::Silence(missing) });
        self.has_spoken[user / self.users] = false;
        self.away += 1;
        self.leave_in_silence(user / self.users);
    }

    /// A delivery of a room has arrived.
    pub(crate) fn on_delivery(&mut self, listener: usize) {
        let room = listener / self.users;
        if let Some(Absence { stage: Stage::Silence(missing), .. }) = &mut self.absences[room] {
            *missing = missing.saturating_sub(1);
            self.leave_in_silence(room);
        }
    }

    fn leave_in_silence(&mut self, room: usize) {
        let absence = self.absences[room].as_mut();
        if let Some(absence) = absence.filter(|absence| absence.stage == Stage::Silence(0)) {
            absence.stage = Stage::Leaving;
            self.leaving.push(absence.user);
        }
    }

    /// The next connection to be closed.
    pub(crate) fn next_leaving(&mut self) -> Option<usize> {
        self.leaving.pop()
    }

    /// The connection of a user who leaves has ended, and another one is begun.
    pub(crate) fn on_end(&mut self, user: usize, now_ns: u64) {
        self.absences[user / self.users] = Some(Absence { user, stage: Stage::Joining(now_ns) });
    }

    /// A user has joined its room again, and all may send. Returns the time since its new connection was begun, ns.
    pub(crate) fn on_joined(&mut self, user: usize, now_ns: u64) -> Option<u64> {
        let room = user / self.users;
        let absence = self.absences[room].take_if(|absence| absence.user == user)?;
        let Stage::Joining(begun_ns) = absence.stage else {
            self.absences[room] = Some(absence);
            return None;
        };
        self.away -= 1;
        self.due_ns[user] += self.period_ns;
        self.waiting.extend(room * self.users..(room + 1) * self.users);
        Some(now_ns.saturating_sub(begun_ns))
    }

    /// The next user who may send because its room has ended its silence.
    pub(crate) fn next_waiting(&mut self) -> Option<usize> {
        self.waiting.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn churn() -> Churn {
        let workload =
            ChatWorkload { rooms: 2, users: 3, churn_per_user_per_s: 4.0, ..ChatWorkload::default() };
        let ids: Vec<UserId> =
            (0..6).map(|index| UserId { room: 1 + index / 3, user: index % 3, users: 3 }).collect();
        Churn::new(&workload, 1, &ids).unwrap()
    }

    #[test]
    fn a_room_is_silent_until_its_user_is_back() {
        let mut churn = churn();
        let due_ns = churn.due_ns(4);
        churn.silence(4, 2);
        assert!(churn.is_silent(3) && !churn.is_silent(2));
        churn.on_delivery(0);
        churn.on_delivery(5);
        assert!(!churn.is_leaving(4), "one delivery of its room is missing");
        churn.on_delivery(3);
        assert!(churn.is_leaving(4) && !churn.is_leaving(5));
        assert_eq!((churn.next_leaving(), churn.next_leaving()), (Some(4), None));
        assert_eq!(churn.on_joined(4, 5_000), None, "it has not left yet");
        churn.on_end(4, 6_000);
        assert!(!churn.is_leaving(4) && churn.is_silent(4) && !churn.all_are_here());
        assert_eq!(churn.on_joined(5, 7_000), None, "another one is away");
        assert_eq!(churn.on_joined(4, 8_000), Some(2_000));
        assert!(churn.all_are_here() && !churn.is_silent(4));
        assert_eq!(churn.due_ns(4), None, "nobody has spoken");
        churn.on_message(3);
        assert_eq!(churn.due_ns(4), due_ns.map(|ns| ns + 250_000_000));
        let mut waiting: Vec<usize> = std::iter::from_fn(|| churn.next_waiting()).collect();
        waiting.sort_unstable();
        assert_eq!(waiting, [3, 4, 5]);
    }

    #[test]
    fn a_quiet_room_is_left_at_once() {
        let mut churn = churn();
        churn.silence(0, 0);
        assert!(churn.is_leaving(0) && churn.next_leaving() == Some(0));
        assert_eq!((churn.absent_user(0), churn.absent_user(1)), (Some(0), None));
    }

    #[test]
    fn first_reconnects_are_spread_over_the_period() {
        let churn = churn();
        let due: Vec<u64> = (0..6).filter_map(|user| churn.due_ns(user)).collect();
        assert!(due.len() == 6 && due.iter().all(|ns| *ns < 250_000_000) && due[0] != due[1], "{due:?}");
    }

    #[test]
    fn nobody_leaves_without_churn() {
        assert!(Churn::new(&ChatWorkload::default(), 1, &[]).is_none());
    }
}
