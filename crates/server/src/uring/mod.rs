//! Event loops over io_uring. Each loop is one thread with a ring of its own and owns its connections. Connections
//! arrive and bytes are received by operations that stay armed (multishot), into buffers that the ring hands out; each
//! delivery is a send operation of its own, and one system call submits all that a turn of the loop has brought.
//!
//! The operations of a ring run side by side, so a connection has at most one send under way: its lines stay in order.

mod buffers;
mod event_loop;
mod reception;
mod ring;

use std::os::fd::{BorrowedFd, OwnedFd};

use crate::crew::Crew;
use crate::door::Door;
use crate::{ServeError, ServeOptions};
use event_loop::EventLoop;
use reception::Reception;

pub(crate) fn run(
    listener: OwnedFd,
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: impl FnOnce() -> Result<(), ServeError>,
) -> Result<(), ServeError> {
    let crew = Crew::new(options)?;
    let state = crate::new_server_state();
    let new_loop = |inbox| EventLoop::new(options, inbox, &state);
    let mut loops = crew.inboxes.iter().map(new_loop).collect::<Result<Vec<_>, _>>()?;
    let stop = stop.try_clone_to_owned().map_err(ServeError::system("listen for signals"))?;
    loops[0].receive(Reception::new(listener, stop, Door::new(options), &crew)?);
    ready()?;
    crew.work(loops, EventLoop::run)
}
