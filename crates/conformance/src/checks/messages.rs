//! The messages that users send in a check, and their verification.

use std::sync::LazyLock;

use crate::finding::{Checked, wrong};
use crate::irc::{Client, Line};

/// The largest variable part of a text in bytes.
const SIZE_MAX: usize = 380;

/// All printable characters except the space, repeated.
static PATTERN: LazyLock<String> = LazyLock::new(|| ('!'..='~').cycle().take(SIZE_MAX + PERIOD).collect());
const PERIOD: usize = 94;

/// The text of message `number` of a speaker. All texts differ.
pub(super) fn text(speaker: usize, number: usize) -> String {
    let from = (speaker + number) % PERIOD;
    let size = (speaker * 101 + number * 37) % SIZE_MAX;
    format!("{speaker} {number} {}.", &PATTERN[from..from + size])
}

/// Messages `from..to` of a speaker, as one buffer.
pub(super) fn burst(room: &str, speaker: usize, from: usize, to: usize) -> Vec<u8> {
    let lines = (from..to).map(|number| format!("PRIVMSG {room} :{}\r\n", text(speaker, number)));
    lines.collect::<String>().into_bytes()
}

/// Verifies the deliveries to one listener: every message of each speaker once, in order, unchanged.
pub(super) struct DeliveryChecker<'a> {
    room: &'a str,
    speakers: &'a [String],
    listener: &'a Client,
    /// The next expected message of each speaker.
    next: Vec<usize>,
}

impl<'a> DeliveryChecker<'a> {
    pub(super) fn new(room: &'a str, speakers: &'a [String], listener: &'a Client) -> DeliveryChecker<'a> {
        DeliveryChecker { room, speakers, listener, next: vec![0; speakers.len()] }
    }

    /// The number of messages received from this speaker.
    pub(super) fn received(&self, speaker: usize) -> usize {
        self.next[speaker]
    }

    /// Verifies a line; lines other than messages are ignored.
    pub(super) fn check(&mut self, line: &Line) -> Checked<()> {
        if !line.is("PRIVMSG") {
            return Ok(());
        }
        let listener = &self.listener.nick;
        if line.is_from(listener, "PRIVMSG") {
            return wrong(format!("{listener} got its own message back: {line}"));
        }
        let Some(speaker) = self.speakers.iter().position(|nick| line.is_from(nick, "PRIVMSG")) else {
            return wrong(format!("{listener} received a message from a user who sent none: {line}"));
        };
        if !line.names(0, self.room) {
            return wrong(format!("{listener} received a message of another room: {line}"));
        }
        let (next, received) = (self.next[speaker], line.param(1).unwrap_or_default());
        if received != text(speaker, next).as_bytes() {
            return wrong(format!(
                "{listener} received {line}, but {}",
                describe_mismatch(speaker, next, received)
            ));
        }
        self.next[speaker] += 1;
        Ok(())
    }

    /// Receives until `count` messages of each other speaker have arrived.
    pub(super) fn check_until(&mut self, count: usize) -> Checked<()> {
        let own = self.speakers.iter().position(|nick| *nick == self.listener.nick);
        while (0..self.speakers.len()).any(|speaker| Some(speaker) != own && self.next[speaker] < count) {
            let line = self.listener.next_message()?;
            self.check(&line)?;
        }
        Ok(())
    }

    /// Verifies that no further message has arrived.
    pub(super) fn finish(self) -> Checked<()> {
        expect_no_message(self.listener)
    }
}

fn describe_mismatch(speaker: usize, next: usize, received: &[u8]) -> String {
    let number = || std::str::from_utf8(received).ok()?.split(' ').nth(1)?.parse().ok();
    match number().filter(|&number| received == text(speaker, number).as_bytes()) {
        Some(number) if number < next => format!("message {next} was next: a duplicate, or late"),
        Some(_) => format!("message {next} was next: it is lost, or out of order"),
        None => format!("`{}` was sent: the text is corrupted", text(speaker, next)),
    }
}

/// Verifies that a client has received no message that was not expected.
pub(super) fn expect_no_message(client: &Client) -> Checked<()> {
    match client.fence()?.iter().find(|line| line.is("PRIVMSG")) {
        Some(line) if line.is_from(&client.nick, "PRIVMSG") => {
            wrong(format!("{} got its own message back: {line}", client.nick))
        }
        Some(line) => wrong(format!("{} also received {line}", client.nick)),
        None => Ok(()),
    }
}

/// Verifies that two members of a room receive each other's messages, and nothing else.
pub(super) fn exchange_messages(room: &str, ann: &Client, bob: &Client) -> Checked<()> {
    for (speaker, listener) in [(ann, bob), (bob, ann)] {
        speaker.send_line(&format!("PRIVMSG {room} :still here"));
        expect_message(listener, speaker, room, "still here")?;
    }
    expect_no_message(ann)?;
    expect_no_message(bob)
}

/// Verifies that the next message is this one.
pub(super) fn expect_message(listener: &Client, speaker: &Client, room: &str, text: &str) -> Checked<()> {
    let line = listener.next_message()?;
    let right = line.is_from(&speaker.nick, "PRIVMSG") && line.names(0, room);
    if right && line.param(1) == Some(text.as_bytes()) {
        Ok(())
    } else {
        wrong(format!("{} received {line}, but {} sent `{text}` to {room}", listener.nick, speaker.nick))
    }
}
