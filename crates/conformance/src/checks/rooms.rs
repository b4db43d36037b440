//! Coming into a room, who is there, and that rooms are apart.

use std::rc::Rc;

use super::Check;
use super::speech::{hear_from, nothing_said};
use crate::finding::{Checked, wrong};
use crate::wire::{Client, Line, Net};

/// What may stand before a nick in a list of names.
const MEMBER_MARKS: &[u8] = b"~&@%+";

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "rooms: join",
            "the newcomer gets its JOIN, 353 with its nick, 366, in this order; who is there gets the JOIN once",
            join,
        ),
        Check::new(
            "rooms: names",
            "PART, NICK and QUIT are seen by who is there, and NAMES tells who is left",
            names_after_changes,
        ),
        Check::new("rooms: apart", "what is said in one room is not heard in another", apart),
    ]
}

fn join(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let first = net.user()?;
    first.join(&room)?;
    let second = net.user()?;
    second.say(&format!("JOIN {room}"));
    let own = second.hear("JOIN", |line| line.is("JOIN") || line.is("353") || line.is("366"))?;
    if !own.is_from(&second.nick, "JOIN") || !own.names(0, &room) {
        return wrong(format!("{own} instead of the newcomer's own JOIN"));
    }
    let here = hear_names(&second, &room)?;
    if here != sorted([&first.nick, &second.nick]) {
        return wrong(format!("353 tells of {}", here.join(", ")));
    }
    first.hear("JOIN of the newcomer", |line| line.is_from(&second.nick, "JOIN"))?;
    match first.fence()?.iter().find(|line| line.is("JOIN")) {
        Some(line) => wrong(format!("{} also heard {line}", first.nick)),
        None => Ok(format!("JOIN, 353 ({}), 366", here.join(" "))),
    }
}

fn names_after_changes(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let mut users = net.users_in(&room, 4)?;
    let (quitter, mut renamed, parted) =
        (users.pop().expect("4"), users.pop().expect("3"), users.pop().expect("2"));
    let watcher = users.pop().expect("1");
    parted.say(&format!("PART {room}"));
    for who in [&parted, &watcher] {
        who.hear("PART", |line| line.is_from(&parted.nick, "PART") && line.names(0, &room))?;
    }
    let nick = net.nick();
    renamed.say(&format!("NICK {nick}"));
    for who in [&renamed, &watcher] {
        who.hear("change of nick", |line| line.is_from(&renamed.nick, "NICK") && line.names(0, &nick))?;
    }
    renamed.nick = nick;
    quitter.say("QUIT :bye");
    watcher.hear("QUIT", |line| line.is_from(&quitter.nick, "QUIT"))?;
    let here = names(&watcher, &room)?;
    if here == sorted([&watcher.nick, &renamed.nick]) {
        Ok(format!("PART, NICK, QUIT, and {} are left", here.join(" and ")))
    } else {
        wrong(format!("NAMES tells of {}", here.join(", ")))
    }
}

fn apart(net: &Rc<Net>) -> Checked {
    let (one, other) = (net.room(), net.room());
    let [speaker, listener, both] = [net.user()?, net.user()?, net.user()?];
    speaker.join(&one)?;
    both.join(&one)?;
    both.join(&other)?;
    listener.join(&other)?;
    speaker.say(&format!("PRIVMSG {one} :in the first room"));
    hear_from(&both, &speaker, &one, "in the first room")?;
    both.say(&format!("PRIVMSG {other} :in the second room"));
    hear_from(&listener, &both, &other, "in the second room")?;
    for client in [&speaker, &listener, &both] {
        nothing_said(client)?;
    }
    Ok("each heard its own rooms only".into())
}

/// Who is in the room, as the server tells; sorted.
pub(super) fn names(client: &Client, room: &str) -> Checked<Vec<String>> {
    client.say(&format!("NAMES {room}"));
    hear_names(client, room)
}

fn hear_names(client: &Client, room: &str) -> Checked<Vec<String>> {
    let mut names = Vec::new();
    loop {
        let wanted =
            |line: &Line| line.is("353") && line.names(2, room) || line.is("366") && line.names(1, room);
        let line = client.hear("366 (end of names)", wanted)?;
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
