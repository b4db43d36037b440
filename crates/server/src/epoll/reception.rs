//! The first loop's second duty: it accepts the connections, and spreads them over the loops in turn.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::SocketFlags;

use crate::ServeOptions;
use crate::crew::Crew;
use crate::door::{self, ACCEPT_PAUSE, Door};
use crate::inbox::{Arrival, Inbox};

/// Connections accepted in one turn, so that a flood of them keeps nobody else waiting.
const ACCEPTS_MAX: usize = 256;

pub(super) struct Reception {
    listener: OwnedFd,
    door: Arc<Door>,
    loops: Vec<Arc<Inbox>>,
    accepted: usize,
    /// Nobody is accepted before that moment.
    pub(super) again_at: Option<Instant>,
}

impl Reception {
    pub(super) fn new(listener: OwnedFd, options: &ServeOptions, crew: &Crew) -> Reception {
        Reception {
            listener,
            door: Door::new(options),
            loops: crew.inboxes.clone(),
            accepted: 0,
            again_at: None,
        }
    }

    /// Accepts those who wait.
    pub(super) fn accept(&mut self) {
        for _ in 0..ACCEPTS_MAX {
            match door::accept(&self.listener, SocketFlags::NONBLOCK) {
                Ok((socket, from)) => {
                    if let Some(half_open) = self.door.admit(&socket) {
                        let inbox = &self.loops[self.accepted % self.loops.len()];
                        inbox.hand_over(Arrival { socket, from, half_open });
                        self.accepted += 1;
                    }
                }
                Err(Errno::AGAIN) => return,
                Err(errno) => {
                    self.again_at = Some(Instant::now() + ACCEPT_PAUSE);
                    return self.door.tell_of_no_room(errno);
                }
            }
        }
    }
}

/// The listening socket.
impl AsFd for Reception {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
