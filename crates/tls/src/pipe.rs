//! One TLS connection as bytes in and bytes out.

use std::io::{Read, Write};

use rustls::{ClientConnection, Connection, Error, HandshakeKind, ServerConnection};

use crate::{ClientTls, ServerTls};

/// One side of a TLS connection. Plain bytes are those within TLS, raw bytes those of the socket.
pub struct TlsPipe {
    connection: Connection,
    peer_closed: bool,
    /// The peer violated the protocol: only the alert for it is still to be sent.
    failed: bool,
}

/// What both sides agreed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Version of the protocol: `TLSv1.3`.
    pub version: String,
    /// Cipher suite, as IANA names it: `TLS_AES_128_GCM_SHA256`.
    pub cipher: String,
}

impl TlsPipe {
    /// The client's side of a new connection. It has raw bytes to send.
    pub fn client(tls: &ClientTls) -> TlsPipe {
        let connection = ClientConnection::new(tls.config.clone(), tls.host.clone());
        TlsPipe::new(connection.expect("the settings were checked").into())
    }

    /// The server's side of a new connection.
    pub fn server(tls: &ServerTls) -> TlsPipe {
        TlsPipe::new(ServerConnection::new(tls.0.clone()).expect("the settings were checked").into())
    }

    fn new(mut connection: Connection) -> TlsPipe {
        // Send queues have limits of their own.
        connection.set_buffer_limit(None);
        TlsPipe { connection, peer_closed: false, failed: false }
    }

    /// Appends to `raw` what is to be written now: the records of `plain`, or those of the handshake before them.
    pub fn send(&mut self, plain: &[u8], raw: &mut Vec<u8>) {
        self.queue(plain);
        self.drain(raw);
    }

    /// Queues plain bytes; [`TlsPipe::send`] appends their records.
    pub fn queue(&mut self, plain: &[u8]) {
        if !self.failed {
            // Writing to memory does not fail.
            let _ = self.connection.writer().write_all(plain);
        }
    }

    /// Whether [`TlsPipe::send`] has something to append without further plain bytes.
    pub fn has_output(&self) -> bool {
        self.connection.wants_write()
    }

    /// Appends to `plain` what the received records contain.
    ///
    /// # Errors
    /// The peer violates the protocol, or its certificate is not accepted. An alert for it is to be sent.
    pub fn receive(&mut self, raw: &[u8], plain: &mut Vec<u8>) -> Result<(), Error> {
        let received = self.receive_records(raw, plain);
        self.failed |= received.is_err();
        received
    }

    fn receive_records(&mut self, mut raw: &[u8], plain: &mut Vec<u8>) -> Result<(), Error> {
        while !raw.is_empty() {
            let before = raw.len();
            // Reading from memory fails only for a message that is larger than the protocol allows.
            self.connection
                .read_tls(&mut raw)
                .map_err(|_| Error::General("a message of the handshake is too long".to_owned()))?;
            let state = self.connection.process_new_packets()?;
            let ready = state.plaintext_bytes_to_read();
            if ready > 0 {
                let begin = plain.len();
                plain.resize(begin + ready, 0);
                let read = self.connection.reader().read(&mut plain[begin..]).unwrap_or(0);
                plain.truncate(begin + read);
            }
            self.peer_closed |= state.peer_has_closed();
            if raw.len() == before {
                // After the end of the peer nothing more is read.
                break;
            }
        }
        Ok(())
    }

    /// Announces that this side sends nothing more; [`TlsPipe::send`] appends the alert.
    pub fn close(&mut self) {
        if !self.failed {
            self.connection.send_close_notify();
        }
    }

    /// Whether the peer announced that it sends nothing more.
    pub fn peer_closed(&self) -> bool {
        self.peer_closed
    }

    /// Whether both sides have finished the handshake.
    pub fn is_open(&self) -> bool {
        !self.connection.is_handshaking()
    }

    /// What both sides agreed to; `None` before that.
    pub fn session(&self) -> Option<Session> {
        let version = self.connection.protocol_version()?.as_str()?.replace("TLSv1_", "TLSv1.");
        let cipher = self.connection.negotiated_cipher_suite()?.suite().as_str()?;
        Some(Session { version, cipher: cipher.replace("TLS13_", "TLS_") })
    }

    /// Whether the handshake resumed the session of an earlier connection.
    pub fn is_resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    fn drain(&mut self, raw: &mut Vec<u8>) {
        while self.connection.wants_write() {
            if self.connection.write_tls(raw).is_err() {
                break;
            }
        }
    }
}
