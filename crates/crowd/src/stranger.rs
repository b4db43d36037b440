//! A connection for a client outside the crowd, over any transport. A person who talks to the crowd has one.

use std::borrow::Cow;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::addresses::Addresses;
use crate::channel::{Channel, ClientEndpoint};
use crate::protocol::UserId;

/// The connection. One thread receives while others send.
pub struct StrangerConnection {
    stream: TcpStream,
    /// Never locked during a system call, so a write that blocks does not keep the receiver from reading.
    channel: Mutex<Option<Box<Channel>>>,
    /// Held while bytes are encoded and written: they must be written in the order of their encoding. Locked before the channel.
    writing: Mutex<()>,
}

impl StrangerConnection {
    /// Connects to the server. The transport's handshake begins with the first bytes that are sent.
    ///
    /// # Errors
    /// The host has no address, or none that can be connected to in this time.
    pub fn open(server: &ClientEndpoint, timeout: Duration) -> Result<StrangerConnection> {
        let addresses: Vec<_> = (server.host.as_str(), server.port).to_socket_addrs()?.collect();
        let stream = Addresses::new(addresses, &server.connecting).connect(0, timeout)?;
        stream.set_nodelay(true)?;
        // The number only seeds the masks of a WebSocket.
        let channel = Channel::new(server, UserId { room: 0, user: 0, users: 1 });
        Ok(StrangerConnection { stream, channel: Mutex::new(channel), writing: Mutex::new(()) })
    }

    /// Sends bytes of the protocol.
    ///
    /// # Errors
    /// The connection broke.
    pub fn send(&self, plain: &[u8]) -> Result<()> {
        let _writing = lock(&self.writing);
        let raw = match lock(&self.channel).as_mut() {
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
        let mut locked = lock(&self.channel);
        let Some(channel) = locked.as_mut() else {
            plain.extend_from_slice(&raw[..bytes]);
            let ended = || Error::new(ErrorKind::ConnectionAborted, "the server closed the connection");
            return if bytes == 0 { Err(ended()) } else { Ok(()) };
        };
        if bytes == 0 {
            return Err(channel.end_error());
        }
        channel.receive(&raw[..bytes], plain)?;
        let must_reply = channel.has_output();
        drop(locked);
        if must_reply { self.send(&[]) } else { Ok(()) }
    }

    /// Ends the connection. A thread that receives gets the end.
    pub fn close(&self) {
        lock(&self.channel).iter_mut().for_each(|channel| channel.close());
        // The server may be gone.
        let _ = self.send(&[]);
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::mpsc::channel;

    use klatch_record::ProtocolName;

    use super::*;

    #[test]
    fn a_write_that_blocks_does_not_keep_the_receiver_from_reading() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (end, ended) = channel::<()>();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // The client is writing, and nothing more is read.
            stream.read_exact(&mut [0]).unwrap();
            stream.write_all(b"hello\r\n").unwrap();
            ended.recv().unwrap();
        });
        let endpoint = ClientEndpoint::plain(ProtocolName::Irc, "127.0.0.1", port);
        let client = StrangerConnection::open(&endpoint, Duration::from_secs(10)).unwrap();
        std::thread::scope(|scope| {
            // No socket buffers this much.
            let blocked = scope.spawn(|| client.send(&vec![b'x'; 256 << 20]));
            let mut plain = Vec::new();
            client.receive(&mut plain).unwrap();
            assert_eq!(plain, b"hello\r\n");
            assert!(!blocked.is_finished());
            end.send(()).unwrap();
            assert!(blocked.join().unwrap().is_err(), "the server has closed the connection");
        });
        server.join().unwrap();
    }
}
