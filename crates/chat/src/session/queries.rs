//! WHO, WHOIS, WHOWAS, USERHOST, ISON: questions about users.

use super::client::Client;
use crate::hall::{Outbox, User};
use crate::message::Message;
use crate::numeric::{END_OF_WHO, END_OF_WHOIS, END_OF_WHOWAS, NO_NICK, NO_SUCH_NICK, WAS_NO_SUCH_NICK};

const USERHOST_MAX: usize = 5;

impl<O: Outbox> Client<O> {
    /// A channel or a nick. Everybody is invisible (`+i`), so a mask finds nobody.
    pub(super) fn who(&mut self, message: &Message) {
        let mask = message.param(0).unwrap_or(b"*");
        if let Some(room) = self.hall.rooms.find(mask) {
            room.users().iter().for_each(|user| self.who_is_there(&room.name, user));
        } else if let Some(user) = self.hall.nicks.find(mask) {
            self.who_is_there(b"*", &user);
        }
        self.say(&END_OF_WHO, &[mask]);
    }

    fn who_is_there(&self, room: &[u8], user: &User<O>) {
        let profile = user.profile().clone();
        let here: &[u8] = if profile.away.is_empty() { b"H" } else { b"G" };
        let server = self.hall.identity.name.as_bytes();
        let hops_and_name = [b"0 ", &user.real_name[..]].concat();
        self.reply("352", &[room, &user.name, &user.host, server, &profile.nick, here], &hops_and_name);
    }

    /// With two parameters the first one is a server, and there is but one.
    pub(super) fn whois(&mut self, message: &Message) {
        let Some(nick) = message.param(1).or(message.param(0)) else {
            return self.say(&NO_NICK, &[]);
        };
        match self.hall.nicks.find(nick) {
            Some(user) => {
                let profile = user.profile().clone();
                let nick = &profile.nick[..];
                self.reply("311", &[nick, &user.name, &user.host, b"*"], &user.real_name);
                let mut rooms = self.hall.rooms.all();
                rooms.retain(|room| room.has(user.id));
                if !rooms.is_empty() {
                    let names: Vec<_> = rooms.iter().map(|room| room.name.clone()).collect();
                    self.reply_list("319", &[nick], &names);
                }
                let identity = &self.hall.identity;
                self.reply("312", &[nick, identity.name.as_bytes()], identity.network.as_bytes());
                if !profile.away.is_empty() {
                    self.reply("301", &[nick], &profile.away);
                }
                self.say(&END_OF_WHOIS, &[nick]);
            }
            None => {
                self.say(&NO_SUCH_NICK, &[nick]);
                self.say(&END_OF_WHOIS, &[nick]);
            }
        }
    }

    /// Nobody is remembered. Clients ask by themselves when WHOIS finds nobody.
    pub(super) fn whowas(&mut self, message: &Message) {
        let Some(nick) = message.param(0) else {
            return self.say(&NO_NICK, &[]);
        };
        self.say(&WAS_NO_SUCH_NICK, &[nick]);
        self.say(&END_OF_WHOWAS, &[nick]);
    }

    pub(super) fn userhost(&mut self, message: &Message) {
        if message.params.is_empty() {
            return self.need_more(b"USERHOST");
        }
        let found = message.params.iter().take(USERHOST_MAX).filter_map(|nick| {
            let user = self.hall.nicks.find(nick)?;
            let profile = user.profile();
            let here = if profile.away.is_empty() { b"=+" } else { b"=-" };
            Some([&profile.nick[..], here, &user.name, b"@", &user.host].concat())
        });
        self.reply_list("302", &[], &found.collect::<Vec<_>>());
    }

    pub(super) fn ison(&mut self, message: &Message) {
        if message.params.is_empty() {
            return self.need_more(b"ISON");
        }
        let nicks = message.params.iter().flat_map(|param| param.split(|&byte| byte == b' '));
        let found = nicks.filter_map(|nick| Some(self.hall.nicks.find(nick)?.nick()));
        self.reply_list("303", &[], &found.collect::<Vec<_>>());
    }
}
