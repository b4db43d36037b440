//! MODE. There are no operators, so the modes are fixed: `+n` for every channel, `+i` for every user.

use super::client::Client;
use crate::chat::message::Message;
use crate::chat::names::same;
use crate::chat::numeric::{
    END_OF_BANS, NO_CHANNEL_OPERATOR, NO_SUCH_NICK, NOT_YOUR_MODE, UNKNOWN_MODE, UNKNOWN_USER_MODE,
};
use crate::chat::state::Outbox;

/// The channel modes of RFC 1459, which an operator could set on other servers.
const CHANNEL_MODES: &[u8] = b"biklmnopstv";

impl<O: Outbox> Client<O> {
    pub(super) fn mode(&mut self, message: &Message) {
        match message.param(0) {
            None => self.reply_need_more_params(b"MODE"),
            Some(name) if name.starts_with(b"#") => self.channel_mode(name, message),
            Some(nick) => self.user_mode(nick, message.param(1)),
        }
    }

    fn channel_mode(&self, name: &[u8], message: &Message) {
        let Some(room) = self.existing_room(name) else {
            return;
        };
        let change = message.param(1).unwrap_or_default();
        let Some(letter) = change.iter().find(|byte| !b"+-".contains(byte)) else {
            return self.reply_bare("324", &[&room.name, b"+n"]);
        };
        if matches!(change, b"b" | b"+b") && message.param(2).is_none() {
            self.reply_numeric(&END_OF_BANS, &[&room.name]);
        } else if self.joined_room(name).is_some() {
            if CHANNEL_MODES.contains(letter) {
                self.reply_numeric(&NO_CHANNEL_OPERATOR, &[&room.name]);
            } else {
                self.reply_numeric(&UNKNOWN_MODE, &[&[*letter]]);
            }
        }
    }

    fn user_mode(&self, nick: &[u8], change: Option<&[u8]>) {
        if !same(nick, &self.nick) {
            let exists = self.server.nicks.find(nick).is_some();
            return if exists {
                self.reply_numeric(&NOT_YOUR_MODE, &[])
            } else {
                self.reply_numeric(&NO_SUCH_NICK, &[nick])
            };
        }
        match change {
            None => self.reply_bare("221", &[b"+i"]),
            // Clients set this mode when they connect. It is always set.
            Some(change) if change.iter().all(|byte| b"+i".contains(byte)) => {}
            Some(_) => self.reply_numeric(&UNKNOWN_USER_MODE, &[]),
        }
    }
}
