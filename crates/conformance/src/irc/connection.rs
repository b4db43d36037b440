//! A non-blocking connection: cuts its input into lines and buffers its output.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use klatch_protocol::chat::frame::LINE_MAX;

use super::Line;

/// Bytes without a line end, or lines that no check has taken, or bytes of PONGs that the server does not read, at which a connection is
/// given up.
const INPUT_BYTES_MAX: usize = 1 << 20;
const LINES_MAX: usize = 100_000;
const PONGS_BYTES_MAX: usize = 1 << 20;

pub(super) struct Connection {
    pub(super) socket: TcpStream,
    /// Received lines that no check has taken yet.
    pub(super) lines: VecDeque<Line>,
    /// The last line that a check took and that was not empty, for error messages.
    pub(super) last: Option<Line>,
    /// The first violation of the line format. It fails any check.
    pub(super) fault: Option<String>,
    /// How the connection ended: `was closed` or `broke (…)`.
    pub(super) ended: Option<String>,
    /// Whether input is read.
    pub(super) reads: bool,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Connection {
    pub(super) fn new(socket: TcpStream) -> Connection {
        Connection {
            socket,
            lines: VecDeque::new(),
            last: None,
            fault: None,
            ended: None,
            reads: true,
            input: Vec::new(),
            output: Vec::new(),
        }
    }

    /// Whether bytes wait for room in the send buffer.
    pub(super) fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
        self.write();
    }

    /// Writes as much as the socket takes. An error shows in the next read.
    pub(super) fn write(&mut self) {
        while !self.output.is_empty() {
            match self.socket.write(&self.output) {
                Ok(count) => drop(self.output.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.output.clear(),
            }
        }
    }

    /// Reads the available input and answers the server's PINGs.
    pub(super) fn read(&mut self) {
        let mut buffer = [0; 64 * 1024];
        match self.socket.read(&mut buffer) {
            Ok(0) => self.ended = Some("was closed".into()),
            Ok(count) => self.input.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => self.ended = Some(format!("broke ({error})")),
        }
        self.cut();
    }

    fn cut(&mut self) {
        let input = std::mem::take(&mut self.input);
        let mut rest = &input[..];
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let (line, after) = rest.split_at(end + 1);
            rest = after;
            self.take(line);
        }
        self.input = rest.to_vec();
        if self.input.len() > INPUT_BYTES_MAX {
            self.give_up(format!("a line of over {INPUT_BYTES_MAX} bytes"));
        } else if self.lines.len() > LINES_MAX {
            self.give_up(format!("over {LINES_MAX} lines that nobody asked for"));
        }
    }

    /// A server that never ends what it sends would fill the memory.
    fn give_up(&mut self, fault: String) {
        self.fault.get_or_insert(fault);
        self.ended = Some("was given up".into());
        self.input = Vec::new();
    }

    fn take(&mut self, whole: &[u8]) {
        let content = whole.strip_suffix(b"\r\n");
        let line = Line(content.unwrap_or(whole).to_vec());
        if content.is_none() {
            self.fault.get_or_insert(format!("a line that does not end with CR LF: {line}"));
        } else if whole.len() > LINE_MAX {
            self.fault.get_or_insert(format!("a line of {} bytes: {line}", whole.len()));
        }
        if line.is("PING") && line.nick().is_none_or(|from| !from.contains(&b'!')) {
            let token = line.param(0).unwrap_or_default();
            match self.output.len() {
                0..=PONGS_BYTES_MAX => self.send(&[b"PONG :", token, b"\r\n"].concat()),
                _ => self.give_up("PINGs without end, whose answers the server does not read".to_owned()),
            }
        } else {
            self.lines.push_back(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// The fault of a connection whose server writes this again and again, and reads nothing.
    fn fault(again: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            while stream.write_all(again).is_ok() {}
        });
        let socket = TcpStream::connect(address).unwrap();
        let mut connection = Connection::new(socket);
        connection.socket.set_nonblocking(true).unwrap();
        while connection.ended.is_none() {
            connection.read();
        }
        drop(connection.socket);
        server.join().unwrap();
        connection.fault.unwrap()
    }

    #[test]
    fn a_server_without_end_is_given_up() {
        assert_eq!(fault(&[b'x'; 65_536]), "a line of over 1048576 bytes");
        let line = fault(b":s NOTICE x :hello\r\n:s NOTICE x :hello\r\n:s NOTICE x :hello\r\n");
        assert_eq!(line, "over 100000 lines that nobody asked for");
    }

    /// Not over a server that floods: where neither side reads, the kernel can stop both for minutes.
    #[test]
    fn a_server_that_does_not_read_the_answers_to_its_pings_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _server = listener.accept().unwrap().0;
        let mut connection = Connection::new(socket);
        connection.socket.set_nonblocking(true).unwrap();
        while connection.socket.write(&[b'x'; 65_536]).is_ok() {}
        let ping = [b"PING :", &[b'a'; 65][..], b"\r\n"].concat();
        let pings = (1..).find(|_| {
            connection.take(&ping);
            connection.ended.is_some()
        });
        assert!(pings.is_some_and(|pings| pings * ping.len() > PONGS_BYTES_MAX), "{pings:?}");
        let fault = connection.fault.unwrap();
        assert_eq!(fault, "PINGs without end, whose answers the server does not read");
    }
}
