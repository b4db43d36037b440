//! Invalid commands: each gets an error numeric and has no other effect. Servers differ, so every sensible numeric passes.

use std::rc::Rc;

use super::Check;
use super::messages::exchange_messages;
use crate::finding::{Checked, wrong};
use crate::irc::{Line, Net};

/// An invalid line and the numerics that may answer it. In the line, `{room}` is a room that the client has joined, `{other}`
/// a room that it has not joined, and `{nobody}` an unused nick.
struct Wrong {
    about: &'static str,
    line: &'static str,
    allowed: &'static [u16],
}

/// Lines that are sent after registration.
const REGISTERED: &[Wrong] = &[
    Wrong { about: "401 no such nick", line: "PRIVMSG {nobody} :hello", allowed: &[401] },
    Wrong { about: "403 no such channel", line: "JOIN {nobody}", allowed: &[403, 448, 476, 479] },
    Wrong { about: "411 no recipient", line: "PRIVMSG", allowed: &[411, 461] },
    Wrong { about: "412 no text", line: "PRIVMSG {room}", allowed: &[412, 461] },
    Wrong { about: "421 unknown command", line: "KLATCH about", allowed: &[421] },
    Wrong { about: "431 no nick", line: "NICK", allowed: &[431, 461] },
    Wrong { about: "432 bad nick", line: "NICK b@d", allowed: &[432] },
    Wrong { about: "442 not on channel", line: "PART {other}", allowed: &[442, 403] },
    Wrong { about: "461 too few parameters", line: "JOIN", allowed: &[461] },
    Wrong { about: "462 registered already", line: "USER again 0 * :again", allowed: &[462] },
];

/// Lines that are sent before registration.
const UNREGISTERED: &[Wrong] = &[
    Wrong { about: "451 not registered", line: "JOIN {other}", allowed: &[451] },
    Wrong { about: "461 USER too short", line: "USER short", allowed: &[461] },
];

pub(super) fn checks() -> Vec<Check> {
    let registered = REGISTERED.iter().map(|case| named(case, move |net| check_registered(net, case)));
    let outside = Check::new(
        "errors: 404 cannot send",
        "404 (or 403, 442) for a room that was not joined, or delivery to the room",
        from_outside,
    );
    let unregistered = UNREGISTERED.iter().map(|case| named(case, move |net| check_unregistered(net, case)));
    registered.chain([outside]).chain(unregistered).collect()
}

fn named(case: &Wrong, run: impl Fn(&Rc<Net>) -> Checked + 'static) -> Check {
    let numerics: Vec<String> = case.allowed.iter().map(u16::to_string).collect();
    let name = format!("errors: {}", case.about);
    Check::new(&name, &format!("`{}` is answered by {}", case.line, numerics.join(" or ")), run)
}

fn check_registered(net: &Rc<Net>, case: &Wrong) -> Checked {
    let (room, other) = (net.room(), net.room());
    let [client, member, stranger] = [net.user()?, net.user()?, net.user()?];
    client.join(&room)?;
    member.join(&room)?;
    stranger.join(&other)?;
    member.fence()?;
    let nobody = net.nick();
    let line = case.line.replace("{room}", &room).replace("{other}", &other).replace("{nobody}", &nobody);
    client.send_line(&line);
    let answers = client.fence()?;
    for neighbour in [&member, &stranger] {
        if let Some(line) = neighbour.fence()?.first() {
            return wrong(format!("{} received {line}", neighbour.nick));
        }
    }
    exchange_messages(&room, &client, &member)?;
    match answers.iter().find(|line| line.is_error()) {
        Some(answer) => allowed(answer, case),
        None => wrong("no error"),
    }
}

fn check_unregistered(net: &Rc<Net>, case: &Wrong) -> Checked {
    let mut client = net.connect()?;
    client.send_line(&case.line.replace("{other}", &net.room()));
    let answer = client.wait_for("error", |line| line.is_error() || line.is("ERROR"))?;
    let seen = allowed(&answer, case)?;
    client.register(&net.nick())?;
    Ok(seen)
}

fn allowed(answer: &Line, case: &Wrong) -> Checked {
    if answer.numeric().is_some_and(|numeric| case.allowed.contains(&numeric)) {
        Ok(answer.to_string())
    } else {
        wrong(answer.to_string())
    }
}

/// A room without mode `n` is open to messages from outside. A server that neither delivers nor refuses fails.
fn from_outside(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let members = net.users_in(&room, 2)?;
    members.iter().try_for_each(|member| member.fence().map(drop))?;
    let outsider = net.user()?;
    outsider.send_line(&format!("PRIVMSG {room} :from outside"));
    let answers = outsider.fence()?;
    if let Some(answer) = answers.iter().find(|line| line.is_error()) {
        let seen = match answer.numeric() {
            Some(403 | 404 | 442) => Ok(answer.to_string()),
            _ => wrong(answer.to_string()),
        };
        exchange_messages(&room, &members[0], &members[1])?;
        return seen;
    }
    for member in &members {
        let line = member.wait_for("message, and no error either", |line| line.is("PRIVMSG"))?;
        if !line.is_from(&outsider.nick, "PRIVMSG") {
            return wrong(line.to_string());
        }
    }
    Ok("delivered to the room".into())
}
