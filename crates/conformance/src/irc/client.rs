//! A client of the server under test.

use std::cell::RefCell;
use std::net::Shutdown;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use super::connection::Connection;
use super::{Line, Net};
use crate::finding::{CheckError, Checked, wrong};

/// The parameter of the PINGs that [`Client::fence`] sends.
const FENCE: &str = "fence";

/// A client with its connection, which closes when the client is dropped.
pub(crate) struct Client {
    net: Rc<Net>,
    connection: Rc<RefCell<Connection>>,
    /// Its nick; empty before registration.
    pub(crate) nick: String,
}

impl Client {
    pub(super) fn new(net: Rc<Net>, connection: Rc<RefCell<Connection>>) -> Client {
        Client { net, connection, nick: String::new() }
    }

    /// Sends a line and appends its CR LF.
    pub(crate) fn send_line(&self, line: &str) {
        self.send(format!("{line}\r\n").as_bytes());
    }

    /// Sends raw bytes, in one segment if they fit.
    pub(crate) fn send(&self, bytes: &[u8]) {
        self.connection.borrow_mut().send(bytes);
    }

    /// Waits for a line that matches and returns it. Earlier lines are discarded.
    pub(crate) fn wait_for(&self, what: &str, matches: impl Fn(&Line) -> bool) -> Checked<Line> {
        let until = self.net.until();
        loop {
            let line = self.next(what, until)?;
            if matches(&line) {
                return Ok(line);
            }
        }
    }

    /// Waits for the next message, in any room.
    pub(crate) fn next_message(&self) -> Checked<Line> {
        self.wait_for("message", |line| line.is("PRIVMSG"))
    }

    /// Sends a PING and returns all lines before its PONG. The server has then handled all earlier requests of this client.
    pub(crate) fn fence(&self) -> Checked<Vec<Line>> {
        self.send_line(&format!("PING {FENCE}"));
        let is_answer = |line: &Line| line.is("PONG") && (line.names(0, FENCE) || line.names(1, FENCE));
        let until = self.net.until();
        let mut before = Vec::new();
        loop {
            let line = self.next("PONG", until)?;
            if is_answer(&line) {
                return Ok(before);
            }
            before.push(line);
        }
    }

    /// Waits until the server has closed the connection, and returns the lines before that.
    pub(crate) fn wait_for_close(&self) -> Checked<Vec<Line>> {
        let until = self.net.until();
        let mut before = Vec::new();
        loop {
            match self.next_or_end("end of the connection", until)? {
                Some(line) => before.push(line),
                None => return Ok(before),
            }
        }
    }

    pub(crate) fn register(&mut self, nick: &str) -> Checked<()> {
        self.nick = nick.to_owned();
        self.send_line(&format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}"));
        self.wait_for_welcome().map(drop)
    }

    /// Returns the numerics of the welcome, up to the end of the message of the day.
    pub(crate) fn wait_for_welcome(&self) -> Checked<Vec<Line>> {
        let until = self.net.until();
        let mut welcome = Vec::new();
        loop {
            let line = self.next("welcome (001 up to 376 or 422)", until)?;
            if line.is_error() || line.is("ERROR") {
                return wrong(format!("{line} instead of a welcome"));
            }
            let ends = matches!(line.numeric(), Some(376 | 422));
            welcome.push(line);
            if ends {
                return Ok(welcome);
            }
        }
    }

    pub(crate) fn join(&self, room: &str) -> Checked<()> {
        self.send_line(&format!("JOIN {room}"));
        self.wait_for("366 (end of names)", |line| line.is("366") && line.names(1, room)).map(drop)
    }

    /// Stops reading, so that the server's send queue fills.
    pub(crate) fn stop_reading(&self) {
        self.connection.borrow_mut().reads = false;
    }

    /// Shuts down the sending direction. The server can still send.
    pub(crate) fn close_half(&self) -> Checked<()> {
        let done = self.connection.borrow().socket.shutdown(Shutdown::Write);
        done.map_err(|error| CheckError::Wrong(format!("the connection broke: {error}")))
    }

    /// Resets the connection instead of closing it.
    pub(crate) fn reset(self) -> Checked<()> {
        let lingering = sockopt::set_socket_linger(&self.connection.borrow().socket, Some(Duration::ZERO));
        lingering.map_err(|errno| CheckError::Wrong(format!("the connection broke: {errno}")))
    }

    fn next(&self, what: &str, until: Instant) -> Checked<Line> {
        match self.next_or_end(what, until)? {
            Some(line) => Ok(line),
            None => {
                let connection = self.connection.borrow();
                let how = connection.ended.as_deref().unwrap_or_default();
                wrong(format!("{}'s connection {how} before the {what}{}", self.name(), last(&connection)))
            }
        }
    }

    fn next_or_end(&self, what: &str, until: Instant) -> Checked<Option<Line>> {
        loop {
            let mut connection = self.connection.borrow_mut();
            if let Some(fault) = &connection.fault {
                return wrong(fault.clone());
            }
            if let Some(line) = connection.lines.pop_front() {
                if !line.0.is_empty() {
                    connection.last = Some(line.clone());
                }
                return Ok(Some(line));
            }
            if connection.ended.is_some() {
                return Ok(None);
            }
            let last = last(&connection);
            drop(connection);
            // A stream of other lines must end at the deadline too.
            if Instant::now() >= until || !self.net.poll_once(until)? {
                let waited = self.net.waited();
                return wrong(format!("{waited}, and {} received no {what}{last}", self.name()));
            }
        }
    }

    fn name(&self) -> &str {
        if self.nick.is_empty() { "a newcomer" } else { &self.nick }
    }
}

fn last(connection: &Connection) -> String {
    connection.last.as_ref().map_or(String::new(), |line| format!("; the last line was {line}"))
}
