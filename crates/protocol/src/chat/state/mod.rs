//! All rooms and users of one server.
//!
//! All sessions share one [`ServerState`], on one thread or on many. One mutex protects the nicks and one the map of
//! rooms. Each room has its own mutex, held during a fan-out, so all members see the same order of messages.
//!
//! Locks are taken in the order rooms → room → profile and nicks → profile; a user's list of rooms is locked alone. An [`Outbox`] never calls back, so no
//! lock is held for longer than one fan-out.

mod nicks;
mod room;
mod user;

pub(crate) use crate::service::Outbox;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use nicks::Nicks;
pub(crate) use room::{Member, Room, Rooms};
pub(crate) use user::{Profile, User};

/// The names, version and texts that a server reports about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The server's host name; it contains a dot, because clients use that to tell servers from users.
    pub name: String,
    /// The version of the program; without spaces.
    pub version: String,
    /// The start date, as free text for the welcome.
    pub created: String,
    /// The network's name; without spaces.
    pub network: String,
    /// The lines of the message of the day; empty if there is none.
    pub motd: Vec<String>,
}

/// The rooms and users of one server, shared by its sessions.
pub struct ServerState<O> {
    pub(crate) identity: Identity,
    pub(crate) nicks: Nicks<O>,
    pub(crate) rooms: Rooms<O>,
    next_session_id: AtomicU64,
}

impl<O: Outbox> ServerState<O> {
    /// Creates a server without rooms and users.
    pub fn new(identity: Identity) -> Arc<ServerState<O>> {
        Arc::new(ServerState {
            identity,
            nicks: Nicks::default(),
            rooms: Rooms::default(),
            next_session_id: AtomicU64::new(0),
        })
    }

    pub(crate) fn next_session_id(&self) -> u64 {
        self.next_session_id.fetch_add(1, Ordering::Relaxed)
    }
}

/// Ignores poisoning: a panic in one session must not end the others.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
