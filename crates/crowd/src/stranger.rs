//! A connection for a client outside the crowd, over any transport. A person who talks to the crowd has one.

use std::borrow::Cow;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Mutex;
use std::time::Duration;

use crate::channel::{Channel, TransportOptions};
use crate::connections::connect_any;
use crate::protocol::UserId;

/// The connection. One thread receives while others send.
pub struct StrangerConnection {
    stream: TcpStream,
    channel: Mutex<Option<Box<Channel>>>,
}

impl StrangerConnection {
    /// Connects to the server. The transport's handshake begins with the first bytes that are sent.
    ///
    /// # Errors
    /// The host has no address, or none that can be connected to in this time.
    pub fn open(
        host: &str,
        port: u16,
        transport: &TransportOptions,
        timeout: Duration,
    ) -> Result<StrangerConnection> {
        let addresses: Vec<_> = (host, port).to_socket_addrs()?.collect();
        let stream = connect_any(&addresses, timeout)?;
        stream.set_nodelay(true)?;
        // The number only seeds the masks of a WebSocket.
        let channel = Channel::new(transport, UserId { room: 0, user: 0, users: 1 });
        Ok(StrangerConnection { stream, channel: Mutex::new(channel) })
    }

    /// Sends bytes of the protocol.
    ///
    /// # Errors
    /// The connection broke.
    pub fn send(&self, plain: &[u8]) -> Result<()> {
        let mut channel = self.lock();
        let raw = match channel.as_mut() {
            None => Cow::Borrowed(plain),
            Some(channel) => {
                let mut raw = Vec::new();
                channel.send(plain, &mut raw);
                Cow::Owned(raw)
            }
        };
        (&self.stream).write_all(&raw)
    }

    /// Waits for bytes and appends those of the protocol to `plain`; there can be none. It also sends the transport's replies.
    ///
    /// # Errors
    /// The connection broke or has ended, or the server violates the protocol of the transport.
    pub fn receive(&self, plain: &mut Vec<u8>) -> Result<()> {
        let mut raw = [0; 16 * 1024];
        let bytes = (&self.stream).read(&mut raw)?;
        let mut channel = self.lock();
        let Some(channel) = channel.as_mut() else {
            plain.extend_from_slice(&raw[..bytes]);
            let ended = || Error::new(ErrorKind::ConnectionAborted, "the server closed the connection");
            return if bytes == 0 { Err(ended()) } else { Ok(()) };
        };
        if bytes == 0 {
            return Err(channel.end_error());
        }
        channel.receive(&raw[..bytes], plain)?;
        if channel.has_output() {
            let mut replies = Vec::new();
            channel.send(&[], &mut replies);
            (&self.stream).write_all(&replies)?;
        }
        Ok(())
    }

    /// Ends the connection. A thread that receives gets the end.
    pub fn close(&self) {
        if let Some(channel) = self.lock().as_mut() {
            channel.close();
            let mut raw = Vec::new();
            channel.send(&[], &mut raw);
            // The server may be gone.
            let _ = (&self.stream).write_all(&raw);
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Box<Channel>>> {
        self.channel.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
