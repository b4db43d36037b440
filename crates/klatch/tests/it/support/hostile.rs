//! A server that wants to end a crowd: it sends bytes of the test's choice, over any transport.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use klatch_protocol::tls::{ServerTls, TlsPipe};
use klatch_protocol::websocket::{Opcode, accept, write_frame};

/// Bytes that one connection is sent at most: a crowd that keeps them all grows by more than its limit.
const FLOOD_BYTES: usize = 80 << 20;
/// Longest time that a connection is kept.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a server sends after it has let a user in.
#[derive(Clone, Debug)]
pub(crate) enum Attack {
    /// Nothing.
    Silence,
    /// These bytes once, and then nothing.
    Once(Vec<u8>),
    /// These bytes without end, as fast as they are taken. What the user sends is not read.
    Flood(Vec<u8>),
    /// The first bytes once, the others without end.
    OnceAndFlood(Vec<u8>, Vec<u8>),
    /// A byte of these every 20 ms.
    Slow(Vec<u8>),
    /// These bytes, and the end of the connection.
    Close(Vec<u8>),
    /// These bytes, and a reset.
    Reset(Vec<u8>),
}

/// What lies between the bytes and the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carrier {
    pub(crate) tls: bool,
    pub(crate) websocket: bool,
    /// The bytes of the attack are frames already.
    pub(crate) frames: bool,
}

/// A server for one crowd.
#[derive(Clone, Debug)]
pub(crate) struct HostileServer {
    pub(crate) carrier: Carrier,
    /// Lets a user in, whatever it has sent.
    pub(crate) join: Vec<u8>,
    /// Connections before the attack, which are let in and then left alone.
    pub(crate) spared: usize,
    pub(crate) attack: Attack,
}

impl HostileServer {
    /// Starts it with the certificate in `folder`. It ends with the test program.
    pub(crate) fn start(self, folder: &Path) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let tls = self.carrier.tls.then(|| {
            ServerTls::from_files(&folder.join("certificate.pem"), &folder.join("key.pem")).unwrap()
        });
        let (server, accepted) = (Arc::new(self), Arc::new(AtomicUsize::new(0)));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (server, accepted, pipe) =
                    (server.clone(), accepted.clone(), tls.as_ref().map(TlsPipe::server));
                std::thread::spawn(move || {
                    let number = accepted.fetch_add(1, Ordering::Relaxed);
                    let mut connection = Connection { stream, tls: pipe, carrier: server.carrier };
                    // The crowd hangs up sooner or later.
                    let _ = connection.serve(&server, number);
                });
            }
        });
        address
    }
}

struct Connection {
    stream: TcpStream,
    tls: Option<TlsPipe>,
    carrier: Carrier,
}

impl Connection {
    fn serve(&mut self, server: &HostileServer, number: usize) -> Result<()> {
        self.stream.set_read_timeout(Some(PATIENCE))?;
        self.stream.set_write_timeout(Some(PATIENCE))?;
        self.stream.set_nodelay(true)?;
        self.shake_hands()?;
        if !server.join.is_empty() {
            let lines = Carrier { frames: false, ..self.carrier };
            self.send(&server.join, lines)?;
        }
        if number < server.spared {
            return self.drain();
        }
        match &server.attack {
            Attack::Silence => self.drain(),
            Attack::Once(bytes) => self.send(bytes, self.carrier).and_then(|()| self.drain()),
            Attack::Flood(bytes) => self.flood(bytes),
            Attack::OnceAndFlood(first, bytes) => {
                self.send(first, self.carrier)?;
                self.flood(bytes)
            }
            Attack::Slow(bytes) => {
                let began = Instant::now();
                for byte in bytes.iter().cycle().take_while(|_| began.elapsed() < PATIENCE) {
                    self.send(&[*byte], Carrier { frames: true, ..self.carrier })?;
                    std::thread::sleep(Duration::from_millis(20));
                }
                Ok(())
            }
            Attack::Close(bytes) => {
                self.send(bytes, self.carrier)?;
                self.stream.shutdown(std::net::Shutdown::Write)?;
                self.drain()
            }
            Attack::Reset(bytes) => {
                self.send(bytes, self.carrier)?;
                rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO))?;
                Ok(())
            }
        }
    }

    fn flood(&mut self, bytes: &[u8]) -> Result<()> {
        // Few large writes: the attack is not to be the slower side.
        let many = bytes.repeat((64 << 10) / bytes.len() + 1);
        for _ in 0..FLOOD_BYTES / many.len() {
            self.send(&many, self.carrier)?;
        }
        self.drain()
    }

    fn send(&mut self, bytes: &[u8], carrier: Carrier) -> Result<()> {
        let mut framed = Vec::new();
        let plain = match carrier.websocket && !carrier.frames {
            false => bytes,
            true => {
                for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    write_frame(&mut framed, Opcode::Text, None, line.strip_suffix(b"\r").unwrap_or(line));
                }
                &framed
            }
        };
        match &mut self.tls {
            None => self.stream.write_all(plain),
            Some(pipe) => {
                let mut raw = Vec::new();
                pipe.send(plain, &mut raw);
                self.stream.write_all(&raw)
            }
        }
    }

    /// The handshakes of the transport.
    fn shake_hands(&mut self) -> Result<()> {
        // The last message of a client's handshake may bring the first bytes.
        let mut request = Vec::new();
        while self.tls.as_ref().is_some_and(|pipe| !pipe.is_open()) {
            self.receive(&mut request)?;
        }
        while self.carrier.websocket {
            match accept(&request) {
                Ok(None) => self.receive(&mut request)?,
                Ok(Some(answer)) => return self.send(&answer.head, Carrier { frames: true, ..self.carrier }),
                Err(_) => return Err(Error::other("the crowd asks for no WebSocket")),
            }
        }
        Ok(())
    }

    /// Appends what the crowd sends.
    fn receive(&mut self, plain: &mut Vec<u8>) -> Result<()> {
        let mut raw = [0; 4096];
        let bytes = self.stream.read(&mut raw)?;
        if bytes == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let Some(pipe) = &mut self.tls else {
            plain.extend_from_slice(&raw[..bytes]);
            return Ok(());
        };
        pipe.receive(&raw[..bytes], plain).map_err(Error::other)?;
        let mut reply = Vec::new();
        pipe.send(&[], &mut reply);
        self.stream.write_all(&reply)
    }

    /// Reads until the crowd hangs up, and keeps the connection open.
    fn drain(&mut self) -> Result<()> {
        let mut buffer = [0; 4096];
        while self.stream.read(&mut buffer)? > 0 {}
        Ok(())
    }
}
