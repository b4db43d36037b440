//! Event loops over level-triggered epoll. Each loop is one thread and owns its connections: it reads them, does what
//! they ask for, and writes to them. A line for a connection of another loop is put into that one's queue, and its loop
//! is woken if it sleeps; so a room is locked for as long as it takes to fill queues, and not to make system calls.
//! A loop that is alone writes deliveries at once.

mod acceptor;
mod connection_io;
mod event_loop;
mod write_buffer;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use acceptor::Acceptor;
use klatch_protocol::service::Service;

use crate::{ServeError, ServeOptions, loop_group};
pub(crate) use connection_io::ConnectionIo;
use event_loop::EventLoop;

pub(crate) fn run<S: Service<ConnectionIo>>(
    service: &Arc<S>,
    listener: OwnedFd,
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: crate::Ready<'_>,
) -> Result<(), ServeError> {
    let group = loop_group::LoopGroup::new(options)?;
    let new_loop = |mailbox| EventLoop::new(options, mailbox, service);
    let mut loops = group.mailboxes.iter().map(new_loop).collect::<Result<Vec<_>, _>>()?;
    loops[0].set_acceptor(Acceptor::new(listener, options, &group), stop)?;
    ready()?;
    group.work(loops, EventLoop::run)
}
