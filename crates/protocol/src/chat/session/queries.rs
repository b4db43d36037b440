//! WHO, WHOIS, WHOWAS, USERHOST and ISON: queries about users.

use super::client::Client;
use crate::chat::message::Message;
use crate::chat::numeric::{
    END_OF_WHO, END_OF_WHOIS, END_OF_WHOWAS, NO_NICK, NO_SUCH_NICK, WAS_NO_SUCH_NICK,
};
use crate::chat::state::{Outbox, User};

const USERHOST_MAX: usize = 5;

impl<O: Outbox> Client<O> {
    /// Accepts a channel or a nick. All users are invisible (`+i`), so a wildcard mask matches none.
    pub(super) fn who(&mut self, message: &Message) {
        let mask = message.param(0).unwrap_or(b"*");
        if let Some(room) = self.server.rooms.find(mask) {
            let users = room.users();
            users
                .iter()
                .take_while(|_| self.outbox.is_open())
                .for_each(|user| self.reply_who(&room.name, user));
        } else if let Some(user) = self.server.nicks.find(mask) {
            self.reply_who(b"*", &user);
        }
        self.reply_numeric(&END_OF_WHO, &[mask]);
    }

    fn reply_who(&self, room: &[u8], user: &User<O>) {
        let profile = user.profile().clone();
        let presence: &[u8] = if profile.away.is_empty() { b"H" } else { b"G" };
        let server = self.server.identity.name.as_bytes();
        let hops_and_name = [b"0 ", &user.real_name[..]].concat();
        self.reply("352", &[room, &user.name, &user.host, server, &profile.nick, presence], &hops_and_name);
    }

    /// With two parameters the first names a server; there is only this one, so it is ignored.
    pub(super) fn whois(&mut self, message: &Message) {
        let Some(nick) = message.param(1).or(message.param(0)) else {
            return self.reply_numeric(&NO_NICK, &[]);
        };
        match self.server.nicks.find(nick) {
            Some(user) => {
                let profile = user.profile().clone();
                let nick = &profile.nick[..];
                self.reply("311", &[nick, &user.name, &user.host, b"*"], &user.real_name);
                let rooms = user.room_names();
                if !rooms.is_empty() {
                    self.reply_list("319", &[nick], &rooms);
                }
                let identity = &self.server.identity;
                self.reply("312", &[nick, identity.name.as_bytes()], identity.network.as_bytes());
                if !profile.away.is_empty() {
                    self.reply("301", &[nick], &profile.away);
                }
                self.reply_numeric(&END_OF_WHOIS, &[nick]);
            }
            None => {
                self.reply_numeric(&NO_SUCH_NICK, &[nick]);
                self.reply_numeric(&END_OF_WHOIS, &[nick]);
            }
        }
    }

    /// The server keeps no history. Clients send this after a WHOIS without a match.
    pub(super) fn whowas(&mut self, message: &Message) {
        let Some(nick) = message.param(0) else {
            return self.reply_numeric(&NO_NICK, &[]);
        };
        self.reply_numeric(&WAS_NO_SUCH_NICK, &[nick]);
        self.reply_numeric(&END_OF_WHOWAS, &[nick]);
    }

    pub(super) fn userhost(&mut self, message: &Message) {
        if message.params.is_empty() {
            return self.reply_need_more_params(b"USERHOST");
        }
        let replies = message.params.iter().take(USERHOST_MAX).filter_map(|nick| {
            let user = self.server.nicks.find(nick)?;
            let profile = user.profile();
            let presence = if profile.away.is_empty() { b"=+" } else { b"=-" };
            Some([&profile.nick[..], presence, &user.name, b"@", &user.host].concat())
        });
        self.reply_list("302", &[], &replies.collect::<Vec<_>>());
    }

    pub(super) fn ison(&mut self, message: &Message) {
        if message.params.is_empty() {
            return self.reply_need_more_params(b"ISON");
        }
        let nicks = message.params.iter().flat_map(|param| param.split(|&byte| byte == b' '));
        let online = nicks.filter_map(|nick| Some(self.server.nicks.find(nick)?.nick()));
        self.reply_list("303", &[], &online.collect::<Vec<_>>());
    }
}
