//! All rooms and users of one server.
//!
//! A hall is shared by all sessions, which may live on one thread or on many. Nicks and rooms stand behind one mutex
//! each, and every room behind its own, held during a fan-out, so that a room has one order of messages. Locks are
//! taken in the order rooms → room → profile and nicks → profile, and an [`Outbox`] never calls back, so nobody waits
//! for anybody for longer than a fan-out takes.

mod nicks;
mod room;
mod user;

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Session;
pub(crate) use nicks::Nicks;
pub(crate) use room::{Member, Room, Rooms};
pub(crate) use user::{Profile, User};

/// Where the lines for one connection go. Clones are the same outbox.
pub trait Outbox: Clone {
    /// Takes one line, CR LF included. Never blocks, never fails, never calls back into the hall: when it cannot take
    /// the line, it remembers that, and its shell closes the session later.
    fn send(&self, line: &Arc<[u8]>);

    /// Takes one line that delivers a message. A server of class `classic` writes it by itself; what is no delivery
    /// (answers, who came and went) may be put together.
    fn deliver(&self, line: &Arc<[u8]>) {
        self.send(line);
    }
}

/// What a server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The server's name, with a dot in it, as clients expect.
    pub name: String,
    /// The version of the program, one word.
    pub version: String,
    /// When it was started, for people to read.
    pub created: String,
    /// The network's name, one word.
    pub network: String,
    /// The message of the day, line by line; empty: there is none.
    pub motd: Vec<String>,
}

/// All rooms and users of one server.
pub struct Hall<O> {
    pub(crate) identity: Identity,
    pub(crate) nicks: Nicks<O>,
    pub(crate) rooms: Rooms<O>,
    sessions: AtomicU64,
}

impl<O: Outbox> Hall<O> {
    /// An empty hall.
    pub fn new(identity: Identity) -> Arc<Hall<O>> {
        Arc::new(Hall {
            identity,
            nicks: Nicks::default(),
            rooms: Rooms::default(),
            sessions: AtomicU64::new(0),
        })
    }

    /// A new connection `from` somewhere, whose lines go to `outbox`.
    pub fn enter(self: &Arc<Self>, from: IpAddr, outbox: O) -> Session<O> {
        let id = self.sessions.fetch_add(1, Ordering::Relaxed);
        Session::new(Arc::clone(self), id, from, outbox)
    }
}

/// A session that panicked may not take the others with it, so poison is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
