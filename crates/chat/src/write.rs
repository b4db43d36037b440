//! A client's lines, appended to a buffer. What is given must fit: no CR, LF or NUL, no space where a word is meant,
//! and a line of at most [`LINE_MAX`](crate::frame::LINE_MAX) bytes.

/// `NICK <nick>`
pub fn nick(out: &mut Vec<u8>, nick: &[u8]) {
    line(out, &[b"NICK ", nick]);
}

/// `USER <user> 0 * :<real name>`
pub fn user(out: &mut Vec<u8>, user: &[u8], real_name: &[u8]) {
    line(out, &[b"USER ", user, b" 0 * :", real_name]);
}

/// `JOIN <channel>`
pub fn join(out: &mut Vec<u8>, channel: &[u8]) {
    line(out, &[b"JOIN ", channel]);
}

/// `PRIVMSG <target> :<text>`
pub fn privmsg(out: &mut Vec<u8>, target: &[u8], text: &[u8]) {
    line(out, &[b"PRIVMSG ", target, b" :", text]);
}

/// `PONG :<token>`
pub fn pong(out: &mut Vec<u8>, token: &[u8]) {
    line(out, &[b"PONG :", token]);
}

/// `QUIT`
pub fn quit(out: &mut Vec<u8>) {
    line(out, &[b"QUIT"]);
}

fn line(out: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(b"\r\n");
}
