//! Registration: from a connection to a user.

use std::rc::Rc;

use super::Check;
use super::messages::exchange_messages;
use crate::finding::{Checked, wrong};
use crate::irc::{Line, Net};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "registration: welcome",
            "NICK and USER are answered by 001, 002, 003, 004 in this order, addressed to the nick, then 376 or 422",
            welcome,
        ),
        Check::new(
            "registration: CAP",
            "after CAP LS the welcome waits for CAP END, an unknown capability gets NAK; or there is no CAP at all",
            capabilities,
        ),
        Check::new("registration: PING", "a PONG with what the PING carried", ping),
        Check::new(
            "registration: nick in use",
            "433 before and after registration; both users keep a working nick",
            nick_in_use,
        ),
    ]
}

fn welcome(net: &Rc<Net>) -> Checked {
    let client = net.connect()?;
    let nick = net.nick();
    client.send_line(&format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}"));
    check_welcome_order(&client.wait_for_welcome()?, &nick)
}

fn check_welcome_order(welcome: &[Line], nick: &str) -> Checked {
    let numerics: Vec<&Line> = welcome.iter().filter(|line| line.numeric().is_some()).collect();
    let codes: Vec<u16> = numerics.iter().filter_map(|line| line.numeric()).collect();
    let seen = codes.iter().map(|code| format!("{code:03}")).collect::<Vec<_>>().join(" ");
    if !codes.starts_with(&[1, 2, 3, 4]) {
        return wrong(seen);
    }
    match numerics.iter().find(|line| !line.names(0, nick)) {
        Some(line) => wrong(format!("{line}, which is not to {nick}")),
        None => Ok(seen),
    }
}

fn capabilities(net: &Rc<Net>) -> Checked {
    let client = net.connect()?;
    let nick = net.nick();
    client.send_line(&format!("CAP LS 302\r\nNICK {nick}\r\nUSER {nick} 0 * :{nick}"));
    // A server without capabilities may refuse the command or ignore it.
    let welcome_or_cap = |line: &Line| line.is("CAP") || line.is("001");
    if !client.wait_for("answer to CAP LS, or a welcome", welcome_or_cap)?.is("CAP") {
        client.send_line("CAP END");
        client.fence()?;
        return Ok("no CAP, and a welcome without it".into());
    }
    client.send_line("CAP REQ :klatch.example/none");
    let answer = client.wait_for("answer to CAP REQ", |line| line.is("001") || nak(line))?;
    if !nak(&answer) {
        return wrong(format!("{answer} before CAP END"));
    }
    client.send_line("CAP END");
    check_welcome_order(&client.wait_for_welcome()?, &nick)
}

fn nak(line: &Line) -> bool {
    line.is("CAP") && line.names(1, "NAK")
}

fn ping(net: &Rc<Net>) -> Checked {
    let client = net.user()?;
    client.send_line("PING :k 1a2b");
    let pong = client.wait_for("PONG", |line| line.is("PONG"))?;
    if [0, 1].iter().any(|&index| pong.names(index, "k 1a2b")) {
        Ok(pong.to_string())
    } else {
        wrong(pong.to_string())
    }
}

fn nick_in_use(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let owner = net.user()?;
    owner.join(&room)?;
    let mut newcomer = net.connect()?;
    let taken = owner.nick.to_ascii_uppercase();
    newcomer.send_line(&format!("NICK {taken}\r\nUSER {taken} 0 * :{taken}"));
    newcomer.wait_for("433 for the newcomer", |line| line.is("433"))?;
    newcomer.nick = net.nick();
    newcomer.send_line(&format!("NICK {}", newcomer.nick));
    newcomer.wait_for_welcome()?;
    newcomer.join(&room)?;
    newcomer.send_line(&format!("NICK {}", owner.nick));
    newcomer.wait_for("433 for the user", |line| line.is("433"))?;
    exchange_messages(&room, &owner, &newcomer)?;
    Ok("433 twice, and both users still work".into())
}
