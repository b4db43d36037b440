//! The first loop's second duty: it accepts the connections, and spreads them over the loops in turn.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::SocketFlags;

use crate::ServeOptions;
use crate::admission::{self, ACCEPT_PAUSE, AdmissionControl};
use crate::loop_group::LoopGroup;
use crate::mailbox::{Arrival, Mailbox};

/// Connections accepted in one turn, so that a flood of them keeps nobody else waiting.
const ACCEPTS_MAX: usize = 256;

pub(super) struct Acceptor {
    listener: OwnedFd,
    admission: Arc<AdmissionControl>,
    loops: Vec<Arc<Mailbox>>,
    accepted: usize,
    /// Nobody is accepted before that moment.
    pub(super) resume_at: Option<Instant>,
}

impl Acceptor {
    pub(super) fn new(listener: OwnedFd, options: &ServeOptions, group: &LoopGroup) -> Acceptor {
        Acceptor {
            listener,
            admission: AdmissionControl::new(options),
            loops: group.mailboxes.clone(),
            accepted: 0,
            resume_at: None,
        }
    }

    /// Accepts all pending connections.
    pub(super) fn accept(&mut self) {
        for _ in 0..ACCEPTS_MAX {
            match admission::accept(&self.listener, SocketFlags::NONBLOCK) {
                Ok((socket, from)) => {
                    if let Some(half_open) = self.admission.admit(&socket) {
                        let mailbox = &self.loops[self.accepted % self.loops.len()];
                        mailbox.hand_over(Arrival { socket, from, half_open });
                        self.accepted += 1;
                    }
                }
                Err(Errno::AGAIN) => return,
                Err(errno) => {
                    self.resume_at = Some(Instant::now() + ACCEPT_PAUSE);
                    return self.admission.warn_accept_failed(errno);
                }
            }
        }
    }
}

/// The descriptor of the listening socket, for epoll.
impl AsFd for Acceptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
