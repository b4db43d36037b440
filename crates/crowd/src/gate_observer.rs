//! Observes the gates of a chat server from room 0, for the server itself. No shard counts the observer.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::channel::too_long;
use crate::gate::opened_run;
use crate::irc::Irc;
use crate::protocol::{Protocol, ServerEvent, UserId};

/// Shards are numbered by their first room, which is at least 1, so this user is none of them.
const OBSERVER: UserId = UserId { room: 0, user: 0, users: 1 };

/// Longest line that the server may send, bytes.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// Calls `on_open` with the number of each gate that opens on this IRC server, until the server closes the connection.
///
/// # Errors
/// The server cannot be reached, the connection broke, or a line has no end.
pub fn observe_gates(address: SocketAddr, mut on_open: impl FnMut(u64)) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let (mut protocol, mut out) = (Irc::new(OBSERVER, &None), Vec::new());
    protocol.write_handshake(&mut out);
    let (mut input, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        stream.write_all(&out)?;
        out.clear();
        let bytes = stream.read(&mut buffer)?;
        if bytes == 0 {
            return Ok(());
        }
        input.extend_from_slice(&buffer[..bytes]);
        let mut taken = 0;
        while let Some((bytes, event)) = protocol.parse(&input[taken..], &mut out) {
            taken += bytes;
            if let ServerEvent::Message(_, text) = event
                && let Some(run) = opened_run(text)
            {
                on_open(run);
            }
        }
        input.drain(..taken);
        if input.len() > LINE_BYTES_MAX {
            return Err(too_long(LINE_BYTES_MAX));
        }
    }
}
