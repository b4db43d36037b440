//! One user of the server under test.

use std::cell::RefCell;
use std::net::Shutdown;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use super::link::Link;
use super::{Line, Net};
use crate::finding::{Checked, Trouble, wrong};

/// What a PING carries that only asks whether all before it is done.
const FENCE: &str = "fence";

/// One connection. Dropping it closes it.
pub(crate) struct Client {
    net: Rc<Net>,
    link: Rc<RefCell<Link>>,
    /// Its nick; empty before it has one.
    pub(crate) nick: String,
}

impl Client {
    pub(super) fn new(net: Rc<Net>, link: Rc<RefCell<Link>>) -> Client {
        Client { net, link, nick: String::new() }
    }

    /// Sends a line.
    pub(crate) fn say(&self, line: &str) {
        self.send(format!("{line}\r\n").as_bytes());
    }

    /// Sends bytes as they are, in one segment if they fit.
    pub(crate) fn send(&self, bytes: &[u8]) {
        self.link.borrow_mut().send(bytes);
    }

    /// The next line of the first that `wanted` is true of; what comes before it is forgotten.
    pub(crate) fn hear(&self, what: &str, wanted: impl Fn(&Line) -> bool) -> Checked<Line> {
        let until = self.net.until();
        loop {
            let line = self.next(what, until)?;
            if wanted(&line) {
                return Ok(line);
            }
        }
    }

    /// The next message that somebody said, in any room.
    pub(crate) fn hear_said(&self) -> Checked<Line> {
        self.hear("message", |line| line.is("PRIVMSG"))
    }

    /// All lines up to the answer to a PING: the server has done what this client asked for before.
    pub(crate) fn fence(&self) -> Checked<Vec<Line>> {
        self.say(&format!("PING {FENCE}"));
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

    /// Waits until the server has closed the connection, and returns what it said before.
    pub(crate) fn hear_end(&self) -> Checked<Vec<Line>> {
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
        self.say(&format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}"));
        self.hear_welcome().map(drop)
    }

    /// The numerics of the welcome, up to the end of the message of the day.
    pub(crate) fn hear_welcome(&self) -> Checked<Vec<Line>> {
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
        self.say(&format!("JOIN {room}"));
        self.hear("366 (end of names)", |line| line.is("366") && line.names(1, room)).map(drop)
    }

    /// Reads no more.
    pub(crate) fn stop_reading(&self) {
        self.link.borrow_mut().reads = false;
    }

    /// Ends its own direction; the server can still talk to it.
    pub(crate) fn close_half(&self) -> Checked<()> {
        let done = self.link.borrow().socket.shutdown(Shutdown::Write);
        done.map_err(|error| Trouble::Wrong(format!("the connection broke: {error}")))
    }

    /// Breaks the connection: the server gets a reset instead of an end.
    pub(crate) fn reset(self) -> Checked<()> {
        let lingering = sockopt::set_socket_linger(&self.link.borrow().socket, Some(Duration::ZERO));
        lingering.map_err(|errno| Trouble::Wrong(format!("the connection broke: {errno}")))
    }

    fn next(&self, what: &str, until: Instant) -> Checked<Line> {
        match self.next_or_end(what, until)? {
            Some(line) => Ok(line),
            None => {
                let link = self.link.borrow();
                let how = link.ended.as_deref().unwrap_or_default();
                wrong(format!("{}'s connection {how} before the {what} came{}", self.name(), last(&link)))
            }
        }
    }

    fn next_or_end(&self, what: &str, until: Instant) -> Checked<Option<Line>> {
        loop {
            let mut link = self.link.borrow_mut();
            if let Some(fault) = &link.fault {
                return wrong(fault.clone());
            }
            if let Some(line) = link.lines.pop_front() {
                link.last = Some(line.clone());
                return Ok(Some(line));
            }
            if link.ended.is_some() {
                return Ok(None);
            }
            let last = last(&link);
            drop(link);
            // A stream of lines that are not wanted ends here as well.
            if Instant::now() >= until || !self.net.turn(until)? {
                let waited = self.net.waited();
                return wrong(format!("{waited}, and no {what} came to {}{last}", self.name()));
            }
        }
    }

    fn name(&self) -> &str {
        if self.nick.is_empty() { "a newcomer" } else { &self.nick }
    }
}

fn last(link: &Link) -> String {
    link.last.as_ref().map_or(String::new(), |line| format!("; the last line was {line}"))
}
