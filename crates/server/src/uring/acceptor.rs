//! The first loop also accepts: it distributes the connections over the loops in turn, and handles the stop.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use rustix::io::{Errno, ioctl_fionbio};
use rustix::net;

use super::ring::Ring;
use crate::ServeError;
use crate::admission::{ACCEPT_PAUSE, AdmissionControl};
use crate::loop_group::LoopGroup;
use crate::mailbox::{Arrival, Mailbox};

pub(super) struct Acceptor {
    listener: OwnedFd,
    stop: OwnedFd,
    admission: Arc<AdmissionControl>,
    loops: Vec<Arc<Mailbox>>,
    accepted: usize,
    /// Nobody is accepted before that moment.
    pub(super) resume_at: Option<Instant>,
}

impl Acceptor {
    pub(super) fn new(
        listener: OwnedFd,
        stop: OwnedFd,
        admission: Arc<AdmissionControl>,
        group: &LoopGroup,
    ) -> Result<Acceptor, ServeError> {
        // The ring waits by itself; a socket that does not block would make it give up instead.
        ioctl_fionbio(&listener, false).map_err(ServeError::system("wait for connections"))?;
        Ok(Acceptor {
            listener,
            stop,
            admission,
            loops: group.mailboxes.clone(),
            accepted: 0,
            resume_at: None,
        })
    }

    pub(super) fn start(&mut self, ring: &mut Ring, stop: usize) {
        ring.poll(&self.stop, stop);
        ring.accept(&self.listener);
    }

    /// Handles a completed accept, or its failure.
    pub(super) fn on_accepted(&mut self, socket: Result<OwnedFd, Errno>, armed: bool, ring: &mut Ring) {
        match socket {
            Ok(socket) => self.admit(socket),
            Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO | Errno::AGAIN) => {}
            Err(errno) => {
                self.admission.warn_accept_failed(errno);
                self.resume_at = Some(Instant::now() + ACCEPT_PAUSE);
                return;
            }
        }
        if !armed {
            ring.accept(&self.listener);
        }
    }

    /// Accepts again after a pause.
    pub(super) fn resume(&mut self, now: Instant, ring: &mut Ring) {
        if self.resume_at.is_some_and(|at| at <= now) {
            self.resume_at = None;
            ring.accept(&self.listener);
        }
    }

    fn admit(&mut self, socket: OwnedFd) {
        // It may have gone away already.
        let from = net::getpeername(&socket).ok().flatten().and_then(|from| SocketAddr::try_from(from).ok());
        if let Some(from) = from
            && let Some(half_open) = self.admission.admit(&socket)
        {
            self.loops[self.accepted % self.loops.len()].hand_over(Arrival { socket, from, half_open });
            self.accepted += 1;
        }
    }
}
