//! IRC, as `docs/reference/protocol.md` describes it.

use std::ops::Deref;

use klatch_chat::write;

use crate::protocol::{News, Protocol, Seat, Speaker, decimal, line, split};

/// Digits of the largest user number.
const DIGITS_MAX: usize = 4;

/// One user on an IRC server.
pub(crate) struct Irc {
    seat: Seat,
    /// What a message to the room begins with: `PRIVMSG #klatch-12 :`.
    said_head: Head<{ b"PRIVMSG #klatch-65535 :".len() }>,
    /// What a line of a member of the room begins with: `:r12u`.
    line_head: Head<{ b":r65535u".len() }>,
}

/// A few bytes that stand in the user itself: a hundred thousand users need no memory besides.
struct Head<const MAX: usize> {
    bytes: [u8; MAX],
    length: u8,
}

impl<const MAX: usize> Head<MAX> {
    fn new(text: &str) -> Head<MAX> {
        let mut bytes = [0; MAX];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Head { bytes, length: text.len() as u8 }
    }
}

impl<const MAX: usize> Deref for Head<MAX> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Irc {
    fn channel(&self) -> &[u8] {
        &self.said_head[b"PRIVMSG ".len()..self.said_head.len() - b" :".len()]
    }

    /// `:r12u7!user@host PRIVMSG #klatch-12 :text`, a member's message as every server writes it, which comes in millions.
    fn delivery<'a>(&self, line: &'a [u8]) -> Option<News<'a>> {
        let rest = line.strip_prefix(&*self.line_head)?;
        let end = rest.iter().take(DIGITS_MAX + 1).position(|&byte| byte == b'!')?;
        let user = number(&rest[..end]).filter(|&user| user < self.seat.users)?;
        let (_, rest) = split(&rest[end..], b' ')?;
        Some(News::Said(Speaker::Member(user), rest.strip_prefix(&*self.said_head)?))
    }

    fn speaker<'a>(&self, nick: &'a [u8]) -> Speaker<'a> {
        let digits = nick.strip_prefix(&self.line_head[1..]);
        match digits.and_then(number).filter(|&user| user < self.seat.users) {
            Some(user) => Speaker::Member(user),
            None => Speaker::Stranger(nick),
        }
    }

    /// `:nick!user@host PRIVMSG #channel :text` in whatever form.
    fn said<'a>(&self, prefix: &'a [u8], params: &'a [u8]) -> News<'a> {
        let Some((to, text)) = split(params, b' ') else { return News::Nothing };
        let text = text.strip_prefix(b":").unwrap_or(text);
        match to {
            to if to == self.channel() => News::Said(self.speaker(nick_of(prefix)), text),
            // What belongs into another room: its text shows that.
            [b'#', ..] => News::Said(Speaker::Untold, text),
            _ => News::Nothing,
        }
    }

    /// Whoever of these nicks is not of the crowd.
    fn stranger_of<'a>(&self, mut nicks: impl Iterator<Item = &'a [u8]>) -> News<'a> {
        let stranger = nicks.find(|nick| matches!(self.speaker(nick), Speaker::Stranger(_)));
        stranger.map_or(News::Nothing, News::Stranger)
    }

    fn numeric<'a>(&self, code: &[u8], line: &'a [u8], params: &'a [u8], out: &mut Vec<u8>) -> News<'a> {
        match code {
            b"001" => {
                write::join(out, self.channel());
                News::Nothing
            }
            b"353" => {
                let names =
                    params.iter().position(|&byte| byte == b':').map_or(&params[..0], |at| &params[at + 1..]);
                let bare = names.split(|&byte| byte == b' ').map(without_rank);
                self.stranger_of(bare.filter(|nick| !nick.is_empty()))
            }
            b"366" => News::Joined,
            // No message of the day is no refusal.
            b"422" => News::Nothing,
            [b'4' | b'5', ..] => News::Refused(line),
            _ => News::Nothing,
        }
    }
}

impl Protocol for Irc {
    fn new(seat: Seat) -> Irc {
        let said_head = Head::new(&format!("PRIVMSG #klatch-{} :", seat.room));
        let line_head = Head::new(&format!(":r{}u", seat.room));
        Irc { seat, said_head, line_head }
    }

    fn hello(&self, out: &mut Vec<u8>) {
        let nick = format!("r{}u{}", self.seat.room, self.seat.user);
        write::nick(out, nick.as_bytes());
        write::user(out, nick.as_bytes(), b"klatch");
    }

    fn say(&self, out: &mut Vec<u8>, _: usize, text: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.said_head);
        text(out);
        out.extend_from_slice(b"\r\n");
    }

    fn bye(&self, out: &mut Vec<u8>) {
        write::quit(out);
    }

    fn hear<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Option<(usize, News<'a>)> {
        let (line, taken) = line(input)?;
        Some((taken, self.delivery(line).unwrap_or_else(|| self.line(line, out))))
    }
}

impl Irc {
    fn line<'a>(&self, line: &'a [u8], out: &mut Vec<u8>) -> News<'a> {
        let Some(prefixed) = line.strip_prefix(b":") else {
            let (command, params) = split(line, b' ').unwrap_or((line, b""));
            return match command {
                b"PING" => {
                    write::pong(out, params.strip_prefix(b":").unwrap_or(params));
                    News::Nothing
                }
                b"ERROR" => News::Closing(line),
                _ => News::Nothing,
            };
        };
        let Some((prefix, rest)) = split(prefixed, b' ') else { return News::Nothing };
        let (command, params) = split(rest, b' ').unwrap_or((rest, b""));
        match command {
            b"PRIVMSG" => self.said(prefix, params),
            b"JOIN" => self.stranger_of(std::iter::once(nick_of(prefix))),
            // Some servers put their name in front.
            b"PING" | b"ERROR" => self.line(rest, out),
            [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9'] => self.numeric(command, line, params, out),
            _ => News::Nothing,
        }
    }
}

/// A nick without the marks of rank that NAMES puts in front.
fn without_rank(name: &[u8]) -> &[u8] {
    let marks = name.iter().take_while(|byte| b"~&@%+".contains(byte)).count();
    &name[marks..]
}

fn nick_of(prefix: &[u8]) -> &[u8] {
    split(prefix, b'!').map_or(prefix, |(nick, _)| nick)
}

/// A user's number as it stands in a nick: without leading zeros.
fn number(digits: &[u8]) -> Option<u32> {
    let plain = digits.len() == 1 || !digits.starts_with(b"0");
    decimal(digits).filter(|_| plain).map(|number| number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(line: &str) -> (News<'_>, String) {
        let mut out = Vec::new();
        let mut irc = Irc::new(Seat { room: 12, user: 3, users: 20 });
        let (taken, news) = irc.hear(line.as_bytes(), &mut out).expect("a whole line");
        assert_eq!(taken, line.len());
        (news, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_message_of_a_member_and_one_of_a_stranger() {
        let (news, _) = hear(":r12u19!r12u19@127.0.0.1 PRIVMSG #klatch-12 :hello there\r\n");
        assert_eq!(news, News::Said(Speaker::Member(19), b"hello there"));
        let (news, _) = hear(":r12u20!x@y PRIVMSG #klatch-12 :hi\r\n");
        assert_eq!(news, News::Said(Speaker::Stranger(b"r12u20"), b"hi"));
        let (news, _) = hear(":r12u03!x@y PRIVMSG #klatch-12 :hi\r\n");
        assert_eq!(news, News::Said(Speaker::Stranger(b"r12u03"), b"hi"));
        assert_eq!(hear(":irssi!x@y PRIVMSG r12u3 :psst\r\n").0, News::Nothing);
        let (news, _) = hear(":r1u0!x@y PRIVMSG #klatch-1 :astray\r\n");
        assert_eq!(news, News::Said(Speaker::Untold, b"astray"));
    }

    #[test]
    fn registering_and_joining() {
        assert_eq!(hear(":srv 001 r12u3 :Welcome\r\n"), (News::Nothing, "JOIN #klatch-12\r\n".into()));
        assert_eq!(hear(":srv 366 r12u3 #klatch-12 :End of /NAMES list.\r\n").0, News::Joined);
        assert_eq!(hear(":srv 353 r12u3 = #klatch-12 :@r12u0 +r12u1 r12u3\r\n").0, News::Nothing);
        assert_eq!(hear(":srv 353 r12u3 = #klatch-12 :@r12u0 @eve\r\n").0, News::Stranger(b"eve"));
        assert_eq!(hear(":eve!e@h JOIN #klatch-12\r\n").0, News::Stranger(b"eve"));
    }

    #[test]
    fn pings_are_answered_and_refusals_told() {
        assert_eq!(hear("PING :abc\r\n").1, "PONG :abc\r\n");
        assert_eq!(hear(":srv PING srv\n").1, "PONG :srv\r\n");
        let line = ":srv 433 * r12u3 :Nickname is already in use.\r\n";
        assert_eq!(hear(line).0, News::Refused(line.trim_end().as_bytes()));
        assert_eq!(hear("ERROR :Closing link\r\n").0, News::Closing(b"ERROR :Closing link"));
        assert_eq!(hear(":srv 422 r12u3 :MOTD File is missing\r\n").0, News::Nothing);
    }

    #[test]
    fn half_a_line_waits_and_odd_lines_are_nothing() {
        let mut irc = Irc::new(Seat { room: 1, user: 0, users: 2 });
        assert_eq!(irc.hear(b":r1u1!x PRIVMSG #klatch-1 :h", &mut Vec::new()), None);
        for line in ["\r\n", ":\r\n", ":x\r\n", ": PRIVMSG\r\n", "PRIVMSG\r\n", ":x PRIVMSG #klatch-12\r\n"] {
            assert_eq!(hear(line), (News::Nothing, String::new()), "{line:?}");
        }
    }
}
