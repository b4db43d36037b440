//! CAP, PASS, NICK, USER: how a connection becomes a user.

use std::sync::{Arc, Mutex};

use super::client::{Client, once};
use crate::hall::{Outbox, Profile, User};
use crate::line::{cut, line};
use crate::message::Message;
use crate::names::valid_nick;
use crate::numeric::{ALREADY_REGISTERED, ERRONEOUS_NICK, INVALID_CAP, NICK_IN_USE, NO_NICK};

const USER_MAX: usize = 16;
const REAL_NAME_MAX: usize = 100;

/// What is known before registration.
#[derive(Default)]
pub(super) struct Login {
    /// User name and real name.
    who: Option<(Vec<u8>, Vec<u8>)>,
    /// Registration waits while capabilities are talked about.
    negotiating: bool,
}

impl<O: Outbox> Client<O> {
    /// No capability is offered.
    pub(super) fn cap(&mut self, message: &Message) {
        let Some(verb) = message.param(0) else {
            return self.need_more(b"CAP");
        };
        match verb.to_ascii_uppercase().as_slice() {
            b"LS" => {
                self.login.negotiating = true;
                self.answer_cap(b" LS :", b"");
            }
            b"LIST" => self.answer_cap(b" LIST :", b""),
            b"REQ" => {
                self.login.negotiating = true;
                self.answer_cap(b" NAK :", message.param(1).unwrap_or_default());
            }
            b"END" => {
                self.login.negotiating = false;
                self.register_when_complete();
            }
            _ => self.say(&INVALID_CAP, &[verb]),
        }
    }

    fn answer_cap(&self, verb: &[u8], capabilities: &[u8]) {
        let server = self.hall.identity.name.as_bytes();
        self.outbox.send(&line(&[b":", server, b" CAP ", self.called(), verb, capabilities]));
    }

    /// Any password will do.
    pub(super) fn pass(&mut self, message: &Message) {
        if self.user.is_some() {
            self.say(&ALREADY_REGISTERED, &[]);
        } else if message.param(0).is_none() {
            self.need_more(b"PASS");
        }
    }

    pub(super) fn user(&mut self, message: &Message) {
        if self.user.is_some() {
            return self.say(&ALREADY_REGISTERED, &[]);
        }
        match (message.param(0), message.params.get(3)) {
            (Some(name), Some(real_name)) => {
                self.login.who = Some((clean_user(name), cut(real_name, REAL_NAME_MAX).to_vec()));
                self.register_when_complete();
            }
            _ => self.need_more(b"USER"),
        }
    }

    pub(super) fn nick(&mut self, message: &Message) {
        let Some(nick) = message.param(0) else {
            return self.say(&NO_NICK, &[]);
        };
        if !valid_nick(nick) {
            return self.say(&ERRONEOUS_NICK, &[nick]);
        }
        if nick == self.nick {
            return;
        }
        if !self.hall.nicks.change(&self.nick, nick, self.user.as_ref()) {
            return self.say(&NICK_IN_USE, &[nick]);
        }
        self.nick = nick.to_vec();
        match self.user.clone() {
            Some(user) => {
                let news = line(&[&self.prefix, b" NICK ", nick]);
                self.prefix = prefix(nick, &user);
                self.outbox.send(&news);
                self.tell_neighbours(&news);
            }
            None => self.register_when_complete(),
        }
    }

    /// Everybody who shares a room, once.
    fn tell_neighbours(&self, news: &Arc<[u8]>) {
        let mut once = once();
        for room in &self.rooms {
            room.each_other(self.id, |member| {
                if once(member) {
                    member.outbox.send(news);
                }
            });
        }
    }

    fn register_when_complete(&mut self) {
        if self.user.is_some() || self.login.negotiating || self.nick.is_empty() {
            return;
        }
        let Some((name, real_name)) = self.login.who.take() else {
            return;
        };
        let user = Arc::new(User {
            id: self.id,
            name,
            host: self.host.clone(),
            real_name,
            outbox: self.outbox.clone(),
            profile: Mutex::new(Profile { nick: self.nick.clone(), away: Vec::new() }),
        });
        self.prefix = prefix(&self.nick, &user);
        self.hall.nicks.register(&self.nick, Arc::clone(&user));
        self.user = Some(user);
        self.welcome();
    }
}

fn prefix<O>(nick: &[u8], user: &User<O>) -> Vec<u8> {
    [b":", nick, b"!", &user.name, b"@", &user.host].concat()
}

/// At most 16 bytes, of which none can be mistaken for a part of a prefix.
fn clean_user(name: &[u8]) -> Vec<u8> {
    let clean =
        |&byte: &u8| if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) { byte } else { b'_' };
    name.iter().take(USER_MAX).map(clean).collect()
}
