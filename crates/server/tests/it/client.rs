//! A client that talks to a server over a real socket.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A test that waits longer than this for a line has failed.
const TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) struct Client {
    pub(crate) socket: TcpStream,
    lines: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn on(socket: TcpStream) -> Client {
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        socket.set_nodelay(true).unwrap();
        let lines = BufReader::new(socket.try_clone().unwrap());
        Client { socket, lines }
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.socket.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }

    pub(crate) fn register(&mut self, nick: &str) {
        self.send(&format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}"));
        self.read_until(" 376 ");
    }

    pub(crate) fn join(&mut self, channel: &str) {
        self.send(&format!("JOIN {channel}"));
        self.read_until(" 366 ");
    }

    /// The next line; `None` at the end.
    pub(crate) fn read_line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.strip_suffix("\r\n").expect("a whole line").to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no line came: {error}"),
        }
    }

    /// The first line with `part` in it.
    pub(crate) fn read_until(&mut self, part: &str) -> String {
        loop {
            let line = self.read_line().unwrap_or_else(|| panic!("closed before {part} came"));
            if line.contains(part) {
                return line;
            }
        }
    }

    /// The server is there and has done all that was asked for before.
    pub(crate) fn ping(&mut self) {
        self.send("PING here");
        self.read_until(" PONG ");
    }
}
