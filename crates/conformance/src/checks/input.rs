//! Input that is cut strangely or should not be: a defined answer for who sends it, and nothing for anybody else.

use std::rc::Rc;

use super::Check;
use super::speech::{Ledger, burst, go_on, hear_from, text};
use crate::finding::{Checked, Trouble, wrong};
use crate::wire::{Client, Line, Net};

const LINES: usize = 100;

pub(super) fn checks() -> Vec<Check> {
    let too_long = "417, or the text is cut, or the connection is closed; the others go on";
    vec![
        Check::new("input: line of 1,000 bytes", too_long, |net| too_long_by(net, 1_000)),
        Check::new("input: line of 100,000 bytes", too_long, |net| too_long_by(net, 100_000)),
        Check::new("input: NUL", "nobody gets the NUL; the others go on", nul),
        Check::new(
            "input: half a line",
            "half a line, or a connection that says nothing, keeps nobody waiting; the rest completes the line",
            half_a_line,
        ),
        Check::new(
            "input: many lines in one segment",
            "100 messages in one segment are 100 messages, in order",
            many_lines,
        ),
        Check::new(
            "input: one line in many segments",
            "a line that comes byte by byte is one line",
            many_segments,
        ),
    ]
}

/// What the others saw of a line that a server need not take.
enum Seen {
    /// This text.
    Text(Vec<u8>),
    /// Its speaker was closed.
    Closed,
    /// Nothing.
    Nothing,
}

/// One user says `line` and then an honest message; what another one hears until then. Two others go on.
fn odd_line(net: &Rc<Net>, line: impl Fn(&str) -> Vec<u8>) -> Checked<(Client, Seen)> {
    let room = net.room();
    let mut users = net.users_in(&room, 3)?;
    let odd = users.pop().expect("3");
    odd.send(&line(&room));
    odd.say(&format!("PRIVMSG {room} :after"));
    let mut seen = Seen::Nothing;
    loop {
        let heard = |line: &Line| line.is("PRIVMSG") || line.is_from(&odd.nick, "QUIT");
        let line = users[0].hear("message or QUIT", heard).or_else(|trouble| match trouble {
            Trouble::Wrong(seen) => wrong(format!("the session hangs: {seen}")),
            other => Err(other),
        })?;
        match line.param(1) {
            _ if line.is("QUIT") => seen = Seen::Closed,
            Some(b"after") => {}
            Some(text) if matches!(seen, Seen::Nothing) => {
                seen = Seen::Text(text.to_vec());
                continue;
            }
            _ => return wrong(format!("{} also heard {line}", users[0].nick)),
        }
        break;
    }
    let is_odd = |line: &Line| line.is_from(&odd.nick, "PRIVMSG") || line.is_from(&odd.nick, "QUIT");
    // The other one hears the same; it is not looked at again.
    let last = |line: &Line| is_odd(line) && (line.is("QUIT") || line.param(1) == Some(b"after"));
    users[1].hear("message or QUIT", last)?;
    go_on(&room, &users[0], &users[1])?;
    Ok((odd, seen))
}

fn too_long_by(net: &Rc<Net>, size: usize) -> Checked {
    let (odd, seen) = odd_line(net, |room| {
        let mut line = format!("PRIVMSG {room} :").into_bytes();
        line.resize(size - 2, b'x');
        line.extend_from_slice(b"\r\n");
        line
    })?;
    match seen {
        Seen::Closed => Ok("the connection is closed".into()),
        Seen::Text(text) if text.iter().all(|&byte| byte == b'x') => {
            Ok(format!("the text is cut to {} bytes", text.len()))
        }
        Seen::Text(text) => wrong(format!("`{}` was heard", text.escape_ascii())),
        Seen::Nothing => match odd.fence()?.iter().find(|line| line.is("417")) {
            Some(answer) => Ok(answer.to_string()),
            None => wrong("the line is lost without a word"),
        },
    }
}

fn nul(net: &Rc<Net>) -> Checked {
    let (_, seen) = odd_line(net, |room| format!("PRIVMSG {room} :before\0behind\r\n").into_bytes())?;
    match seen {
        Seen::Closed => Ok("the connection is closed".into()),
        Seen::Text(text) if text.contains(&0) => wrong(format!("`{}` was heard", text.escape_ascii())),
        Seen::Text(text) => Ok(format!("`{}` was heard", text.escape_ascii())),
        Seen::Nothing => Ok("the line is ignored".into()),
    }
}

fn half_a_line(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let users = net.users_in(&room, 3)?;
    let _silent = net.connect()?;
    users[2].send(format!("PRIVMSG {room} :half").as_bytes());
    for _ in 0..10 {
        go_on(&room, &users[0], &users[1])?;
    }
    users[2].send(b" and half\r\n");
    for listener in &users[..2] {
        hear_from(listener, &users[2], &room, "half and half")?;
    }
    Ok("20 messages meanwhile, then the line".into())
}

fn many_lines(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let users = net.users_in(&room, 2)?;
    let speaker = [users[0].nick.clone()];
    users[0].send(&burst(&room, 0, 0, LINES));
    let mut ledger = Ledger::new(&room, &speaker, &users[1]);
    ledger.hear_all(LINES)?;
    ledger.close()?;
    Ok(format!("{LINES} messages"))
}

fn many_segments(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let users = net.users_in(&room, 2)?;
    let line = format!("PRIVMSG {room} :{}", text(0, 1));
    for byte in line.as_bytes() {
        users[0].send(&[*byte]);
        // Meanwhile the server has had to read again.
        users[1].fence()?;
    }
    users[0].send(b"\r");
    users[0].send(b"\n");
    hear_from(&users[1], &users[0], &room, &text(0, 1))?;
    Ok(format!("{} segments, one message", line.len() + 2))
}
