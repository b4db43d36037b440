//! What lies between the bytes of a protocol and those of the socket, for transports other than `plain`.

mod tls_errors;
mod websocket;

use std::io::{Error, ErrorKind};
use std::os::fd::AsFd;

use klatch_protocol::tls::{ClientTls, Session, TlsPipe};
use klatch_record::{Endpoint, ProtocolName, TlsSession};
use websocket::WebSocketClient;

use crate::protocol::UserId;

/// A server, with the settings of TLS for its connections.
pub type ClientEndpoint = Endpoint<ClientTls>;

/// A server sent a unit that is longer than the protocol allows.
pub(crate) fn too_long(unit_bytes_max: usize) -> std::io::Error {
    std::io::Error::other(format!("the server sent a line or reply of over {unit_bytes_max} bytes"))
}

/// One connection's transport. Plain bytes are those of the protocol, raw bytes those of the socket.
pub(crate) struct Channel {
    websocket: Option<WebSocketClient>,
    tls: Option<TlsPipe>,
    /// The server's first line has not arrived in full, so TLS has not begun.
    awaits_greeting: bool,
}

impl Channel {
    /// The channel of a new connection; `None` if the protocol's bytes are the socket's.
    pub(crate) fn new(server: &ClientEndpoint, id: UserId) -> Option<Box<Channel>> {
        let websocket = server.websocket.as_ref().map(|options| WebSocketClient::new(options, server, id));
        let tls = server.tls.as_ref().map(TlsPipe::client);
        let exists = websocket.is_some() || tls.is_some();
        // NATS sends a line before TLS begins.
        let awaits_greeting = server.protocol == ProtocolName::Nats && tls.is_some() && websocket.is_none();
        exists.then(|| Box::new(Channel { websocket, tls, awaits_greeting }))
    }

    /// Appends to `raw` what is to be written now: that of `plain` which may be sent already, and replies of the transport.
    pub(crate) fn send(&mut self, plain: &[u8], raw: &mut Vec<u8>) {
        if self.awaits_greeting {
            return self.tls.iter_mut().for_each(|tls| tls.queue(plain));
        }
        match (&mut self.websocket, &mut self.tls) {
            (Some(websocket), Some(tls)) => {
                let mut frames = Vec::new();
                websocket.send(plain, &mut frames);
                tls.send(&frames, raw);
            }
            (Some(websocket), _) => websocket.send(plain, raw),
            (_, tls) => tls.iter_mut().for_each(|tls| tls.send(plain, raw)),
        }
    }

    /// Leaves the records of TLS to the kernel if that is wanted and can be done now. All that [`Channel::send`] appended has been
    /// written to `socket`.
    ///
    /// # Errors
    /// The kernel refuses.
    pub(crate) fn move_to_kernel(&mut self, socket: impl AsFd) -> std::io::Result<()> {
        if let Some(tls) = self.tls.as_mut().filter(|tls| tls.awaits_kernel()) {
            tls.move_to_kernel(socket.as_fd()).map_err(|error| {
                Error::new(error.kind(), format!("the kernel does not take the connection over: {error}"))
            })?;
        }
        Ok(())
    }

    /// Reads the record at which a read has stopped with `error`.
    ///
    /// # Errors
    /// There is none, so `error` is what happened; or the server has closed the connection, or reports an error.
    fn receive_control(&mut self, socket: impl AsFd, error: Error) -> std::io::Result<()> {
        let Some(tls) = self.tls.as_mut().filter(|tls| tls.is_in_kernel()) else { return Err(error) };
        match error.raw_os_error() {
            Some(libc::EBADMSG) => {
                Err(Error::other(tls_errors::explain(&klatch_protocol::tls::Error::DecryptError)))
            }
            Some(libc::EIO) => {
                tls.receive_control(socket.as_fd())?;
                match tls.peer_closed() {
                    true => Err(Error::new(ErrorKind::ConnectionAborted, "the server closed the connection")),
                    false => Ok(()),
                }
            }
            _ => Err(error),
        }
    }

    /// Whether [`Channel::send`] has something to append without further plain bytes.
    pub(crate) fn has_output(&self) -> bool {
        if self.awaits_greeting {
            return false;
        }
        self.websocket.as_ref().is_some_and(WebSocketClient::has_output)
            || self.tls.as_ref().is_some_and(TlsPipe::has_output)
    }

    /// Bytes that wait for [`Channel::send`].
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.websocket.as_ref().map_or(0, WebSocketClient::waiting_bytes)
    }

    /// Appends to `plain` what the received bytes contain.
    ///
    /// # Errors
    /// The server violates the protocol of the transport, or has closed it.
    pub(crate) fn receive(&mut self, mut raw: &[u8], plain: &mut Vec<u8>) -> std::io::Result<()> {
        if self.awaits_greeting {
            let line_end = memchr::memchr(b'\n', raw);
            let (greeting, rest) = raw.split_at(line_end.map_or(raw.len(), |end| end + 1));
            plain.extend_from_slice(greeting);
            self.awaits_greeting = line_end.is_none();
            raw = rest;
        }
        let Some(tls) = &mut self.tls else {
            return self.websocket.as_mut().map_or(Ok(()), |websocket| websocket.receive(raw, plain));
        };
        let received = match &mut self.websocket {
            None => tls.receive(raw, plain),
            Some(websocket) => {
                let mut frames = Vec::new();
                let received = tls.receive(raw, &mut frames);
                websocket.receive(&frames, plain)?;
                received
            }
        };
        received.map_err(|error| Error::other(tls_errors::explain(&error)))?;
        // What came before the end is processed first; the end of the stream follows.
        if tls.peer_closed() && plain.is_empty() {
            return Err(Error::new(ErrorKind::ConnectionAborted, "the server closed the connection"));
        }
        Ok(())
    }

    /// Ends the connection in the way of the transport, after all that was sent before. TLS gets no alert: its library would take a
    /// faulty record after that for an error of this side, and such a record is to be counted.
    pub(crate) fn close(&mut self) {
        if let Some(websocket) = &mut self.websocket {
            websocket.close();
        }
    }

    /// The error of a connection whose stream of bytes has ended: [`ErrorKind::ConnectionAborted`] if the server has said so before,
    /// else [`ErrorKind::UnexpectedEof`].
    pub(crate) fn end_error(&self) -> Error {
        let reason = match (&self.tls, &self.websocket) {
            (Some(tls), _) if !tls.is_open() => {
                "the server closed the connection during the TLS handshake".to_owned()
            }
            (Some(tls), _) if !tls.peer_closed() => {
                "the server closed the connection without a TLS alert".to_owned()
            }
            (_, Some(websocket)) => websocket.end_reason(),
            _ => "the server closed the connection".to_owned(),
        };
        let tls_closed = self.tls.as_ref().is_none_or(TlsPipe::peer_closed);
        let is_orderly = tls_closed && self.websocket.as_ref().is_none_or(WebSocketClient::is_closed);
        Error::new(if is_orderly { ErrorKind::ConnectionAborted } else { ErrorKind::UnexpectedEof }, reason)
    }

    /// The protocol that the server chose by ALPN, or `None` in its place, once TLS is agreed on; `None` without TLS and before that.
    pub(crate) fn application_protocol(&self) -> Option<Option<Vec<u8>>> {
        let tls = self.tls.as_ref().filter(|tls| tls.is_open())?;
        Some(tls.application_protocol())
    }

    /// What TLS agreed to; `None` without TLS.
    pub(crate) fn tls_session(&self) -> Option<TlsSession> {
        let tls = self.tls.as_ref()?;
        let Session { version, cipher } = tls.session()?;
        let (resumed, in_kernel) = (tls.is_resumed().into(), tls.is_in_kernel().into());
        Some(TlsSession { version, cipher, resumed, in_kernel })
    }
}

thread_local! {
    /// Received bytes, and the plain bytes in them. They are empty between two calls.
    static SCRATCH: std::cell::RefCell<(Vec<u8>, Vec<u8>)> = const { std::cell::RefCell::new((Vec::new(), Vec::new())) };
}

/// Raw bytes of one read at most.
const READ_BYTES: usize = 64 * 1024;

/// Reads once through a channel into `buffer`, at most `most` raw bytes. Returns the numbers of plain bytes, which may be none, and of
/// raw ones.
///
/// # Errors
/// The connection broke or has ended, or the server violates the protocol of the transport.
pub(crate) fn read_through(
    channel: &mut Channel,
    stream: &mut (impl std::io::Read + AsFd),
    buffer: &mut [u8],
    most: usize,
) -> std::io::Result<(usize, usize)> {
    // A frame has a head at least as long as the line end that it stands for. So the plain bytes are no more, but for a
    // message whose fragments were received before.
    let room = buffer.len().saturating_sub(klatch_protocol::websocket::MESSAGE_BYTES_MAX);
    SCRATCH.with_borrow_mut(|(raw, plain)| {
        plain.clear();
        let raw_bytes = receive_once(channel, stream, most.min(room).min(READ_BYTES), raw, plain)?;
        // A record of TLS may have been received before as well.
        let room = buffer.len();
        let place = buffer.get_mut(..plain.len()).ok_or_else(|| too_long(room))?;
        place.copy_from_slice(plain);
        Ok((plain.len(), raw_bytes))
    })
}

/// Reads once through a channel, and appends all plain bytes to `plain`: those of the read, and what had arrived of a record of TLS and
/// of a WebSocket's message. Returns their number, which may be 0.
///
/// # Errors
/// As those of [`read_through`].
pub(crate) fn append_through(
    channel: &mut Channel,
    stream: &mut (impl std::io::Read + AsFd),
    plain: &mut Vec<u8>,
) -> std::io::Result<usize> {
    SCRATCH.with_borrow_mut(|(raw, new)| {
        new.clear();
        receive_once(channel, stream, READ_BYTES, raw, new)?;
        plain.extend_from_slice(new);
        Ok(new.len())
    })
}

/// Reads at most `most` raw bytes once, and appends the plain bytes in them to `plain`. Returns the number of raw bytes, which is 0 if the
/// kernel has read a record without data.
fn receive_once(
    channel: &mut Channel,
    stream: &mut (impl std::io::Read + AsFd),
    most: usize,
    raw: &mut Vec<u8>,
    plain: &mut Vec<u8>,
) -> std::io::Result<usize> {
    raw.resize(most, 0);
    let bytes = match stream.read(raw) {
        Ok(bytes) => bytes,
        Err(error) => return channel.receive_control(stream, error).map(|()| 0),
    };
    if bytes == 0 {
        return Err(channel.end_error());
    }
    channel.receive(&raw[..bytes], plain).map(|()| bytes)
}
