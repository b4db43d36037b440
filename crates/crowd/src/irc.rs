//! IRC, as `docs/reference/protocol.md` describes it.

use std::ops::Deref;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use klatch_protocol::chat::write;
use klatch_record::Login;

use crate::protocol::{Credentials, Protocol, ServerEvent, Speaker, UserId, decimal, line, split};

/// Bytes of Base64 in a line of SASL.
const SASL_LINE: usize = 400;

/// Digits of the largest user number.
const DIGITS_MAX: usize = 4;

/// One user on an IRC server.
pub(crate) struct Irc {
    id: UserId,
    login: Credentials,
    /// The start of a message to the room: `PRIVMSG #klatch-12 :`.
    message_prefix: InlineBytes<{ b"PRIVMSG #klatch-65535 :".len() }>,
    /// The start of a line from a member of the room: `:r12u`.
    member_prefix: InlineBytes<{ b":r65535u".len() }>,
}

/// A short string stored in the user itself: with a hundred thousand users, an allocation for each would cost memory.
struct InlineBytes<const MAX: usize> {
    bytes: [u8; MAX],
    length: u8,
}

impl<const MAX: usize> InlineBytes<MAX> {
    fn new(text: &str) -> InlineBytes<MAX> {
        let mut bytes = [0; MAX];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        InlineBytes { bytes, length: text.len() as u8 }
    }
}

impl<const MAX: usize> Deref for InlineBytes<MAX> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Irc {
    fn channel(&self) -> &[u8] {
        &self.message_prefix[b"PRIVMSG ".len()..self.message_prefix.len() - b" :".len()]
    }

    /// Parses `:r12u7!user@host PRIVMSG #klatch-12 :text`, the form in which every server delivers messages. This is the
    /// fast path.
    fn delivery<'a>(&self, line: &'a [u8]) -> Option<ServerEvent<'a>> {
        let rest = line.strip_prefix(&*self.member_prefix)?;
        let end = rest.iter().take(DIGITS_MAX + 1).position(|&byte| byte == b'!')?;
        let user = number(&rest[..end]).filter(|&user| user < self.id.users)?;
        let (_, rest) = split(&rest[end..], b' ')?;
        Some(ServerEvent::Message(Speaker::Member(user), rest.strip_prefix(&*self.message_prefix)?))
    }

    fn speaker<'a>(&self, nick: &'a [u8]) -> Speaker<'a> {
        let digits = nick.strip_prefix(&self.member_prefix[1..]);
        match digits.and_then(number).filter(|&user| user < self.id.users) {
            Some(user) => Speaker::Member(user),
            None => Speaker::Stranger(nick),
        }
    }

    /// Parses `:nick!user@host PRIVMSG #channel :text` in any other form.
    fn message<'a>(&self, prefix: &'a [u8], params: &'a [u8]) -> ServerEvent<'a> {
        let Some((to, text)) = split(params, b' ') else { return ServerEvent::Ignored };
        let text = text.strip_prefix(b":").unwrap_or(text);
        match to {
            to if to == self.channel() => ServerEvent::Message(self.speaker(nick_of(prefix)), text),
            // A message of another room; its text shows which.
            [b'#', ..] => ServerEvent::Message(Speaker::Unknown, text),
            _ => ServerEvent::Ignored,
        }
    }

    /// The first of these nicks that is outside the crowd.
    fn first_stranger<'a>(&self, mut nicks: impl Iterator<Item = &'a [u8]>) -> ServerEvent<'a> {
        let stranger = nicks.find(|nick| matches!(self.speaker(nick), Speaker::Stranger(_)));
        stranger.map_or(ServerEvent::Ignored, ServerEvent::Stranger)
    }

    fn numeric<'a>(
        &self,
        code: &[u8],
        line: &'a [u8],
        params: &'a [u8],
        out: &mut Vec<u8>,
    ) -> ServerEvent<'a> {
        match code {
            b"001" => {
                write::join(out, self.channel());
                ServerEvent::Ignored
            }
            b"353" => {
                let names =
                    params.iter().position(|&byte| byte == b':').map_or(&params[..0], |at| &params[at + 1..]);
                let nicks = names.split(|&byte| byte == b' ').map(without_rank);
                self.first_stranger(nicks.filter(|nick| !nick.is_empty()))
            }
            b"366" => ServerEvent::Joined,
            // A missing message of the day is not a refusal.
            b"422" => ServerEvent::Ignored,
            // Neither is the request to wait while a server looks up a new client, which it calls `*`.
            b"439" if params.starts_with(b"* ") => ServerEvent::Ignored,
            // Logged in by SASL: registration goes on.
            b"903" => {
                out.extend_from_slice(b"CAP END\r\n");
                ServerEvent::Ignored
            }
            b"902" | b"904" | b"905" | b"906" | b"908" => ServerEvent::Refused(line),
            [b'4' | b'5', ..] => ServerEvent::Refused(line),
            _ => ServerEvent::Ignored,
        }
    }
}

impl Protocol for Irc {
    type Terms = Credentials;

    fn new(id: UserId, login: &Credentials) -> Irc {
        let message_prefix = InlineBytes::new(&format!("PRIVMSG #klatch-{} :", id.room));
        let member_prefix = InlineBytes::new(&format!(":r{}u", id.room));
        Irc { id, login: login.clone(), message_prefix, member_prefix }
    }

    fn write_handshake(&self, out: &mut Vec<u8>) {
        let nick = format!("r{}u{}", self.id.room, self.id.user);
        match self.login.as_deref() {
            None => {}
            Some(Login { user: Some(_), .. }) => out.extend_from_slice(b"CAP REQ :sasl\r\n"),
            // A password alone is that of the server.
            Some(Login { user: None, password }) => {
                write::pass(out, password.as_deref().unwrap_or_default().as_bytes());
            }
        }
        write::nick(out, nick.as_bytes());
        write::user(out, nick.as_bytes(), b"klatch");
    }

    fn write_message(&mut self, out: &mut Vec<u8>, _: usize, text: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.message_prefix);
        text(out);
        out.extend_from_slice(b"\r\n");
    }

    fn write_quit(&self, out: &mut Vec<u8>) {
        write::quit(out);
    }

    fn parse<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Option<(usize, ServerEvent<'a>)> {
        let (line, taken) = line(input)?;
        Some((taken, self.delivery(line).unwrap_or_else(|| self.line(line, out))))
    }
}

impl Irc {
    fn line<'a>(&self, line: &'a [u8], out: &mut Vec<u8>) -> ServerEvent<'a> {
        let Some(prefixed) = line.strip_prefix(b":") else {
            let (command, params) = split(line, b' ').unwrap_or((line, b""));
            return match command {
                b"PING" => {
                    write::pong(out, params.strip_prefix(b":").unwrap_or(params));
                    ServerEvent::Ignored
                }
                b"ERROR" => ServerEvent::Closing(line),
                b"AUTHENTICATE" => self.authenticate(out),
                // Such as HTTP/1.1 or SSH-2.0: a command of IRC is a word or a number.
                other if !other.iter().all(u8::is_ascii_alphanumeric) => ServerEvent::Refused(line),
                _ => ServerEvent::Ignored,
            };
        };
        let Some((prefix, rest)) = split(prefixed, b' ') else { return ServerEvent::Ignored };
        let (command, params) = split(rest, b' ').unwrap_or((rest, b""));
        match command {
            b"PRIVMSG" => self.message(prefix, params),
            b"JOIN" => self.first_stranger(std::iter::once(nick_of(prefix))),
            b"QUIT" | b"PART" => match self.speaker(nick_of(prefix)) {
                Speaker::Member(user) => ServerEvent::Left(user),
                Speaker::Stranger(_) | Speaker::Unknown => ServerEvent::Ignored,
            },
            b"CAP" => self.capabilities(line, params, out),
            // Some servers prefix these commands with their name.
            b"PING" | b"ERROR" | b"AUTHENTICATE" => self.line(rest, out),
            [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9'] => self.numeric(command, line, params, out),
            _ => ServerEvent::Ignored,
        }
    }
}

impl Irc {
    /// The answer to `CAP REQ :sasl`.
    fn capabilities<'a>(&self, line: &'a [u8], params: &[u8], out: &mut Vec<u8>) -> ServerEvent<'a> {
        let answer = params.split(|&byte| byte == b' ').nth(1);
        match answer.filter(|_| self.login.is_some()) {
            Some(b"ACK") => {
                out.extend_from_slice(b"AUTHENTICATE PLAIN\r\n");
                ServerEvent::Ignored
            }
            Some(b"NAK") => ServerEvent::Refused(line),
            _ => ServerEvent::Ignored,
        }
    }

    /// User and password by SASL PLAIN, RFC 4616, in lines of 400 bytes; a last line that is full is followed by `+`.
    fn authenticate<'a>(&self, out: &mut Vec<u8>) -> ServerEvent<'a> {
        if let Some(Login { user: Some(user), password }) = self.login.as_deref() {
            let plain = format!("{user}\0{user}\0{}", password.as_deref().unwrap_or_default());
            let text = BASE64.encode(plain);
            let lines = text.as_bytes().chunks(SASL_LINE);
            let end = (text.len() % SASL_LINE == 0).then_some(&b"+"[..]);
            for line in lines.chain(end) {
                out.extend_from_slice(&[b"AUTHENTICATE ", line, b"\r\n"].concat());
            }
        }
        ServerEvent::Ignored
    }
}

/// A nick without the rank prefixes that NAMES adds.
fn without_rank(name: &[u8]) -> &[u8] {
    let marks = name.iter().take_while(|byte| b"~&@%+".contains(byte)).count();
    &name[marks..]
}

fn nick_of(prefix: &[u8]) -> &[u8] {
    split(prefix, b'!').map_or(prefix, |(nick, _)| nick)
}

/// Parses a user's number in a nick. Leading zeros are not allowed.
fn number(digits: &[u8]) -> Option<u32> {
    let plain = digits.len() == 1 || !digits.starts_with(b"0");
    decimal(digits).filter(|_| plain).map(|number| number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> (ServerEvent<'_>, String) {
        let mut out = Vec::new();
        let mut irc = Irc::new(UserId { room: 12, user: 3, users: 20 }, &None);
        let (taken, event) = irc.parse(line.as_bytes(), &mut out).expect("a whole line");
        assert_eq!(taken, line.len());
        (event, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_message_of_a_member_and_one_of_a_stranger() {
        let (event, _) = parse(":r12u19!r12u19@127.0.0.1 PRIVMSG #klatch-12 :hello there\r\n");
        assert_eq!(event, ServerEvent::Message(Speaker::Member(19), b"hello there"));
        let (event, _) = parse(":r12u20!x@y PRIVMSG #klatch-12 :hi\r\n");
        assert_eq!(event, ServerEvent::Message(Speaker::Stranger(b"r12u20"), b"hi"));
        let (event, _) = parse(":r12u03!x@y PRIVMSG #klatch-12 :hi\r\n");
        assert_eq!(event, ServerEvent::Message(Speaker::Stranger(b"r12u03"), b"hi"));
        assert_eq!(parse(":irssi!x@y PRIVMSG r12u3 :psst\r\n").0, ServerEvent::Ignored);
        let (event, _) = parse(":r1u0!x@y PRIVMSG #klatch-1 :astray\r\n");
        assert_eq!(event, ServerEvent::Message(Speaker::Unknown, b"astray"));
    }

    #[test]
    fn registering_and_joining() {
        assert_eq!(
            parse(":srv 001 r12u3 :Welcome\r\n"),
            (ServerEvent::Ignored, "JOIN #klatch-12\r\n".into())
        );
        assert_eq!(parse(":srv 366 r12u3 #klatch-12 :End of /NAMES list.\r\n").0, ServerEvent::Joined);
        assert_eq!(parse(":srv 353 r12u3 = #klatch-12 :@r12u0 +r12u1 r12u3\r\n").0, ServerEvent::Ignored);
        assert_eq!(parse(":srv 353 r12u3 = #klatch-12 :@r12u0 @eve\r\n").0, ServerEvent::Stranger(b"eve"));
        assert_eq!(parse(":eve!e@h JOIN #klatch-12\r\n").0, ServerEvent::Stranger(b"eve"));
        assert_eq!(parse(":r12u4!u@h QUIT :Connection closed\r\n").0, ServerEvent::Left(4));
        assert_eq!(parse(":r12u4!u@h PART #klatch-12\r\n").0, ServerEvent::Left(4));
        assert_eq!(parse(":eve!e@h QUIT\r\n").0, ServerEvent::Ignored);
    }

    /// What a user with this login says first, and to each of these lines.
    fn said(login: Login, lines: &[&str]) -> Vec<String> {
        let mut irc = Irc::new(UserId { room: 12, user: 3, users: 20 }, &Some(login.into()));
        let mut out = Vec::new();
        irc.write_handshake(&mut out);
        let mut all = vec![String::from_utf8(std::mem::take(&mut out)).unwrap()];
        for line in lines {
            irc.parse(format!("{line}\r\n").as_bytes(), &mut out);
            all.push(String::from_utf8(std::mem::take(&mut out)).unwrap());
        }
        all
    }

    #[test]
    fn users_log_in_with_sasl_and_servers_have_a_password() {
        let login = |user: Option<&str>, password: &str| Login {
            user: user.map(str::to_owned),
            password: Some(password.to_owned()),
        };
        let dialogue = [":srv CAP * ACK :sasl", "AUTHENTICATE +", ":srv 903 r12u3 :SASL successful"];
        let all = said(login(Some("jilles"), "sesame"), &dialogue);
        assert!(all[0].starts_with("CAP REQ :sasl\r\nNICK r12u3\r\nUSER "), "{all:?}");
        // The example of the specification of SASL in IRCv3.
        let plain = "AUTHENTICATE amlsbGVzAGppbGxlcwBzZXNhbWU=\r\n";
        assert_eq!(all[1..], ["AUTHENTICATE PLAIN\r\n", plain, "CAP END\r\n"]);
        assert!(said(login(None, "door"), &[])[0].starts_with("PASS :door\r\nNICK r12u3\r\n"));
        // 2 × 1 + 2 + 296 bytes are 400 of Base64.
        let full = &said(login(Some("u"), &"x".repeat(296)), &["AUTHENTICATE +"])[1];
        assert!(
            full.len() == 2 * "AUTHENTICATE \r\n".len() + 401 && full.ends_with("AUTHENTICATE +\r\n"),
            "{full}"
        );
        for refusal in [":srv 904 r12u3 :SASL authentication failed", ":srv CAP * NAK :sasl"] {
            let mut irc =
                Irc::new(UserId { room: 1, user: 0, users: 2 }, &Some(login(Some("u"), "p").into()));
            let parsed = irc
                .parse(format!("{refusal}\r\n").as_bytes(), &mut Vec::new())
                .map(|(_, event)| matches!(event, ServerEvent::Refused(_)));
            assert_eq!(parsed, Some(true), "{refusal}");
        }
    }

    #[test]
    fn pings_are_answered_and_refusals_reported() {
        assert_eq!(parse("PING :abc\r\n").1, "PONG :abc\r\n");
        assert_eq!(parse(":srv PING srv\n").1, "PONG :srv\r\n");
        let line = ":srv 433 * r12u3 :Nickname is already in use.\r\n";
        assert_eq!(parse(line).0, ServerEvent::Refused(line.trim_end().as_bytes()));
        assert_eq!(parse("ERROR :Closing link\r\n").0, ServerEvent::Closing(b"ERROR :Closing link"));
        let wait = ":srv 439 * :Please wait while we process your connection.\r\n";
        assert_eq!(parse(wait).0, ServerEvent::Ignored);
        let too_fast = ":srv 439 r12u3 #klatch-12 :Target change too fast. Please wait 9 seconds.\r\n";
        assert!(matches!(parse(too_fast).0, ServerEvent::Refused(_)));
        for other in ["HTTP/1.1 400 Bad Request", "SSH-2.0-OpenSSH_9.2", "-ERR unknown command 'NICK'"] {
            assert_eq!(parse(&format!("{other}\r\n")).0, ServerEvent::Refused(other.as_bytes()));
        }
        assert_eq!(parse(":srv 422 r12u3 :MOTD File is missing\r\n").0, ServerEvent::Ignored);
    }

    #[test]
    fn an_incomplete_line_waits_and_odd_lines_are_ignored() {
        let mut irc = Irc::new(UserId { room: 1, user: 0, users: 2 }, &None);
        assert_eq!(irc.parse(b":r1u1!x PRIVMSG #klatch-1 :h", &mut Vec::new()), None);
        for line in ["\r\n", ":\r\n", ":x\r\n", ": PRIVMSG\r\n", "PRIVMSG\r\n", ":x PRIVMSG #klatch-12\r\n"] {
            assert_eq!(parse(line), (ServerEvent::Ignored, String::new()), "{line:?}");
        }
    }
}
