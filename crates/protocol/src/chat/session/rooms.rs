//! The commands for channels: JOIN, PART, TOPIC, INVITE, KICK, NAMES and LIST.

use std::sync::Arc;

use super::client::{Client, items};
use crate::chat::line::{cut, line};
use crate::chat::message::Message;
use crate::chat::names::valid_channel;
use crate::chat::numeric::{
    ALREADY_ON_CHANNEL, END_OF_LIST, END_OF_NAMES, LIST_START, NO_CHANNEL_OPERATOR, NO_SUCH_CHANNEL,
    NO_SUCH_NICK, NO_TOPIC, NOT_ON_CHANNEL, TOO_MANY_CHANNELS, TOO_MANY_TARGETS,
};
use crate::chat::state::{Member, Outbox, Room, User};

const ROOMS_MAX: usize = 50;
const TOPIC_MAX: usize = 300;

impl<O: Outbox> Client<O> {
    pub(super) fn join(&mut self, user: &Arc<User<O>>, message: &Message) {
        let list = message.param(0).unwrap_or_default();
        if items(list).next().is_none() {
            return self.reply_need_more_params(b"JOIN");
        }
        if list == b"0" {
            while let Some(room) = self.rooms.first().cloned() {
                self.leave(&room, b"");
            }
            return;
        }
        for name in items(list) {
            if !valid_channel(name) {
                self.reply_numeric(&NO_SUCH_CHANNEL, &[name]);
            } else if self.own_room(name).is_none() {
                self.join_one(user, name);
            }
        }
    }

    fn join_one(&mut self, user: &Arc<User<O>>, name: &[u8]) {
        if self.rooms.len() >= ROOMS_MAX {
            return self.reply_numeric(&TOO_MANY_CHANNELS, &[name]);
        }
        let member = Member { id: self.id, outbox: self.outbox.clone(), user: Arc::clone(user) };
        let room = self.server.rooms.join(name, member, |name| line(&[&self.prefix, b" JOIN ", name]));
        let topic = room.topic();
        if !topic.is_empty() {
            self.reply("332", &[&room.name], &topic);
        }
        user.set_in_room(&room.name, true);
        self.reply_names(&room);
        self.rooms.push(room);
    }

    pub(super) fn part(&mut self, message: &Message) {
        let list = message.param(0).unwrap_or_default();
        if items(list).next().is_none() {
            return self.reply_need_more_params(b"PART");
        }
        for name in items(list) {
            if let Some(room) = self.joined_room(name) {
                self.leave(&room, message.param(1).unwrap_or_default());
            }
        }
    }

    fn leave(&mut self, room: &Arc<Room<O>>, reason: &[u8]) {
        let colon: &[u8] = if reason.is_empty() { b"" } else { b" :" };
        let part = line(&[&self.prefix, b" PART ", &room.name, colon, reason]);
        self.rooms.retain(|own| !Arc::ptr_eq(own, room));
        if let Some(user) = &self.user {
            user.set_in_room(&room.name, false);
        }
        self.server.rooms.leave(room, self.id, |member| member.outbox.send(&part));
        self.outbox.send(&part);
    }

    /// Returns the room of this name. Replies with an error if it does not exist or the client is not a member.
    pub(super) fn joined_room(&self, name: &[u8]) -> Option<Arc<Room<O>>> {
        if let Some(room) = self.own_room(name) {
            return Some(Arc::clone(room));
        }
        let room = self.existing_room(name)?;
        self.reply_numeric(&NOT_ON_CHANNEL, &[&room.name]);
        None
    }

    /// Returns the room of this name. Replies with an error if it does not exist.
    pub(super) fn existing_room(&self, name: &[u8]) -> Option<Arc<Room<O>>> {
        let room = self.server.rooms.find(name);
        if room.is_none() {
            self.reply_numeric(&NO_SUCH_CHANNEL, &[name]);
        }
        room
    }

    pub(super) fn topic(&mut self, message: &Message) {
        let Some(name) = message.param(0) else {
            return self.reply_need_more_params(b"TOPIC");
        };
        if let Some(&topic) = message.params.get(1) {
            if let Some(room) = self.joined_room(name) {
                let topic = cut(topic, TOPIC_MAX);
                room.set_topic(topic, &line(&[&self.prefix, b" TOPIC ", &room.name, b" :", topic]));
            }
        } else if let Some(room) = self.existing_room(name) {
            let topic = room.topic();
            if topic.is_empty() {
                self.reply_numeric(&NO_TOPIC, &[&room.name]);
            } else {
                self.reply("332", &[&room.name], &topic);
            }
        }
    }

    pub(super) fn invite(&mut self, message: &Message) {
        let (Some(nick), Some(name)) = (message.param(0), message.param(1)) else {
            return self.reply_need_more_params(b"INVITE");
        };
        let Some(guest) = self.server.nicks.find(nick) else {
            return self.reply_numeric(&NO_SUCH_NICK, &[nick]);
        };
        let Some(room) = self.joined_room(name) else {
            return;
        };
        let nick = guest.nick();
        if guest.is_in(&room.name) {
            return self.reply_numeric(&ALREADY_ON_CHANNEL, &[&nick, &room.name]);
        }
        self.reply_bare("341", &[&nick, &room.name]);
        guest.outbox.send(&line(&[&self.prefix, b" INVITE ", &nick, b" ", &room.name]));
    }

    /// There are no operators, so a valid KICK is always refused.
    pub(super) fn kick(&mut self, message: &Message) {
        let (Some(name), Some(_)) = (message.param(0), message.param(1)) else {
            return self.reply_need_more_params(b"KICK");
        };
        if let Some(room) = self.joined_room(name) {
            self.reply_numeric(&NO_CHANNEL_OPERATOR, &[&room.name]);
        }
    }

    pub(super) fn names(&mut self, message: &Message) {
        let Ok(name) = self.only_room(message) else { return };
        match name.and_then(|name| self.server.rooms.find(name)) {
            Some(room) => self.reply_names(&room),
            None => self.reply_numeric(&END_OF_NAMES, &[name.unwrap_or(b"*")]),
        }
    }

    /// The one room of a NAMES or LIST; `None` without a parameter. A short line with many rooms would make a long answer, so more are
    /// refused.
    fn only_room<'a>(&self, message: &Message<'a>) -> Result<Option<&'a [u8]>, ()> {
        let mut names = items(message.param(0).unwrap_or_default());
        let name = names.next();
        match names.next() {
            None => Ok(name),
            Some(excess) => {
                self.reply_numeric(&TOO_MANY_TARGETS, &[excess]);
                Err(())
            }
        }
    }

    fn reply_names(&self, room: &Room<O>) {
        let nicks: Vec<_> = room.users().iter().map(|user| user.nick()).collect();
        self.reply_list("353", &[b"=", &room.name], &nicks);
        self.reply_numeric(&END_OF_NAMES, &[&room.name]);
    }

    pub(super) fn list_rooms(&mut self, message: &Message) {
        let Ok(name) = self.only_room(message) else { return };
        let rooms = match name {
            Some(name) => self.server.rooms.find(name).into_iter().collect(),
            None => self.server.rooms.all(),
        };
        self.reply_numeric(&LIST_START, &[b"Channel"]);
        for room in rooms.iter().take_while(|_| self.outbox.is_open()) {
            self.reply("322", &[&room.name, room.size().to_string().as_bytes()], &room.topic());
        }
        self.reply_numeric(&END_OF_LIST, &[]);
    }
}
