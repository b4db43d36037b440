//! The first loop's second duty: it takes in the connections and spreads them over the loops in turn, and hears the stop.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use rustix::io::{Errno, ioctl_fionbio};
use rustix::net;

use super::ring::Ring;
use crate::ServeError;
use crate::crew::Crew;
use crate::door::{ACCEPT_PAUSE, Door};
use crate::inbox::{Arrival, Inbox};

pub(super) struct Reception {
    listener: OwnedFd,
    stop: OwnedFd,
    door: Arc<Door>,
    loops: Vec<Arc<Inbox>>,
    accepted: usize,
    /// Nobody is accepted before that moment.
    pub(super) again_at: Option<Instant>,
}

impl Reception {
    pub(super) fn new(
        listener: OwnedFd,
        stop: OwnedFd,
        door: Arc<Door>,
        crew: &Crew,
    ) -> Result<Reception, ServeError> {
        // The ring waits by itself; a socket that does not block would make it give up instead.
        ioctl_fionbio(&listener, false).map_err(ServeError::system("wait for connections"))?;
        Ok(Reception { listener, stop, door, loops: crew.inboxes.clone(), accepted: 0, again_at: None })
    }

    pub(super) fn open(&mut self, ring: &mut Ring, stop: usize) {
        ring.poll(&self.stop, stop);
        ring.accept(&self.listener);
    }

    /// A connection came, or none can come.
    pub(super) fn take(&mut self, socket: Result<OwnedFd, Errno>, armed: bool, ring: &mut Ring) {
        match socket {
            Ok(socket) => self.admit(socket),
            Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO | Errno::AGAIN) => {}
            Err(errno) => {
                self.door.tell_of_no_room(errno);
                self.again_at = Some(Instant::now() + ACCEPT_PAUSE);
                return;
            }
        }
        if !armed {
            ring.accept(&self.listener);
        }
    }

    /// Accepts again after a pause.
    pub(super) fn keep_time(&mut self, now: Instant, ring: &mut Ring) {
        if self.again_at.is_some_and(|at| at <= now) {
            self.again_at = None;
            ring.accept(&self.listener);
        }
    }

    fn admit(&mut self, socket: OwnedFd) {
        // It may have gone away already.
        let from = net::getpeername(&socket).ok().flatten().and_then(|from| SocketAddr::try_from(from).ok());
        if let Some(from) = from
            && let Some(half_open) = self.door.admit(&socket)
        {
            self.loops[self.accepted % self.loops.len()].hand_over(Arrival { socket, from, half_open });
            self.accepted += 1;
        }
    }
}
