//! The state of one client, the dispatch of its commands, and the replies to it.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;

use crate::chat::frame::CONTENT_MAX;
use crate::chat::line::line;
use crate::chat::message::Message;
use crate::chat::names::same;
use crate::chat::numeric::{NEED_MORE_PARAMS, NO_IRC_OPERATOR, NOT_REGISTERED, Numeric, UNKNOWN_COMMAND};
use crate::chat::state::{Member, Outbox, Room, ServerState, User};

/// The progress of a client that is not registered yet.
#[derive(Default)]
pub(super) struct Login {
    /// The user name and real name of a valid USER command.
    pub(super) names: Option<(Vec<u8>, Vec<u8>)>,
    /// Registration is deferred until CAP END.
    pub(super) negotiating: bool,
}

pub(super) struct Client<O> {
    pub(super) server: Arc<ServerState<O>>,
    pub(super) outbox: O,
    pub(super) id: u64,
    pub(super) host: Vec<u8>,
    /// Empty until the first valid NICK.
    pub(super) nick: Vec<u8>,
    pub(super) login: Login,
    /// The registered user; `None` before the registration is complete.
    pub(super) user: Option<Arc<User<O>>>,
    /// `:nick!user@host`, the start of each line about this client. Empty until registered.
    pub(super) prefix: Vec<u8>,
    /// In the order of joining.
    pub(super) rooms: Vec<Arc<Room<O>>>,
    /// Reused to build each message, so that it costs one allocation.
    pub(super) scratch: Vec<u8>,
}

impl<O: Outbox> Client<O> {
    pub(super) fn new(server: Arc<ServerState<O>>, id: u64, from: IpAddr, outbox: O) -> Client<O> {
        let mut host = from.to_canonical().to_string().into_bytes();
        if host.starts_with(b":") {
            host.insert(0, b'0'); // `::1` would look like a last parameter
        }
        Client {
            server,
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

    /// Executes one line. Returns the reason if it ends the session.
    pub(super) fn dispatch(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let message = Message::parse(line)?;
        let mut upper = [0; 8];
        let command: &[u8] = match upper.get_mut(..message.command.len()) {
            Some(upper) => {
                upper.copy_from_slice(message.command);
                upper.make_ascii_uppercase();
                upper
            }
            None => b"", // longer than any command
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
                Some(user) => self.dispatch_registered(&user, command, &message),
                None => self.reply_numeric(&NOT_REGISTERED, &[]),
            },
        }
        None
    }

    fn dispatch_registered(&mut self, user: &Arc<User<O>>, command: &[u8], message: &Message) {
        match command {
            b"PRIVMSG" => self.privmsg(b"PRIVMSG", message),
            b"NOTICE" => self.privmsg(b"NOTICE", message),
            // The client does not read, and its connection is about to be closed. A command that follows is not worth its work.
            _ if !self.outbox.is_open() => {}
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
                self.reply_numeric(&NO_IRC_OPERATOR, &[])
            }
            _ => self.reply_numeric(&UNKNOWN_COMMAND, &[message.command]),
        }
    }

    /// Sends a numeric with its fixed text; `params` precede the text.
    pub(super) fn reply_numeric(&self, numeric: &Numeric, params: &[&[u8]]) {
        self.reply(numeric.code, params, numeric.text.as_bytes());
    }

    pub(super) fn reply_need_more_params(&self, command: &[u8]) {
        self.reply_numeric(&NEED_MORE_PARAMS, &[command]);
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

    /// Sends `:server code nick middle… :item item…` in as many lines as needed; one line if there are no items.
    pub(super) fn reply_list(&self, code: &str, middle: &[&[u8]], items: &[Vec<u8>]) {
        let mut head = self.head(code, middle);
        head.extend_from_slice(b" :");
        let mut whole = head.clone();
        for item in items {
            if whole.len() > head.len() {
                if whole.len() + 1 + item.len() > CONTENT_MAX {
                    if !self.outbox.is_open() {
                        return;
                    }
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
            [b":", self.server.identity.name.as_bytes(), b" ", code.as_bytes(), b" ", self.reply_target()]
                .concat();
        for param in middle {
            head.push(b' ');
            head.extend_from_slice(param);
        }
        head
    }

    /// The name of this client in replies to it; `*` until it is registered.
    pub(super) fn reply_target(&self) -> &[u8] {
        if self.user.is_some() { &self.nick } else { b"*" }
    }

    /// Returns the room of this name if the client is a member.
    pub(super) fn own_room(&self, name: &[u8]) -> Option<&Arc<Room<O>>> {
        self.rooms.iter().find(|room| same(&room.name, name))
    }

    /// Removes the client from its rooms and frees its nick.
    pub(super) fn leave_server(&mut self, reason: &[u8]) {
        let quit = line(&[&self.prefix, b" QUIT :", reason]);
        let mut is_new = first_visits();
        for room in std::mem::take(&mut self.rooms) {
            self.server.rooms.leave(&room, self.id, |member| {
                if is_new(member) {
                    member.outbox.send(&quit);
                }
            });
        }
        self.server.nicks.release(&self.nick);
    }
}

/// Returns a predicate that accepts each user once, for lines to all users of several rooms.
pub(super) fn first_visits<O>() -> impl FnMut(&Member<O>) -> bool {
    let mut seen = HashSet::new();
    move |member| seen.insert(member.id)
}

/// Splits a comma-separated list and skips empty items.
pub(super) fn items(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b',').filter(|item| !item.is_empty())
}

fn quit_reason(message: &Message) -> Vec<u8> {
    match message.param(0) {
        Some(reason) => [b"Quit: ", reason].concat(),
        None => b"Quit".to_vec(),
    }
}
