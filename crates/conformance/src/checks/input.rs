//! Malformed or oddly segmented input: the sender gets a defined answer, and no other user is affected.

use std::rc::Rc;

use super::Check;
use super::messages::{DeliveryChecker, burst, exchange_messages, expect_message, text};
use crate::finding::{CheckError, Checked, wrong};
use crate::irc::{Client, Line, Net};

const LINES: usize = 100;

pub(super) fn checks() -> Vec<Check> {
    let too_long = "417, or the text is cut, or the connection is closed; other users are not affected";
    vec![
        Check::new("input: line of 1,000 bytes", too_long, |net| too_long_by(net, 1_000)),
        Check::new("input: line of 100,000 bytes", too_long, |net| too_long_by(net, 100_000)),
        Check::new("input: NUL", "the NUL is not delivered; other users are not affected", nul),
        Check::new(
            "input: half a line",
            "an incomplete line or a silent connection blocks no other user; the rest completes the line",
            half_a_line,
        ),
        Check::new(
            "input: many lines in one segment",
            "100 messages in one segment are 100 messages, in order",
            many_lines,
        ),
        Check::new("input: one line in many segments", "a line sent byte by byte is one line", many_segments),
    ]
}

/// How a server handled an invalid line.
enum LineEffect {
    /// It delivered this text.
    Text(Vec<u8>),
    /// It closed the sender's connection.
    Closed,
    /// It delivered nothing of the line.
    Nothing,
}

/// One user sends `line` and then a valid message. Returns that user, and what another member received in between. The two
/// other members must still exchange messages.
fn odd_line(net: &Rc<Net>, line: impl Fn(&str) -> Vec<u8>) -> Checked<(Client, LineEffect)> {
    let room = net.room();
    let mut users = net.users_in(&room, 3)?;
    let odd = users.pop().expect("3");
    odd.send(&line(&room));
    odd.send_line(&format!("PRIVMSG {room} :after"));
    let mut seen = LineEffect::Nothing;
    loop {
        let is_effect = |line: &Line| line.is("PRIVMSG") || line.is_from(&odd.nick, "QUIT");
        let line = users[0].wait_for("message or QUIT", is_effect).or_else(|error| match error {
            CheckError::Wrong(seen) => wrong(format!("the session hangs: {seen}")),
            other => Err(other),
        })?;
        match line.param(1) {
            _ if line.is("QUIT") => seen = LineEffect::Closed,
            Some(b"after") => {}
            Some(text) if matches!(seen, LineEffect::Nothing) => {
                seen = LineEffect::Text(text.to_vec());
                continue;
            }
            _ => return wrong(format!("{} also received {line}", users[0].nick)),
        }
        break;
    }
    let is_odd = |line: &Line| line.is_from(&odd.nick, "PRIVMSG") || line.is_from(&odd.nick, "QUIT");
    // The second member receives the same lines, so only the last one is awaited.
    let last = |line: &Line| is_odd(line) && (line.is("QUIT") || line.param(1) == Some(b"after"));
    users[1].wait_for("message or QUIT", last)?;
    exchange_messages(&room, &users[0], &users[1])?;
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
        LineEffect::Closed => Ok("the connection is closed".into()),
        LineEffect::Text(text) if text.iter().all(|&byte| byte == b'x') => {
            Ok(format!("the text is cut to {} bytes", text.len()))
        }
        LineEffect::Text(text) => wrong(format!("`{}` was delivered", text.escape_ascii())),
        LineEffect::Nothing => match odd.fence()?.iter().find(|line| line.is("417")) {
            Some(answer) => Ok(answer.to_string()),
            None => wrong("the line is dropped without an error"),
        },
    }
}

fn nul(net: &Rc<Net>) -> Checked {
    let (_, seen) = odd_line(net, |room| format!("PRIVMSG {room} :before\0behind\r\n").into_bytes())?;
    match seen {
        LineEffect::Closed => Ok("the connection is closed".into()),
        LineEffect::Text(text) if text.contains(&0) => {
            wrong(format!("`{}` was delivered", text.escape_ascii()))
        }
        LineEffect::Text(text) => Ok(format!("`{}` was delivered", text.escape_ascii())),
        LineEffect::Nothing => Ok("the line is ignored".into()),
    }
}

fn half_a_line(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let users = net.users_in(&room, 3)?;
    let _silent = net.connect()?;
    users[2].send(format!("PRIVMSG {room} :half").as_bytes());
    for _ in 0..10 {
        exchange_messages(&room, &users[0], &users[1])?;
    }
    users[2].send(b" and half\r\n");
    for listener in &users[..2] {
        expect_message(listener, &users[2], &room, "half and half")?;
    }
    Ok("20 messages meanwhile, then the line".into())
}

fn many_lines(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let users = net.users_in(&room, 2)?;
    let speaker = [users[0].nick.clone()];
    users[0].send(&burst(&room, 0, 0, LINES));
    let mut checker = DeliveryChecker::new(&room, &speaker, &users[1]);
    checker.check_until(LINES)?;
    checker.finish()?;
    Ok(format!("{LINES} messages"))
}

fn many_segments(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let users = net.users_in(&room, 2)?;
    let line = format!("PRIVMSG {room} :{}", text(0, 1));
    for byte in line.as_bytes() {
        users[0].send(&[*byte]);
        // The fence makes the server read each byte alone.
        users[1].fence()?;
    }
    users[0].send(b"\r");
    users[0].send(b"\n");
    expect_message(&users[1], &users[0], &room, &text(0, 1))?;
    Ok(format!("{} segments, one message", line.len() + 2))
}
