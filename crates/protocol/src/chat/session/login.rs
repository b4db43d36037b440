//! CAP, PASS, NICK and USER: the registration of a client.

use std::sync::{Arc, Mutex};

use super::client::{Client, first_visits};
use crate::chat::line::{cut, line};
use crate::chat::message::Message;
use crate::chat::names::valid_nick;
use crate::chat::numeric::{ALREADY_REGISTERED, ERRONEOUS_NICK, INVALID_CAP, NICK_IN_USE, NO_NICK};
use crate::chat::state::{Outbox, Profile, User};

const USER_MAX: usize = 16;
const REAL_NAME_MAX: usize = 100;

impl<O: Outbox> Client<O> {
    /// The server offers no capabilities.
    pub(super) fn cap(&mut self, message: &Message) {
        let Some(verb) = message.param(0) else {
            return self.reply_need_more_params(b"CAP");
        };
        match verb.to_ascii_uppercase().as_slice() {
            b"LS" => {
                self.login.negotiating = true;
                self.reply_cap(b" LS :", b"");
            }
            b"LIST" => self.reply_cap(b" LIST :", b""),
            b"REQ" => {
                self.login.negotiating = true;
                self.reply_cap(b" NAK :", message.param(1).unwrap_or_default());
            }
            b"END" => {
                self.login.negotiating = false;
                self.register_when_complete();
            }
            _ => self.reply_numeric(&INVALID_CAP, &[verb]),
        }
    }

    fn reply_cap(&self, verb: &[u8], capabilities: &[u8]) {
        let server = self.server.identity.name.as_bytes();
        self.outbox.send(&line(&[b":", server, b" CAP ", self.reply_target(), verb, capabilities]));
    }

    /// The server accepts any password.
    pub(super) fn pass(&mut self, message: &Message) {
        if self.user.is_some() {
            self.reply_numeric(&ALREADY_REGISTERED, &[]);
        } else if message.param(0).is_none() {
            self.reply_need_more_params(b"PASS");
        }
    }

    pub(super) fn user(&mut self, message: &Message) {
        if self.user.is_some() {
            return self.reply_numeric(&ALREADY_REGISTERED, &[]);
        }
        match (message.param(0), message.params.get(3)) {
            (Some(name), Some(real_name)) => {
                self.login.names = Some((clean_user(name), cut(real_name, REAL_NAME_MAX).to_vec()));
                self.register_when_complete();
            }
            _ => self.reply_need_more_params(b"USER"),
        }
    }

    pub(super) fn nick(&mut self, message: &Message) {
        let Some(nick) = message.param(0) else {
            return self.reply_numeric(&NO_NICK, &[]);
        };
        if !valid_nick(nick) {
            return self.reply_numeric(&ERRONEOUS_NICK, &[nick]);
        }
        if nick == self.nick || !self.outbox.is_open() {
            return;
        }
        if !self.server.nicks.change(&self.nick, nick, self.user.as_ref()) {
            return self.reply_numeric(&NICK_IN_USE, &[nick]);
        }
        self.nick = nick.to_vec();
        match self.user.clone() {
            Some(user) => {
                let change = line(&[&self.prefix, b" NICK ", nick]);
                self.prefix = prefix(nick, &user);
                self.outbox.send(&change);
                self.notify_neighbours(&change);
            }
            None => self.register_when_complete(),
        }
    }

    /// Sends a line once to every user who shares a room with this client.
    fn notify_neighbours(&self, line: &Arc<[u8]>) {
        let mut is_new = first_visits();
        for room in &self.rooms {
            room.for_each_other_member(self.id, |member| {
                if is_new(member) {
                    member.outbox.send(line);
                }
            });
        }
    }

    fn register_when_complete(&mut self) {
        if self.user.is_some() || self.login.negotiating || self.nick.is_empty() {
            return;
        }
        let Some((name, real_name)) = self.login.names.take() else {
            return;
        };
        let user = Arc::new(User {
            name,
            host: self.host.clone(),
            real_name,
            outbox: self.outbox.clone(),
            profile: Mutex::new(Profile { nick: self.nick.clone(), away: Vec::new() }),
            rooms: Mutex::default(),
        });
        self.prefix = prefix(&self.nick, &user);
        self.server.nicks.register(&self.nick, Arc::clone(&user));
        self.user = Some(user);
        self.welcome();
    }
}

fn prefix<O>(nick: &[u8], user: &User<O>) -> Vec<u8> {
    [b":", nick, b"!", &user.name, b"@", &user.host].concat()
}

/// Truncates a user name to [`USER_MAX`] bytes and replaces those that are ambiguous in a prefix.
fn clean_user(name: &[u8]) -> Vec<u8> {
    let clean =
        |&byte: &u8| if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) { byte } else { b'_' };
    name.iter().take(USER_MAX).map(clean).collect()
}
