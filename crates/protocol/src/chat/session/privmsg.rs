//! PRIVMSG, NOTICE and AWAY. PRIVMSG is the hot path: one allocation per message and none per delivery.

use std::sync::Arc;

use super::client::{Client, items};
use crate::chat::line::{cut, end};
use crate::chat::message::Message;
use crate::chat::names::same;
use crate::chat::numeric::{
    CANNOT_SEND, NO_RECIPIENT, NO_SUCH_CHANNEL, NO_SUCH_NICK, NO_TEXT, NOT_AWAY, NOW_AWAY, Numeric,
    TOO_MANY_TARGETS,
};
use crate::chat::state::{Outbox, User};

const TARGETS_MAX: usize = 4;
const AWAY_MAX: usize = 200;

impl<O: Outbox> Client<O> {
    /// Handles PRIVMSG or NOTICE, given as `verb`. A NOTICE gets no error replies.
    pub(super) fn privmsg(&mut self, verb: &'static [u8], message: &Message) {
        let reply_error = |numeric: &Numeric, params: &[&[u8]]| {
            if verb == b"PRIVMSG" {
                self.reply_numeric(numeric, params);
            }
        };
        let targets = message.param(0).unwrap_or_default();
        if items(targets).next().is_none() {
            return reply_error(&NO_RECIPIENT, &[]);
        }
        let Some(text) = message.param(1) else {
            return reply_error(&NO_TEXT, &[]);
        };
        if let Some(excess) = items(targets).nth(TARGETS_MAX) {
            return reply_error(&TOO_MANY_TARGETS, &[excess]);
        }
        for target in items(targets) {
            if !self.send_to_room(verb, target, text) {
                self.send_to_user(verb, target, text);
            }
        }
    }

    /// Returns `false` if the client is in no room of this name.
    fn send_to_room(&mut self, verb: &[u8], target: &[u8], text: &[u8]) -> bool {
        let Some(room) = self.rooms.iter().find(|room| same(&room.name, target)) else {
            return false;
        };
        let line = compose(&mut self.scratch, &self.prefix, verb, &room.name, text);
        room.deliver_to_others(self.id, &line);
        true
    }

    fn send_to_user(&mut self, verb: &[u8], target: &[u8], text: &[u8]) {
        let Some(user) = self.server.nicks.find(target) else {
            if verb == b"PRIVMSG" {
                self.reply_no_recipient(target);
            }
            return;
        };
        let profile = user.profile().clone();
        let line = compose(&mut self.scratch, &self.prefix, verb, &profile.nick, text);
        user.outbox.deliver(&line);
        if verb == b"PRIVMSG" && !profile.away.is_empty() {
            self.reply("301", &[&profile.nick], &profile.away);
        }
    }

    fn reply_no_recipient(&self, target: &[u8]) {
        if !target.starts_with(b"#") {
            self.reply_numeric(&NO_SUCH_NICK, &[target]);
        } else if let Some(room) = self.server.rooms.find(target) {
            self.reply_numeric(&CANNOT_SEND, &[&room.name]);
        } else {
            self.reply_numeric(&NO_SUCH_CHANNEL, &[target]);
        }
    }

    pub(super) fn away(&mut self, user: &User<O>, message: &Message) {
        let reason = cut(message.param(0).unwrap_or_default(), AWAY_MAX);
        user.profile().away = reason.to_vec();
        self.reply_numeric(if reason.is_empty() { &NOT_AWAY } else { &NOW_AWAY }, &[]);
    }
}

fn compose(scratch: &mut Vec<u8>, prefix: &[u8], verb: &[u8], target: &[u8], text: &[u8]) -> Arc<[u8]> {
    scratch.clear();
    for part in [prefix, b" ", verb, b" ", target, b" :", text] {
        scratch.extend_from_slice(part);
    }
    end(scratch);
    Arc::from(&scratch[..])
}
