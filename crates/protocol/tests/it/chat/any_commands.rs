//! Random commands of a few sessions: the server never panics, sends valid lines only, and is empty after all have left.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use klatch_protocol::chat::message::Message;
use klatch_protocol::chat::{Flow, Identity, ServerState, Session};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::chat::shared::Lines;

const SESSIONS: usize = 4;

impl Lines {
    fn take(&self) -> Vec<Arc<[u8]>> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn check(line: &[u8]) -> Message<'_> {
    assert!(line.len() <= 512, "{}", line.escape_ascii());
    let content = line.strip_suffix(b"\r\n").expect("CR LF at the end");
    assert!(!content.iter().any(|byte| b"\0\r\n".contains(byte)), "{}", line.escape_ascii());
    let message = Message::parse(content).expect("a command");
    assert!(message.prefix.is_some_and(|prefix| !prefix.is_empty()) || message.command == b"ERROR");
    message
}

#[derive(Clone, Debug)]
enum Step {
    Send(Vec<u8>),
    Disconnect,
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let commands = "CAP PASS NICK USER PING PONG QUIT PRIVMSG NOTICE JOIN PART TOPIC INVITE KICK NAMES LIST MODE WHO \
                    WHOIS WHOWAS USERHOST ISON AWAY MOTD LUSERS VERSION OPER KILL join Foo";
    let commands: Vec<_> = commands.split(' ').collect();
    let long = |byte: &str, count| byte.repeat(count);
    let params = vec![
        "ann".into(),
        "BOB".into(),
        "[c]".into(),
        "{C}".into(),
        long("d", 30),
        "#a".into(),
        "#B".into(),
        "#a,#b,#c".into(),
        format!("#{}", long("l", 49)),
        "ann,bob,#a".into(),
        "0".into(),
        "LS".into(),
        "REQ".into(),
        "END".into(),
        "+b".into(),
        ":".into(),
        ": x  y ".into(),
        format!(":{}", long("ü", 240)),
        format!(":x{}", long("ü", 240)),
        "klatch.test".into(),
        ",".into(),
        "".into(),
    ];
    let line = (select(commands), vec(select(params), 0..5))
        .prop_map(|(command, params)| format!("{command} {}\r\n", params.join(" ")).into_bytes());
    let fresh = select(vec!["ann", "bob", "[c]", "eve"])
        .prop_map(|nick| format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}\r\nJOIN #a,#b\r\n").into_bytes());
    let step = prop_oneof![
        20 => line.prop_map(Step::Send),
        6 => fresh.prop_map(Step::Send),
        2 => vec(any::<u8>(), 0..30).prop_map(Step::Send),
        1 => Just(Step::Disconnect),
    ];
    vec((0..SESSIONS, step), 0..60)
}

proptest! {
    #[test]
    fn any_commands_leave_the_state_consistent(steps in steps()) {
        let server = ServerState::new(Identity {
            name: "klatch.test".into(),
            version: "klatch-test".into(),
            created: "2000-01-01".into(),
            network: "Klatch".into(),
            motd: Vec::new(),
        });
        let connect = || {
            let lines = Lines::default();
            (Session::new(&server, IpAddr::V4(Ipv4Addr::LOCALHOST), lines.clone()), lines)
        };
        let mut clients: Vec<(Session<Lines>, Lines)> = (0..SESSIONS).map(|_| connect()).collect();
        for (sender, step) in steps {
            let over = match step {
                Step::Send(bytes) => clients[sender].0.feed(&bytes) == Flow::Close,
                Step::Disconnect => true,
            };
            for (listener, (_, lines)) in clients.iter().enumerate() {
                for line in lines.take() {
                    let message = check(&line);
                    let to_room = message.command == b"PRIVMSG" && message.params[0].starts_with(b"#");
                    prop_assert!(!(to_room && listener == sender), "{}", line.escape_ascii());
                }
            }
            if over {
                clients[sender] = connect();
            }
        }
        drop(clients);
        let (mut last, lines) = connect();
        prop_assert_eq!(last.feed(b"NICK ann\r\nUSER ann 0 * :Ann\r\n"), Flow::Continue);
        let replies: Vec<_> = lines.take().iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        prop_assert!(replies.iter().any(|line| line.contains("0 users and 1 invisible")), "{:?}", replies);
        prop_assert!(replies.iter().any(|line| line.contains(" 254 ann 0 ")), "{:?}", replies);
    }
}
