//! One TLS connection as bytes in and bytes out.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::BorrowedFd;

use rustls::{ClientConnection, Connection, Error, HandshakeKind, ProtocolVersion, ServerConnection};

use crate::tls::boundary::Boundary;
use crate::tls::{ClientTls, ControlRecord, ServerTls, kernel, receive_control_record};

/// One side of a TLS connection. Plain bytes are those within TLS, raw bytes those of the socket.
pub struct TlsPipe {
    records: Records,
    /// Where the received bytes end; `None` if the kernel is not to make the records, or does already.
    boundary: Option<Boundary>,
    peer_closed: bool,
    /// The peer violated the protocol: only the alert for it is still to be sent.
    failed: bool,
}

/// Who makes and opens the records.
enum Records {
    /// The library, in this process.
    Library(Box<Connection>),
    /// The kernel, so raw bytes are plain bytes. What the handshake agreed to is kept.
    Kernel { session: Session, is_resumed: bool },
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
        let connection = connection.expect("the settings were checked");
        TlsPipe::new(connection.into(), tls.config.enable_secret_extraction)
    }

    /// The server's side of a new connection.
    pub fn server(tls: &ServerTls) -> TlsPipe {
        let connection = ServerConnection::new(tls.0.clone()).expect("the settings were checked");
        TlsPipe::new(connection.into(), tls.0.enable_secret_extraction)
    }

    fn new(mut connection: Connection, for_kernel: bool) -> TlsPipe {
        // Send queues have limits of their own.
        connection.set_buffer_limit(None);
        TlsPipe {
            records: Records::Library(Box::new(connection)),
            boundary: for_kernel.then(Boundary::default),
            peer_closed: false,
            failed: false,
        }
    }

    /// Whether the records are to be left to the kernel, by [`TlsPipe::move_to_kernel`].
    pub fn awaits_kernel(&self) -> bool {
        self.boundary.is_some()
    }

    /// Leaves the records to the kernel if that is wanted, as soon as the handshake is done and no part of a record was received alone. All that
    /// [`TlsPipe::send`] appended must have been written to `socket`. Returns whether the kernel makes them now.
    ///
    /// # Errors
    /// The kernel refuses. The connection cannot be used any more.
    pub fn move_to_kernel(&mut self, socket: BorrowedFd<'_>) -> std::io::Result<bool> {
        let at_boundary = self.boundary.as_ref().is_some_and(Boundary::is_reached);
        let is_ready = self.is_open() && !self.has_output() && !self.failed && at_boundary;
        let Some(session) = self.session().filter(|_| is_ready) else { return Ok(false) };
        self.boundary = None;
        if self.version() != Some(ProtocolVersion::TLSv1_3) {
            let text = format!("it gets keys of TLS 1.3 only, and the peer chose {}", session.version);
            return Err(std::io::Error::new(ErrorKind::Unsupported, text));
        }
        let kept = Records::Kernel { session, is_resumed: self.is_resumed() };
        if let Records::Library(connection) = std::mem::replace(&mut self.records, kept) {
            let secrets = connection.dangerous_extract_secrets().map_err(std::io::Error::other)?;
            kernel::install(socket, &secrets)?;
        }
        Ok(true)
    }

    /// Whether the kernel makes the records.
    pub fn is_in_kernel(&self) -> bool {
        matches!(self.records, Records::Kernel { .. })
    }

    /// Reads the record at which a read of the socket stopped with EIO, once the kernel opens the records.
    ///
    /// # Errors
    /// See [`receive_control_record`].
    pub fn receive_control(&mut self, socket: BorrowedFd<'_>) -> std::io::Result<()> {
        self.peer_closed |= receive_control_record(socket)? == ControlRecord::Close;
        Ok(())
    }

    /// Appends to `raw` what is to be written now: the records of `plain`, or those of the handshake before them.
    pub fn send(&mut self, plain: &[u8], raw: &mut Vec<u8>) {
        if self.is_in_kernel() {
            return raw.extend_from_slice(plain);
        }
        self.queue(plain);
        self.drain(raw);
    }

    /// Queues plain bytes; [`TlsPipe::send`] appends their records.
    pub fn queue(&mut self, plain: &[u8]) {
        if let Records::Library(connection) = &mut self.records
            && !self.failed
        {
            // Writing to memory does not fail.
            let _ = connection.writer().write_all(plain);
        }
    }

    /// Whether [`TlsPipe::send`] has something to append without further plain bytes.
    pub fn has_output(&self) -> bool {
        matches!(&self.records, Records::Library(connection) if connection.wants_write())
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
        let Records::Library(connection) = &mut self.records else {
            plain.extend_from_slice(raw);
            return Ok(());
        };
        if let Some(boundary) = &mut self.boundary {
            boundary.pass(raw);
        }
        while !raw.is_empty() {
            let before = raw.len();
            // Reading from memory fails only for a message that is larger than the protocol allows.
            connection
                .read_tls(&mut raw)
                .map_err(|_| Error::General("a message of the handshake is too long".to_owned()))?;
            let state = connection.process_new_packets()?;
            let ready = state.plaintext_bytes_to_read();
            if ready > 0 {
                let begin = plain.len();
                plain.resize(begin + ready, 0);
                let read = connection.reader().read(&mut plain[begin..]).unwrap_or(0);
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

    /// Announces that this side sends nothing more; [`TlsPipe::send`] appends the alert. Where the kernel makes the records,
    /// [`crate::tls::send_close_notify`] does that.
    pub fn close(&mut self) {
        if let Records::Library(connection) = &mut self.records
            && !self.failed
        {
            connection.send_close_notify();
        }
    }

    /// Whether the peer announced that it sends nothing more.
    pub fn peer_closed(&self) -> bool {
        self.peer_closed
    }

    /// Whether both sides have finished the handshake.
    pub fn is_open(&self) -> bool {
        match &self.records {
            Records::Library(connection) => !connection.is_handshaking(),
            Records::Kernel { .. } => true,
        }
    }

    /// The protocol that the server chose by ALPN, while the library makes the records.
    pub fn application_protocol(&self) -> Option<Vec<u8>> {
        match &self.records {
            Records::Library(connection) => connection.alpn_protocol().map(<[u8]>::to_vec),
            Records::Kernel { .. } => None,
        }
    }

    /// What both sides agreed to; `None` before that.
    pub fn session(&self) -> Option<Session> {
        let connection = match &self.records {
            Records::Library(connection) => connection,
            Records::Kernel { session, .. } => return Some(session.clone()),
        };
        let version = connection.protocol_version()?.as_str()?.replace("TLSv1_", "TLSv1.");
        let cipher = connection.negotiated_cipher_suite()?.suite().as_str()?;
        Some(Session { version, cipher: cipher.replace("TLS13_", "TLS_") })
    }

    /// The version that both sides agreed to, while the library makes the records.
    fn version(&self) -> Option<ProtocolVersion> {
        match &self.records {
            Records::Library(connection) => connection.protocol_version(),
            Records::Kernel { .. } => None,
        }
    }

    /// Whether the handshake resumed the session of an earlier connection.
    pub fn is_resumed(&self) -> bool {
        match &self.records {
            Records::Library(connection) => connection.handshake_kind() == Some(HandshakeKind::Resumed),
            Records::Kernel { is_resumed, .. } => *is_resumed,
        }
    }

    fn drain(&mut self, raw: &mut Vec<u8>) {
        let Records::Library(connection) = &mut self.records else { return };
        while connection.wants_write() {
            if connection.write_tls(raw).is_err() {
                break;
            }
        }
    }
}
