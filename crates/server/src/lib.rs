//! Native servers. Each I/O model is one file, a thin shell around a [`klatch_protocol::service::Service`]; what all of them share (the listening
//! socket, the options, the ready line, signals) is around it.

mod admission;
mod epoll;
mod error;
mod limits;
mod linger;
mod listener;
mod loop_group;
mod mailbox;
mod options;
mod ready;
mod request_clock;
mod send_queue;
mod served;
mod signals;
mod slots;
mod thread_limits;
mod threads;
mod timeout_queue;
mod tokio;
mod uring;

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

pub use error::ServeError;
pub use options::{Class, Model, ServeOptions, TlsFiles};
pub use ready::ready_json;
use served::Served;
pub use served::Workload;
pub use signals::is_ignored;

/// The caller's part at the moment when connections are accepted.
///
/// A trait object, here and wherever this crate takes a callback: a generic parameter would move the code of every event loop into
/// the calling crate, and so to that crate's optimisation level.
type Ready<'a> = &'a mut dyn FnMut() -> Result<(), ServeError>;

/// Serves until SIGTERM or SIGINT. Prints the ready line on standard output when connections are accepted.
///
/// # Errors
/// The server cannot start or go on.
pub fn serve(options: &ServeOptions) -> Result<(), ServeError> {
    serve_announced(options, &mut |_| Ok(()))
}

/// Serves until SIGTERM or SIGINT. When connections are accepted, it calls `on_ready` with the real address, and then prints the
/// ready line on standard output.
///
/// # Errors
/// The server cannot start or go on, or `on_ready` failed.
pub fn serve_announced(
    options: &ServeOptions,
    on_ready: &mut dyn FnMut(SocketAddr) -> std::io::Result<()>,
) -> Result<(), ServeError> {
    let stop = signals::term_and_int()?;
    serve_until(options, stop.as_fd(), &mut |address| {
        on_ready(address).map_err(ServeError::Announce)?;
        ready::print(options, address)
    })
}

/// Serves until `stop` becomes readable. Calls `ready` with the real address, also for port 0, once connections are accepted.
pub fn serve_until(
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: &mut dyn FnMut(SocketAddr) -> Result<(), ServeError>,
) -> Result<(), ServeError> {
    options.check()?;
    served::serve(options, stop, ready)
}

/// Serves a workload over its transport by the model of `options`.
fn serve_workload<W: Served>(
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: &mut dyn FnMut(SocketAddr) -> Result<(), ServeError>,
) -> Result<(), ServeError> {
    limits::raise_open_files();
    let (listener, address) = listener::listen(&options.listen, options.patience())?;
    let ready: Ready<'_> = &mut || ready(address);
    match options.model {
        Model::Threads => threads::run(&W::start(options)?, listener, options, stop, ready),
        Model::Epoll => epoll::run(&W::start(options)?, listener, options, stop, ready),
        Model::Uring => uring::run(&W::start(options)?, listener, options, stop, ready),
        Model::Tokio => tokio::run(&W::start(options)?, listener, options, stop, ready),
    }
}
