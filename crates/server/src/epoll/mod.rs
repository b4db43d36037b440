//! Event loops over level-triggered epoll. Each loop is one thread and owns its connections: it reads them, does what
//! they ask for, and writes to them. A line for a connection of another loop is put into that one's queue, and its loop
//! is woken if it sleeps; so a room is locked for as long as it takes to fill queues, and not to make system calls.
//! A loop that is alone writes deliveries at once.

mod event_loop;
mod link;
mod queue;
mod reception;

use std::os::fd::{BorrowedFd, OwnedFd};

use crate::{ServeError, ServeOptions, crew};
use event_loop::EventLoop;
use reception::Reception;

pub(crate) fn run(
    listener: OwnedFd,
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: impl FnOnce() -> Result<(), ServeError>,
) -> Result<(), ServeError> {
    let crew = crew::Crew::new(options)?;
    let state = crate::new_server_state();
    let new_loop = |inbox| EventLoop::new(options, inbox, &state);
    let mut loops = crew.inboxes.iter().map(new_loop).collect::<Result<Vec<_>, _>>()?;
    loops[0].receive(Reception::new(listener, options, &crew), stop)?;
    ready()?;
    crew.work(loops, EventLoop::run)
}
