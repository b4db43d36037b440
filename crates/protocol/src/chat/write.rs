//! Appends the lines of a client to a buffer. The caller ensures valid arguments: no CR, LF or NUL, no space in a
//! single word, and a line of at most [`LINE_MAX`](crate::chat::frame::LINE_MAX) bytes.

/// Appends `PASS :<password>`, the password of the server, before NICK.
pub fn pass(out: &mut Vec<u8>, password: &[u8]) {
    line(out, &[b"PASS :", password]);
}

/// Appends `NICK <nick>`, which claims or changes a nick.
pub fn nick(out: &mut Vec<u8>, nick: &[u8]) {
    line(out, &[b"NICK ", nick]);
}

/// Appends `USER <user> 0 * :<real name>`, which registers together with NICK.
pub fn user(out: &mut Vec<u8>, user: &[u8], real_name: &[u8]) {
    line(out, &[b"USER ", user, b" 0 * :", real_name]);
}

/// Appends `JOIN <channel>`; the channel includes its `#`.
pub fn join(out: &mut Vec<u8>, channel: &[u8]) {
    line(out, &[b"JOIN ", channel]);
}

/// Appends `PRIVMSG <target> :<text>`; the target is a channel or a nick.
pub fn privmsg(out: &mut Vec<u8>, target: &[u8], text: &[u8]) {
    line(out, &[b"PRIVMSG ", target, b" :", text]);
}

/// Appends `PONG :<token>`, with the token of the PING that it answers.
pub fn pong(out: &mut Vec<u8>, token: &[u8]) {
    line(out, &[b"PONG :", token]);
}

/// Appends `QUIT` without a reason; the server answers with ERROR and closes.
pub fn quit(out: &mut Vec<u8>) {
    line(out, &[b"QUIT"]);
}

fn line(out: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(b"\r\n");
}
