//! The welcome, MOTD, LUSERS, VERSION and PING; and OPER, which the server refuses.

use super::client::Client;
use crate::chat::line::line;
use crate::chat::message::Message;
use crate::chat::names::same;
use crate::chat::numeric::{END_OF_MOTD, NO_MOTD, NO_OPER_HOST, NO_ORIGIN, NO_SUCH_SERVER};
use crate::chat::state::Outbox;

impl<O: Outbox> Client<O> {
    pub(super) fn welcome(&self) {
        let identity = &self.server.identity;
        let (server, version) = (identity.name.as_bytes(), identity.version.as_bytes());
        let network = identity.network.as_bytes();
        self.reply("001", &[], &[b"Welcome to ", network, b", ", &self.prefix[1..]].concat());
        self.reply("002", &[], &[b"Your host is ", server, b", running ", version].concat());
        self.reply("003", &[], &[b"This server was created ", identity.created.as_bytes()].concat());
        self.reply_bare("004", &[server, version, b"i", b"bn"]);
        let supported: &[&[u8]] = &[
            b"AWAYLEN=200",
            b"CASEMAPPING=rfc1459",
            b"CHANLIMIT=#:50",
            b"CHANMODES=b,,,n",
            b"CHANNELLEN=50",
            b"CHANTYPES=#",
            &[b"NETWORK=", network].concat(),
            b"NICKLEN=30",
            b"PREFIX=",
            b"TARGMAX=JOIN:,LIST:1,NAMES:1,NOTICE:4,PART:,PRIVMSG:4,WHOIS:1",
            b"TOPICLEN=300",
            b"USERLEN=16",
        ];
        self.reply("005", supported, b"are supported by this server");
        self.lusers();
        self.send_motd();
    }

    pub(super) fn lusers(&self) {
        let users = self.server.nicks.registered();
        let rooms = self.server.rooms.count().to_string();
        self.reply("251", &[], format!("There are 0 users and {users} invisible on 1 servers").as_bytes());
        self.reply("254", &[rooms.as_bytes()], b"channels formed");
        self.reply("255", &[], format!("I have {users} clients and 0 servers").as_bytes());
    }

    pub(super) fn motd(&mut self, message: &Message) {
        if self.is_for_this_server(message.param(0)) {
            self.send_motd();
        }
    }

    fn send_motd(&self) {
        let identity = &self.server.identity;
        if identity.motd.is_empty() {
            return self.reply_numeric(&NO_MOTD, &[]);
        }
        self.reply("375", &[], format!("- {} Message of the day -", identity.name).as_bytes());
        for text in &identity.motd {
            self.reply("372", &[], format!("- {text}").as_bytes());
        }
        self.reply_numeric(&END_OF_MOTD, &[]);
    }

    pub(super) fn version(&mut self, message: &Message) {
        let identity = &self.server.identity;
        if self.is_for_this_server(message.param(0)) {
            let middle = [identity.version.as_bytes(), identity.name.as_bytes()];
            self.reply("351", &middle, identity.network.as_bytes());
        }
    }

    /// Whether a query names this server or none. Replies with an error for any other name.
    fn is_for_this_server(&self, server: Option<&[u8]>) -> bool {
        match server {
            Some(server) if !same(server, self.server.identity.name.as_bytes()) => {
                self.reply_numeric(&NO_SUCH_SERVER, &[server]);
                false
            }
            _ => true,
        }
    }

    pub(super) fn ping(&mut self, message: &Message) {
        let server = self.server.identity.name.as_bytes();
        match message.param(0) {
            Some(token) => self.outbox.send(&line(&[b":", server, b" PONG ", server, b" :", token])),
            None => self.reply_numeric(&NO_ORIGIN, &[]),
        }
    }

    pub(super) fn oper(&mut self, message: &Message) {
        match message.param(1) {
            Some(_) => self.reply_numeric(&NO_OPER_HOST, &[]),
            None => self.reply_need_more_params(b"OPER"),
        }
    }
}
