//! SIGTERM and SIGINT, as something to wait for.

use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use crate::ServeError;

/// A socket that becomes readable on SIGTERM or SIGINT.
pub(crate) fn term_and_int() -> Result<UnixStream, ServeError> {
    let listen_for = || {
        let (receiver, sender) = UnixStream::pair()?;
        pipe::register(SIGTERM, sender.try_clone()?)?;
        pipe::register(SIGINT, sender)?;
        Ok(receiver)
    };
    listen_for().map_err(ServeError::system::<std::io::Error>("listen for signals"))
}
