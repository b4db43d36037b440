//! Carries IRC between a page's WebSocket and a server that has none, or none that a browser trusts. One message is one line.

mod conversation;
mod outbox;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use conversation::Conversation;
use klatch_crowd::ClientEndpoint;
use klatch_protocol::websocket::{Answer, BINARY_SUBPROTOCOL, Opcode, accept, request_source};

use crate::viewer::error::ViewerError;
use crate::viewer::loopback::{is_own_origin, own_hosts, read_before};

/// Most people that talk at a time.
const CONVERSATIONS_MAX: usize = 16;
/// Pause after a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Longest time for a page to send its request and to take what waits for it, and for a server to accept the connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// After this time without a byte of a page, a ping shows whether it is still there; after as long again it is closed.
const PING_AFTER: Duration = Duration::from_secs(30);

/// A listener for the pages of one viewer.
pub(crate) struct Gateway {
    port: u16,
    upstreams: Arc<Mutex<Vec<ClientEndpoint>>>,
}

impl Gateway {
    /// Listens on a free port, for pages that come from `page_port`.
    pub(crate) fn start(page_port: u16) -> Result<Gateway, ViewerError> {
        Gateway::with_times(page_port, Times { patience: PATIENCE, ping_after: PING_AFTER })
    }

    fn with_times(page_port: u16, times: Times) -> Result<Gateway, ViewerError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(ViewerError::Thread)?;
        let port = listener.local_addr().map_err(ViewerError::Thread)?.port();
        let upstreams = Arc::new(Mutex::new(Vec::new()));
        let admission = Arc::new(Admission {
            page_port,
            port,
            upstreams: Arc::clone(&upstreams),
            conversations: AtomicUsize::new(0),
            times,
        });
        let listen = move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else {
                    // Without a free descriptor the next accept fails as well.
                    std::thread::sleep(ACCEPT_PAUSE);
                    continue;
                };
                let admission = Arc::clone(&admission);
                // Without a thread the connection is closed, which the page shows.
                let _ = std::thread::Builder::new()
                    .name("talk".to_owned())
                    .spawn(move || admission.admit(stream));
            }
        };
        std::thread::Builder::new().name("gateway".to_owned()).spawn(listen).map_err(ViewerError::Thread)?;
        Ok(Gateway { port, upstreams })
    }

    /// Connects new pages to these servers of IRC; returns the address for each.
    pub(crate) fn set_upstreams(&self, upstreams: Vec<ClientEndpoint>) -> Vec<String> {
        let urls =
            (0..upstreams.len()).map(|place| format!("ws://127.0.0.1:{}/{place}", self.port)).collect();
        *self.upstreams.lock().unwrap_or_else(PoisonError::into_inner) = upstreams;
        urls
    }
}

/// The times that a page has.
#[derive(Clone, Copy, Debug)]
struct Times {
    patience: Duration,
    ping_after: Duration,
}

/// Decides which connections are accepted.
struct Admission {
    times: Times,
    page_port: u16,
    port: u16,
    upstreams: Arc<Mutex<Vec<ClientEndpoint>>>,
    conversations: AtomicUsize,
}

impl Admission {
    fn admit(&self, stream: TcpStream) {
        if self.conversations.fetch_add(1, Ordering::Relaxed) < CONVERSATIONS_MAX {
            // An error before the WebSocket is open ends the connection; there is no way to send its reason.
            let _ = self.converse(stream);
        }
        self.conversations.fetch_sub(1, Ordering::Relaxed);
    }

    fn converse(&self, stream: TcpStream) -> std::io::Result<()> {
        let deadline = Instant::now() + self.times.patience;
        stream.set_write_timeout(Some(self.times.patience))?;
        let mut input = Vec::new();
        let answer = loop {
            match accept(&input) {
                Ok(Some(answer)) => break answer,
                Ok(None) => read_more(&stream, &mut input, deadline)?,
                Err(rejection) => return write(&stream, &rejection.0),
            }
        };
        let Some(upstream) = self.upstream(&input[..answer.request_bytes]) else {
            let refusal = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            return write(&stream, refusal.as_bytes());
        };
        let Answer { head, request_bytes, subprotocol } = answer;
        write(&stream, &head)?;
        input.drain(..request_bytes);
        let opcode = match subprotocol {
            Some(BINARY_SUBPROTOCOL) => Opcode::Binary,
            _ => Opcode::Text,
        };
        Conversation::hold(&stream, input, opcode, &upstream, self.times)
    }

    /// The server that a request asks for; `None` unless it is of a page of this viewer. The origin is what keeps foreign pages out: a
    /// browser lets any page open a WebSocket to any address.
    fn upstream(&self, request: &[u8]) -> Option<ClientEndpoint> {
        let source = request_source(request)?;
        let is_own = own_hosts(self.port).iter().any(|own| own == source.host)
            && source.origin.is_some_and(|origin| is_own_origin(origin, self.page_port));
        let place: usize = source.target.strip_prefix('/')?.parse().ok()?;
        let upstreams = self.upstreams.lock().unwrap_or_else(PoisonError::into_inner);
        upstreams.get(place).filter(|_| is_own).cloned()
    }
}

/// Adds what arrives next, or fails at the deadline with `TimedOut`.
fn read_more(stream: &TcpStream, input: &mut Vec<u8>, deadline: Instant) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    match read_before(stream, &mut buffer, deadline)? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        bytes => {
            input.extend_from_slice(&buffer[..bytes]);
            Ok(())
        }
    }
}

/// Writes all, unless the page takes none of it for as long as the stream's time limit.
fn write(mut stream: &TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    std::io::Write::write_all(&mut stream, bytes)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
