//! The threads of a chat, and how they are numbered: four in a row per user, the users of a room in a row.

use crate::work::monitor::Tier;

/// Users of a room.
pub(super) const USERS: usize = 20;
/// Threads of a user.
pub(super) const THREADS: usize = 4;
/// Address spaces of the two processes.
pub(super) const CLIENT: u64 = 1;
pub(super) const SERVER: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    ClientReceiver,
    ClientSender,
    ServerReceiver,
    ServerSender,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Reads its socket, or takes the messages of its queue.
    #[default]
    Take,
    /// A sender waits for a signal.
    Wait,
    Signal,
    Packet,
    /// The client's receiver appends a message to the queue of its sender.
    Append,
    /// The server's receiver has entered the room.
    Handle,
    /// Appends the message to the queue of this user.
    Forward(usize),
    LeaveRoom,
    Write,
    Yield,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) state: State,
    /// Waits for a message; the thread that delivers one wakes it.
    pub(super) waits: bool,
    /// Messages in its socket or queue.
    pub(super) arrived: u32,
    /// Messages that it has taken from there and not handled yet.
    pub(super) taken: u32,
    /// The CPU that wrote the last message.
    pub(super) written_on: usize,
    /// Its progress on the way into the monitor of `state`, until it has entered.
    pub(super) contends: Option<Tier>,
    /// The monitor to leave next, that of the first state, and the state after that.
    pub(super) leaves: Option<(State, State)>,
    /// Messages that the user has received, and sent. Counted at the client's receiver.
    pub(super) received: u64,
    pub(super) sent: u64,
}

impl Kind {
    pub(super) fn is_client(self) -> bool {
        matches!(self, Self::ClientReceiver | Self::ClientSender)
    }

    pub(super) fn is_receiver(self) -> bool {
        matches!(self, Self::ClientReceiver | Self::ServerReceiver)
    }
}

pub(super) fn kind_of(task: usize) -> Kind {
    [Kind::ClientReceiver, Kind::ClientSender, Kind::ServerReceiver, Kind::ServerSender][task % THREADS]
}

/// The number of the thread's user in the room.
pub(super) fn number_of(task: usize) -> usize {
    task / THREADS % USERS
}

pub(super) fn room_of(task: usize) -> usize {
    task / THREADS / USERS
}

pub(super) fn task_of(room: usize, user: usize, kind: Kind) -> usize {
    (room * USERS + user) * THREADS + kind as usize
}

/// The thread of another kind of the same user.
pub(super) fn sibling(task: usize, kind: Kind) -> usize {
    task / THREADS * THREADS + kind as usize
}
