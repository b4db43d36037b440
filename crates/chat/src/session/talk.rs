//! PRIVMSG and NOTICE (the hot path: one buffer a message, nothing allocated a delivery), and AWAY.

use std::sync::Arc;

use super::client::{Client, items};
use crate::hall::{Outbox, User};
use crate::line::{cut, end};
use crate::message::Message;
use crate::names::same;
use crate::numeric::{
    CANNOT_SEND, NO_RECIPIENT, NO_SUCH_CHANNEL, NO_SUCH_NICK, NO_TEXT, NOT_AWAY, NOW_AWAY, Numeric,
    TOO_MANY_TARGETS,
};

const TARGETS_MAX: usize = 4;
const AWAY_MAX: usize = 200;

impl<O: Outbox> Client<O> {
    /// `verb` is PRIVMSG or NOTICE; a NOTICE is never answered.
    pub(super) fn talk(&mut self, verb: &'static [u8], message: &Message) {
        let complain = |numeric: &Numeric, about: &[&[u8]]| {
            if verb == b"PRIVMSG" {
                self.say(numeric, about);
            }
        };
        let targets = message.param(0).unwrap_or_default();
        if items(targets).next().is_none() {
            return complain(&NO_RECIPIENT, &[]);
        }
        let Some(text) = message.param(1) else {
            return complain(&NO_TEXT, &[]);
        };
        if let Some(excess) = items(targets).nth(TARGETS_MAX) {
            return complain(&TOO_MANY_TARGETS, &[excess]);
        }
        for target in items(targets) {
            if !self.tell_room(verb, target, text) {
                self.tell_user(verb, target, text);
            }
        }
    }

    /// `false`: it is no room of this client's.
    fn tell_room(&mut self, verb: &[u8], target: &[u8], text: &[u8]) -> bool {
        let Some(room) = self.rooms.iter().find(|room| same(&room.name, target)) else {
            return false;
        };
        let line = compose(&mut self.scratch, &self.prefix, verb, &room.name, text);
        room.deliver_to_others(self.id, &line);
        true
    }

    fn tell_user(&mut self, verb: &[u8], target: &[u8], text: &[u8]) {
        let Some(user) = self.hall.nicks.find(target) else {
            if verb == b"PRIVMSG" {
                self.say_nobody(target);
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

    fn say_nobody(&self, target: &[u8]) {
        if !target.starts_with(b"#") {
            self.say(&NO_SUCH_NICK, &[target]);
        } else if let Some(room) = self.hall.rooms.find(target) {
            self.say(&CANNOT_SEND, &[&room.name]);
        } else {
            self.say(&NO_SUCH_CHANNEL, &[target]);
        }
    }

    pub(super) fn away(&mut self, user: &User<O>, message: &Message) {
        let reason = cut(message.param(0).unwrap_or_default(), AWAY_MAX);
        user.profile().away = reason.to_vec();
        self.say(if reason.is_empty() { &NOT_AWAY } else { &NOW_AWAY }, &[]);
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
