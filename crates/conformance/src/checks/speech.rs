//! What users say in a check, and whether it was heard as it was said.

use std::sync::LazyLock;

use crate::finding::{Checked, wrong};
use crate::wire::{Client, Line};

/// The texts differ in size up to this many bytes.
const SIZE_MAX: usize = 380;

/// All printable characters but the blank, again and again.
static PATTERN: LazyLock<String> = LazyLock::new(|| ('!'..='~').cycle().take(SIZE_MAX + PERIOD).collect());
const PERIOD: usize = 94;

/// Message `number` of a speaker: tells who and which it is, and no two are alike.
pub(super) fn text(speaker: usize, number: usize) -> String {
    let from = (speaker + number) % PERIOD;
    let size = (speaker * 101 + number * 37) % SIZE_MAX;
    format!("{speaker} {number} {}.", &PATTERN[from..from + size])
}

/// Messages from `from` up to `to` of a speaker, to be sent in one segment.
pub(super) fn burst(room: &str, speaker: usize, from: usize, to: usize) -> Vec<u8> {
    let lines = (from..to).map(|number| format!("PRIVMSG {room} :{}\r\n", text(speaker, number)));
    lines.collect::<String>().into_bytes()
}

/// What one listener has heard so far: of each speaker every message once, in order, unaltered.
pub(super) struct Ledger<'a> {
    room: &'a str,
    /// Nicks.
    speakers: &'a [String],
    listener: &'a Client,
    /// For each speaker: which message comes next.
    next: Vec<usize>,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(room: &'a str, speakers: &'a [String], listener: &'a Client) -> Ledger<'a> {
        Ledger { room, speakers, listener, next: vec![0; speakers.len()] }
    }

    /// How many messages of this speaker were heard.
    pub(super) fn heard(&self, speaker: usize) -> usize {
        self.next[speaker]
    }

    /// Takes one line; what is no message does not count.
    pub(super) fn take(&mut self, line: &Line) -> Checked<()> {
        if !line.is("PRIVMSG") {
            return Ok(());
        }
        let listener = &self.listener.nick;
        if line.is_from(listener, "PRIVMSG") {
            return wrong(format!("{listener} got its own message back: {line}"));
        }
        let Some(speaker) = self.speakers.iter().position(|nick| line.is_from(nick, "PRIVMSG")) else {
            return wrong(format!("{listener} heard somebody who did not speak: {line}"));
        };
        if !line.names(0, self.room) {
            return wrong(format!("{listener} heard what was said in another room: {line}"));
        }
        let (next, heard) = (self.next[speaker], line.param(1).unwrap_or_default());
        if heard != text(speaker, next).as_bytes() {
            return wrong(format!("{listener} heard {line} where {}", told_apart(speaker, next, heard)));
        }
        self.next[speaker] += 1;
        Ok(())
    }

    /// Listens until `count` messages of each of the others are heard.
    pub(super) fn hear_all(&mut self, count: usize) -> Checked<()> {
        let own = self.speakers.iter().position(|nick| *nick == self.listener.nick);
        while (0..self.speakers.len()).any(|speaker| Some(speaker) != own && self.next[speaker] < count) {
            let line = self.listener.hear_said()?;
            self.take(&line)?;
        }
        Ok(())
    }

    /// Makes sure that nothing more came than what was taken.
    pub(super) fn close(self) -> Checked<()> {
        nothing_said(self.listener)
    }
}

fn told_apart(speaker: usize, next: usize, heard: &[u8]) -> String {
    let number = || std::str::from_utf8(heard).ok()?.split(' ').nth(1)?.parse().ok();
    match number().filter(|&number| heard == text(speaker, number).as_bytes()) {
        Some(number) if number < next => format!("{next} was next: it came again, or too late"),
        Some(_) => format!("{next} was next: that is lost, or out of order"),
        None => format!("`{}` was said: it is altered", text(speaker, next)),
    }
}

/// Makes sure that a client has heard no message that nobody has asked for yet.
pub(super) fn nothing_said(client: &Client) -> Checked<()> {
    match client.fence()?.iter().find(|line| line.is("PRIVMSG")) {
        Some(line) if line.is_from(&client.nick, "PRIVMSG") => {
            wrong(format!("{} got its own message back: {line}", client.nick))
        }
        Some(line) => wrong(format!("{} also heard {line}", client.nick)),
        None => Ok(()),
    }
}

/// Makes sure that two users in a room hear each other, and nothing else, whatever happened around them.
pub(super) fn go_on(room: &str, ann: &Client, bob: &Client) -> Checked<()> {
    for (speaker, listener) in [(ann, bob), (bob, ann)] {
        speaker.say(&format!("PRIVMSG {room} :still here"));
        hear_from(listener, speaker, room, "still here")?;
    }
    nothing_said(ann)?;
    nothing_said(bob)
}

/// The next message must be this one.
pub(super) fn hear_from(listener: &Client, speaker: &Client, room: &str, text: &str) -> Checked<()> {
    let line = listener.hear_said()?;
    let right = line.is_from(&speaker.nick, "PRIVMSG") && line.names(0, room);
    if right && line.param(1) == Some(text.as_bytes()) {
        Ok(())
    } else {
        wrong(format!("{} heard {line} where {} said `{text}` in {room}", listener.nick, speaker.nick))
    }
}
