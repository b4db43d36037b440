//! Users who leave and come back while the rooms talk, without any I/O.
//!
//! A user may miss nothing that its room sends, so the room falls silent first: nobody sends until all that was sent is delivered, the user
//! has closed its connection, made another and joined again. Every message then has the same listeners as in a room that nobody leaves.

use klatch_record::ChatWorkload;

use crate::protocol::UserId;
use crate::schedule::jitter;

/// The reconnects of the users of one worker. Users and rooms are numbered from 0 in the order of the rooms.
pub(crate) struct Churn {
    /// Users in each room.
    users: usize,
    /// Time between two reconnects of a user, ns.
    period_ns: u64,
    /// Of each user: time of the next reconnect, ns after the opening of the gate.
    due_ns: Vec<u64>,
    rooms: Vec<RoomState>,
    /// Number of silent rooms.
    silent: usize,
    /// Users whose connections are to be closed.
    leaving: Vec<usize>,
    /// Users of rooms that talk again.
    waiting: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RoomState {
    Talking,
    /// A user has returned, and nobody has sent a message since. A room in which somebody is always due would never send one, so the next
    /// user leaves only after that.
    Resumed,
    /// Nobody sends until `missing` deliveries have arrived; then `user` leaves.
    Draining {
        user: usize,
        missing: u64,
    },
    /// The connection of `user` is being closed.
    Leaving {
        user: usize,
    },
    /// The new connection of `user` was begun at `begun_ns`.
    Joining {
        user: usize,
        begun_ns: u64,
    },
}

impl RoomState {
    fn is_silent(self) -> bool {
        !matches!(self, RoomState::Talking | RoomState::Resumed)
    }
}

impl Churn {
    /// The schedules of `users`, which are whole rooms; `None` if nobody leaves.
    pub(crate) fn new(workload: &ChatWorkload, seed: u64, users: &[UserId]) -> Option<Churn> {
        if !workload.has_churn() {
            return None;
        }
        let period_s = 1.0 / workload.churn_per_user_per_s;
        let due_ns = |id: &UserId| (jitter(seed, id.room, id.user) * period_s * 1e9) as u64;
        Some(Churn {
            users: workload.users as usize,
            period_ns: (period_s * 1e9) as u64,
            due_ns: users.iter().map(due_ns).collect(),
            rooms: vec![RoomState::Talking; users.len() / workload.users as usize],
            silent: 0,
            leaving: Vec::new(),
            waiting: Vec::new(),
        })
    }

    /// Whether no room is silent.
    pub(crate) fn all_are_here(&self) -> bool {
        self.silent == 0
    }

    /// Whether the room of `user` is silent.
    pub(crate) fn is_silent(&self, user: usize) -> bool {
        self.rooms[user / self.users].is_silent()
    }

    /// The user for whom `room` is silent.
    pub(crate) fn absent_user(&self, room: usize) -> Option<usize> {
        match self.rooms[room] {
            RoomState::Talking | RoomState::Resumed => None,
            RoomState::Draining { user, .. }
            | RoomState::Leaving { user }
            | RoomState::Joining { user, .. } => Some(user),
        }
    }

    /// Whether the connection of `user` is being closed.
    pub(crate) fn is_leaving(&self, user: usize) -> bool {
        self.rooms[user / self.users] == RoomState::Leaving { user }
    }

    /// When `user` is to reconnect next, ns after the opening of the gate; `None` while its room does not let it leave.
    pub(crate) fn due_ns(&self, user: usize) -> Option<u64> {
        (self.rooms[user / self.users] == RoomState::Talking).then_some(self.due_ns[user])
    }

    /// `user` has sent a message.
    pub(crate) fn on_message(&mut self, user: usize) {
        self.rooms[user / self.users] = RoomState::Talking;
    }

    /// Silences the room of `user`, which leaves when `missing` deliveries have arrived.
    pub(crate) fn silence(&mut self, user: usize, missing: u64) {
        self.silent += 1;
        self.drain(user, missing);
    }

    /// A delivery has arrived at `listener`.
    pub(crate) fn on_delivery(&mut self, listener: usize) {
        if let RoomState::Draining { user, missing } = self.rooms[listener / self.users] {
            self.drain(user, missing.saturating_sub(1));
        }
    }

    fn drain(&mut self, user: usize, missing: u64) {
        self.rooms[user / self.users] = match missing {
            0 => {
                self.leaving.push(user);
                RoomState::Leaving { user }
            }
            missing => RoomState::Draining { user, missing },
        };
    }

    /// The next connection to be closed, of a user who may leave.
    pub(crate) fn next_leaving(&mut self, may_leave: impl Fn(usize) -> bool) -> Option<usize> {
        let place = self.leaving.iter().rposition(|user| may_leave(*user))?;
        Some(self.leaving.swap_remove(place))
    }

    /// The connection of `user`, which leaves, has ended, and another one is begun.
    pub(crate) fn on_end(&mut self, user: usize, now_ns: u64) {
        self.rooms[user / self.users] = RoomState::Joining { user, begun_ns: now_ns };
    }

    /// `user` has joined its room, which talks again if that ends its absence. Returns the time since the new connection was begun, ns.
    pub(crate) fn on_joined(&mut self, user: usize, now_ns: u64) -> Option<u64> {
        let room = user / self.users;
        match self.rooms[room] {
            RoomState::Joining { user: absent, begun_ns } if absent == user => {
                self.rooms[room] = RoomState::Resumed;
                self.silent -= 1;
                self.due_ns[user] += self.period_ns;
                self.waiting.extend(room * self.users..(room + 1) * self.users);
                Some(now_ns.saturating_sub(begun_ns))
            }
            _ => None,
        }
    }

    /// The next user of a room that talks again.
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
        assert_eq!((churn.next_leaving(|_| true), churn.next_leaving(|_| true)), (Some(4), None));
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
        assert!(churn.is_leaving(0) && churn.next_leaving(|_| true) == Some(0));
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
