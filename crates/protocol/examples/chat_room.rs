//! The chat core without any I/O: a room of 20 users who each send as many messages as the first argument gives.
//! `scripts/instructions.sh` counts its instructions.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use klatch_protocol::chat::{Flow, Identity, Outbox, ServerState, Session};

/// Counts the lines that are sent to it.
#[derive(Clone, Default)]
struct Count(Rc<Cell<u64>>);

impl Outbox for Count {
    fn send(&self, line: &Arc<[u8]>) {
        self.0.set(self.0.get() + u64::from(!line.is_empty()));
    }
}

fn main() {
    let count: u32 =
        std::env::args().nth(1).and_then(|count| count.parse().ok()).expect("a number of messages");
    let server = ServerState::new(Identity {
        name: "a.b".into(),
        version: "1".into(),
        created: "today".into(),
        network: "N".into(),
        motd: Vec::new(),
    });
    let outbox = Count::default();
    let mut sessions: Vec<_> = (0..20)
        .map(|user| {
            let mut session = Session::new(&server, [127, 0, 0, 1].into(), outbox.clone());
            let hello = format!("NICK r1u{user}\r\nUSER r1u{user} 0 * :klatch\r\nJOIN #klatch-1\r\n");
            assert_eq!(session.feed(hello.as_bytes()), Flow::Continue);
            session
        })
        .collect();
    let before = outbox.0.get();
    let message = format!("PRIVMSG #klatch-1 :{:060}\r\n", 7);
    for _ in 0..count {
        for session in &mut sessions {
            assert_eq!(session.feed(message.as_bytes()), Flow::Continue);
        }
    }
    assert_eq!(outbox.0.get() - before, u64::from(count) * 20 * 19);
}
