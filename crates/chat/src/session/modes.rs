//! MODE. There are no operators: every channel is `+n`, every user `+i`, and that is how it stays.

use super::client::Client;
use crate::hall::Outbox;
use crate::message::Message;
use crate::names::same;
use crate::numeric::{
    END_OF_BANS, NO_CHANNEL_OPERATOR, NO_SUCH_NICK, NOT_YOUR_MODE, UNKNOWN_MODE, UNKNOWN_USER_MODE,
};

/// The channel modes of RFC 1459, which an operator might set elsewhere.
const CHANNEL_MODES: &[u8] = b"biklmnopstv";

impl<O: Outbox> Client<O> {
    pub(super) fn mode(&mut self, message: &Message) {
        match message.param(0) {
            None => self.need_more(b"MODE"),
            Some(name) if name.starts_with(b"#") => self.channel_mode(name, message),
            Some(nick) => self.user_mode(nick, message.param(1)),
        }
    }

    fn channel_mode(&self, name: &[u8], message: &Message) {
        let Some(room) = self.existing(name) else {
            return;
        };
        let change = message.param(1).unwrap_or_default();
        let Some(letter) = change.iter().find(|byte| !b"+-".contains(byte)) else {
            return self.reply_bare("324", &[&room.name, b"+n"]);
        };
        if matches!(change, b"b" | b"+b") && message.param(2).is_none() {
            self.say(&END_OF_BANS, &[&room.name]);
        } else if self.member_of(name).is_some() {
            if CHANNEL_MODES.contains(letter) {
                self.say(&NO_CHANNEL_OPERATOR, &[&room.name]);
            } else {
                self.say(&UNKNOWN_MODE, &[&[*letter]]);
            }
        }
    }

    fn user_mode(&self, nick: &[u8], change: Option<&[u8]>) {
        if !same(nick, &self.nick) {
            let known = self.hall.nicks.find(nick).is_some();
            return if known { self.say(&NOT_YOUR_MODE, &[]) } else { self.say(&NO_SUCH_NICK, &[nick]) };
        }
        match change {
            None => self.reply_bare("221", &[b"+i"]),
            // Clients set this as they come in. It is so already.
            Some(change) if change.iter().all(|byte| b"+i".contains(byte)) => {}
            Some(_) => self.say(&UNKNOWN_USER_MODE, &[]),
        }
    }
}
