//! Native chat servers. Each I/O model is one file, a thin shell around [`klatch_chat`]; what all of them share (the
//! listening socket, the options, the ready line, signals) is around it.

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
mod send_queue;
mod signals;
mod slots;
mod thread_limits;
mod threads;
mod timeout_queue;
mod tokio;
mod uring;

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use klatch_chat::{Identity, Outbox, ServerState};

pub use error::ServeError;
pub use options::{Model, ServeOptions};

/// Serves until SIGTERM or SIGINT. Prints the ready line on standard output when connections are accepted.
pub fn serve(options: &ServeOptions) -> Result<(), ServeError> {
    let stop = signals::term_and_int()?;
    serve_until(options, stop.as_fd(), |address| ready::print(options, address))
}

/// Serves until `stop` becomes readable. Calls `ready` with the real address, also for port 0, once connections are accepted.
pub fn serve_until(
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: impl FnOnce(SocketAddr) -> Result<(), ServeError>,
) -> Result<(), ServeError> {
    options.check()?;
    limits::raise_open_files();
    let (listener, address) = listener::listen(&options.listen)?;
    let ready = || ready(address);
    match options.model {
        Model::Threads => threads::run(listener, options, stop, ready),
        Model::Epoll => epoll::run(listener, options, stop, ready),
        Model::Uring => uring::run(listener, options, stop, ready),
        Model::Tokio => tokio::run(listener, options, stop, ready),
    }
}

/// The state of a server at its start: without rooms and users.
fn new_server_state<O: Outbox>() -> Arc<ServerState<O>> {
    ServerState::new(Identity {
        name: "klatch.localhost".into(),
        version: concat!("klatch-", env!("CARGO_PKG_VERSION")).into(),
        created: concat!("with klatch ", env!("CARGO_PKG_VERSION")).to_owned(),
        network: "Klatch".into(),
        motd: vec!["Come in and talk.".into()],
    })
}
