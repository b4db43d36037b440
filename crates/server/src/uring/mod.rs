//! Event loops over io_uring. Each loop is one thread with a ring of its own and owns its connections. Connections
//! arrive and bytes are received by operations that stay armed (multishot), into buffers that the ring hands out; each
//! delivery is a send operation of its own, and one system call submits all that a turn of the loop has brought.
//!
//! The operations of a ring run side by side, so a connection has at most one send under way: its lines stay in order.

mod acceptor;
mod buffers;
mod event_loop;
mod ring;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use acceptor::Acceptor;
use klatch_protocol::service::Service;

use crate::admission::AdmissionControl;
use crate::loop_group::LoopGroup;
use crate::send_queue::SendQueue;
use crate::{ServeError, ServeOptions};
pub(crate) use event_loop::ConnectionIo;
use event_loop::EventLoop;

pub(crate) fn run<S: Service<SendQueue<ConnectionIo>>>(
    service: &Arc<S>,
    listener: OwnedFd,
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: crate::Ready<'_>,
) -> Result<(), ServeError> {
    let group = LoopGroup::new(options)?;
    let new_loop = |mailbox| EventLoop::new(options, mailbox, service);
    let mut loops = group.mailboxes.iter().map(new_loop).collect::<Result<Vec<_>, _>>()?;
    let stop = stop.try_clone_to_owned().map_err(ServeError::system("listen for signals"))?;
    loops[0].set_acceptor(Acceptor::new(listener, stop, AdmissionControl::new(options), &group)?);
    ready()?;
    group.work(loops, EventLoop::run)
}
