//! Who is at the other end, the way back to him, and which command is whose.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;

use super::login::Login;
use crate::frame::CONTENT_MAX;
use crate::hall::{Hall, Member, Outbox, Room, User};
use crate::line::line;
use crate::message::Message;
use crate::names::same;
use crate::numeric::{NEED_MORE_PARAMS, NO_IRC_OPERATOR, NOT_REGISTERED, Numeric, UNKNOWN_COMMAND};

pub(super) struct Client<O> {
    pub(super) hall: Arc<Hall<O>>,
    pub(super) outbox: O,
    pub(super) id: u64,
    pub(super) host: Vec<u8>,
    /// Empty before the first good NICK.
    pub(super) nick: Vec<u8>,
    pub(super) login: Login,
    /// Set once registered.
    pub(super) user: Option<Arc<User<O>>>,
    /// `:nick!user@host`, ready for the lines that others get. Empty until registered.
    pub(super) prefix: Vec<u8>,
    /// In the order of joining.
    pub(super) rooms: Vec<Arc<Room<O>>>,
    /// Where messages are put together.
    pub(super) scratch: Vec<u8>,
}

impl<O: Outbox> Client<O> {
    pub(super) fn new(hall: Arc<Hall<O>>, id: u64, from: IpAddr, outbox: O) -> Client<O> {
        let mut host = from.to_canonical().to_string().into_bytes();
        if host.starts_with(b":") {
            host.insert(0, b'0'); // `::1` would look like a last parameter
        }
        Client {
            hall,
            outbox,
            id,
            host,
            nick: Vec::new(),
            login: Login::default(),
            user: None,
            prefix: Vec::new(),
            rooms: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Does what a line asks for. `Some(reason)`: the session is over.
    pub(super) fn obey(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let message = Message::parse(line)?;
        let mut upper = [0; 8];
        let command: &[u8] = match upper.get_mut(..message.command.len()) {
            Some(upper) => {
                upper.copy_from_slice(message.command);
                upper.make_ascii_uppercase();
                upper
            }
            None => b"", // longer than any that there is
        };
        match command {
            b"CAP" => self.cap(&message),
            b"PASS" => self.pass(&message),
            b"NICK" => self.nick(&message),
            b"USER" => self.user(&message),
            b"PING" => self.ping(&message),
            b"PONG" => {}
            b"QUIT" => return Some(quit_reason(&message)),
            _ => match self.user.clone() {
                Some(user) => self.obey_registered(&user, command, &message),
                None => self.say(&NOT_REGISTERED, &[]),
            },
        }
        None
    }

    fn obey_registered(&mut self, user: &Arc<User<O>>, command: &[u8], message: &Message) {
        match command {
            b"PRIVMSG" => self.talk(b"PRIVMSG", message),
            b"NOTICE" => self.talk(b"NOTICE", message),
            b"JOIN" => self.join(user, message),
            b"PART" => self.part(message),
            b"TOPIC" => self.topic(message),
            b"INVITE" => self.invite(message),
            b"KICK" => self.kick(message),
            b"NAMES" => self.names(message),
            b"LIST" => self.list_rooms(message),
            b"MODE" => self.mode(message),
            b"WHO" => self.who(message),
            b"WHOIS" => self.whois(message),
            b"WHOWAS" => self.whowas(message),
            b"USERHOST" => self.userhost(message),
            b"ISON" => self.ison(message),
            b"AWAY" => self.away(user, message),
            b"MOTD" => self.motd(message),
            b"LUSERS" => self.lusers(),
            b"VERSION" => self.version(message),
            b"OPER" => self.oper(message),
            b"KILL" | b"REHASH" | b"DIE" | b"RESTART" | b"SQUIT" | b"CONNECT" | b"WALLOPS" => {
                self.say(&NO_IRC_OPERATOR, &[])
            }
            _ => self.say(&UNKNOWN_COMMAND, &[message.command]),
        }
    }

    /// Sends a numeric that always has the same text.
    pub(super) fn say(&self, numeric: &Numeric, about: &[&[u8]]) {
        self.reply(numeric.code, about, numeric.text.as_bytes());
    }

    pub(super) fn need_more(&self, command: &[u8]) {
        self.say(&NEED_MORE_PARAMS, &[command]);
    }

    /// Sends `:server code nick middle… :last`.
    pub(super) fn reply(&self, code: &str, middle: &[&[u8]], last: &[u8]) {
        let head = self.head(code, middle);
        self.outbox.send(&line(&[&head, b" :", last]));
    }

    /// Sends `:server code nick middle…`.
    pub(super) fn reply_bare(&self, code: &str, middle: &[&[u8]]) {
        self.outbox.send(&line(&[&self.head(code, middle)]));
    }

    /// Sends `:server code nick middle… :item item…` as often as it takes; once if there are no items.
    pub(super) fn reply_list(&self, code: &str, middle: &[&[u8]], items: &[Vec<u8>]) {
        let mut head = self.head(code, middle);
        head.extend_from_slice(b" :");
        let mut whole = head.clone();
        for item in items {
            if whole.len() > head.len() {
                if whole.len() + 1 + item.len() > CONTENT_MAX {
                    self.outbox.send(&line(&[&whole]));
                    whole.truncate(head.len());
                } else {
                    whole.push(b' ');
                }
            }
            whole.extend_from_slice(item);
        }
        self.outbox.send(&line(&[&whole]));
    }

    fn head(&self, code: &str, middle: &[&[u8]]) -> Vec<u8> {
        let mut head =
            [b":", self.hall.identity.name.as_bytes(), b" ", code.as_bytes(), b" ", self.called()].concat();
        for param in middle {
            head.push(b' ');
            head.extend_from_slice(param);
        }
        head
    }

    /// What the server calls this client.
    pub(super) fn called(&self) -> &[u8] {
        if self.user.is_some() { &self.nick } else { b"*" }
    }

    /// The room of this name, if the client is in it.
    pub(super) fn own_room(&self, name: &[u8]) -> Option<&Arc<Room<O>>> {
        self.rooms.iter().find(|room| same(&room.name, name))
    }

    /// Ends everything that others can see of this client.
    pub(super) fn leave_hall(&mut self, reason: &[u8]) {
        let quit = line(&[&self.prefix, b" QUIT :", reason]);
        let mut once = once();
        for room in std::mem::take(&mut self.rooms) {
            self.hall.rooms.leave(&room, self.id, |member| {
                if once(member) {
                    member.outbox.send(&quit);
                }
            });
        }
        self.hall.nicks.release(&self.nick);
    }
}

/// Tells, member by member, whether it is the first time that somebody shows up.
pub(super) fn once<O>() -> impl FnMut(&Member<O>) -> bool {
    let mut seen = HashSet::new();
    move |member| seen.insert(member.id)
}

/// The parts of a list with commas; empty ones do not count.
pub(super) fn items(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b',').filter(|item| !item.is_empty())
}

fn quit_reason(message: &Message) -> Vec<u8> {
    match message.param(0) {
        Some(reason) => [b"Quit: ", reason].concat(),
        None => b"Quit".to_vec(),
    }
}
