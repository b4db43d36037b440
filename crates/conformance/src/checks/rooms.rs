//! Joining a room, the list of its members, and the isolation of rooms.

use std::rc::Rc;

use super::Check;
use super::messages::{expect_message, expect_no_message};
use crate::finding::{Checked, wrong};
use crate::irc::{Client, Line, Net};

/// Rank prefixes of a nick in a list of names.
const MEMBER_MARKS: &[u8] = b"~&@%+";

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "rooms: join",
            "the newcomer gets its JOIN, 353 with its nick, 366, in this order; other members get the JOIN once",
            join,
        ),
        Check::new(
            "rooms: names",
            "other members see PART, NICK and QUIT, and NAMES lists the remaining members",
            names_after_changes,
        ),
        Check::new("rooms: isolation", "a message to one room is not delivered to another", isolation),
    ]
}

fn join(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let first = net.user()?;
    first.join(&room)?;
    let second = net.user()?;
    second.send_line(&format!("JOIN {room}"));
    let own = second.wait_for("JOIN", |line| line.is("JOIN") || line.is("353") || line.is("366"))?;
    if !own.is_from(&second.nick, "JOIN") || !own.names(0, &room) {
        return wrong(format!("{own} instead of the newcomer's own JOIN"));
    }
    let members = read_names(&second, &room)?;
    if members != sorted([&first.nick, &second.nick]) {
        return wrong(format!("353 lists {}", members.join(", ")));
    }
    first.wait_for("JOIN of the newcomer", |line| line.is_from(&second.nick, "JOIN"))?;
    match first.fence()?.iter().find(|line| line.is("JOIN")) {
        Some(line) => wrong(format!("{} also received {line}", first.nick)),
        None => Ok(format!("JOIN, 353 ({}), 366", members.join(" "))),
    }
}

fn names_after_changes(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let mut users = net.users_in(&room, 4)?;
    let (quitter, mut renamed, parted) =
        (users.pop().expect("4"), users.pop().expect("3"), users.pop().expect("2"));
    let observer = users.pop().expect("1");
    parted.send_line(&format!("PART {room}"));
    for client in [&parted, &observer] {
        client.wait_for("PART", |line| line.is_from(&parted.nick, "PART") && line.names(0, &room))?;
    }
    let nick = net.nick();
    renamed.send_line(&format!("NICK {nick}"));
    for client in [&renamed, &observer] {
        client
            .wait_for("change of nick", |line| line.is_from(&renamed.nick, "NICK") && line.names(0, &nick))?;
    }
    renamed.nick = nick;
    quitter.send_line("QUIT :bye");
    observer.wait_for("QUIT", |line| line.is_from(&quitter.nick, "QUIT"))?;
    let members = names(&observer, &room)?;
    if members == sorted([&observer.nick, &renamed.nick]) {
        Ok(format!("PART, NICK, QUIT, and {} are left", members.join(" and ")))
    } else {
        wrong(format!("NAMES lists {}", members.join(", ")))
    }
}

fn isolation(net: &Rc<Net>) -> Checked {
    let (one, other) = (net.room(), net.room());
    let [speaker, listener, both] = [net.user()?, net.user()?, net.user()?];
    speaker.join(&one)?;
    both.join(&one)?;
    both.join(&other)?;
    listener.join(&other)?;
    speaker.send_line(&format!("PRIVMSG {one} :in the first room"));
    expect_message(&both, &speaker, &one, "in the first room")?;
    both.send_line(&format!("PRIVMSG {other} :in the second room"));
    expect_message(&listener, &both, &other, "in the second room")?;
    for client in [&speaker, &listener, &both] {
        expect_no_message(client)?;
    }
    Ok("each received messages of its own rooms only".into())
}

/// The members of the room according to NAMES, sorted.
pub(super) fn names(client: &Client, room: &str) -> Checked<Vec<String>> {
    client.send_line(&format!("NAMES {room}"));
    read_names(client, room)
}

fn read_names(client: &Client, room: &str) -> Checked<Vec<String>> {
    let mut names = Vec::new();
    loop {
        let is_names_reply =
            |line: &Line| line.is("353") && line.names(2, room) || line.is("366") && line.names(1, room);
        let line = client.wait_for("366 (end of names)", is_names_reply)?;
        if line.is("366") {
            names.sort_unstable();
            return Ok(names);
        }
        let list = line.param(3).unwrap_or_default();
        let nicks = list.split(|&byte| byte == b' ').filter(|nick| !nick.is_empty());
        names.extend(nicks.map(|nick| {
            let marks = nick.iter().take_while(|mark| MEMBER_MARKS.contains(mark)).count();
            nick[marks..].escape_ascii().to_string()
        }));
    }
}

fn sorted<const N: usize>(nicks: [&String; N]) -> Vec<String> {
    let mut nicks = nicks.map(String::clone).to_vec();
    nicks.sort_unstable();
    nicks
}
