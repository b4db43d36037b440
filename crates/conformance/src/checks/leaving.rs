//! However a user leaves, the other members are notified.

use std::rc::Rc;

use super::Check;
use super::messages::exchange_messages;
use crate::finding::{Checked, wrong};
use crate::irc::{Client, Net};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "leaving: QUIT",
            "members who share one room or two get the QUIT once; the connection is closed",
            |net| leave(net, quit),
        ),
        Check::new(
            "leaving: half-closed",
            "the end of input is a QUIT to the others; the server closes too",
            |net| leave(net, close_half),
        ),
        Check::new("leaving: reset", "a broken connection is a QUIT to the others", |net| {
            leave(net, |client| client.reset())
        }),
    ]
}

fn leave(net: &Rc<Net>, how: impl Fn(Client) -> Checked<()>) -> Checked {
    let (one, other) = (net.room(), net.room());
    let mut users = net.users_in(&one, 3)?;
    users.iter().try_for_each(|user| user.join(&other))?;
    let leaver = users.pop().expect("3");
    let nick = leaver.nick.clone();
    how(leaver)?;
    for user in &users {
        user.wait_for("QUIT", |line| line.is_from(&nick, "QUIT"))?;
    }
    for user in &users {
        if let Some(line) = user.fence()?.iter().find(|line| line.nick() == Some(nick.as_bytes())) {
            return wrong(format!("{} also received {line}", user.nick));
        }
    }
    exchange_messages(&one, &users[0], &users[1])?;
    Ok("one QUIT to each of the others".into())
}

fn quit(client: Client) -> Checked<()> {
    client.send_line("QUIT :bye");
    client.wait_for_close().map(drop)
}

fn close_half(client: Client) -> Checked<()> {
    client.close_half()?;
    client.wait_for_close().map(drop)
}
