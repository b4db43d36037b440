//! What a client can make a server do: no more than its answers are worth.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use klatch_protocol::chat::{Flow, Identity, Outbox, ServerState, Session};

/// An outbox that takes so many lines.
#[derive(Clone)]
struct Limited(Arc<Mutex<(usize, Vec<String>)>>);

impl Outbox for Limited {
    fn send(&self, line: &Arc<[u8]>) {
        let mut state = self.0.lock().unwrap();
        state.0 = state.0.saturating_sub(1);
        state.1.push(String::from_utf8_lossy(line).into_owned());
    }

    fn is_open(&self) -> bool {
        self.0.lock().unwrap().0 > 0
    }
}

impl Limited {
    fn new(lines: usize) -> Limited {
        Limited(Arc::new(Mutex::new((lines, Vec::new()))))
    }

    /// Takes `lines` from now on. Returns those since the last call.
    fn reset(&self, lines: usize) -> Vec<String> {
        std::mem::replace(&mut *self.0.lock().unwrap(), (lines, Vec::new())).1
    }
}

fn server<O: Outbox>() -> Arc<ServerState<O>> {
    ServerState::new(Identity {
        name: "klatch.test".into(),
        version: "klatch-test".into(),
        created: "2000-01-01".into(),
        network: "Klatch".into(),
        motd: vec!["Come in and talk.".into()],
    })
}

fn user<O: Outbox>(server: &Arc<ServerState<O>>, nick: &str, outbox: O, rooms: &str) -> Session<O> {
    let mut session = Session::new(server, IpAddr::V4(Ipv4Addr::LOCALHOST), outbox);
    let hello = format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}\r\nJOIN {rooms}\r\n");
    assert_eq!(session.feed(hello.as_bytes()), Flow::Continue);
    session
}

#[test]
fn a_session_whose_outbox_is_full_makes_no_more_answers_but_its_messages_arrive() {
    let server = server();
    let rooms: Vec<String> = (0..40).map(|room| format!("#r{room}")).collect();
    let others: Vec<_> = (0..500)
        .map(|number| user(&server, &format!("user{number}"), Limited::new(usize::MAX), &rooms[number % 40]))
        .collect();
    let friend = Limited::new(usize::MAX);
    let mut all = others;
    all.push(user(&server, "friend", friend.clone(), "#r0"));
    let outbox = Limited::new(usize::MAX);
    let mut ann = user(&server, "ann", outbox.clone(), &rooms.join(","));
    for query in ["LIST", "NAMES #r0", "WHO #r0", "WHOIS ann", "LUSERS", "MOTD", "JOIN 0", "NICK other"] {
        outbox.reset(3);
        friend.reset(usize::MAX);
        let lines = format!("{}\r\nPRIVMSG #r0 :hello\r\n", [query; 100].join("\r\n"));
        assert_eq!(ann.feed(lines.as_bytes()), Flow::Continue);
        // The answer to a command that has begun may be longer (JOIN 0 leaves 40 rooms), but none of the others is made.
        let answers = outbox.reset(usize::MAX).len();
        assert!(answers < 50, "{answers} lines after {query}");
        if query != "JOIN 0" {
            assert!(friend.reset(usize::MAX).iter().any(|line| line.contains("PRIVMSG #r0")), "{query}");
        }
        ann = {
            drop(ann);
            user(&server, "ann", outbox.clone(), &rooms.join(","))
        };
    }
}

/// An outbox that does not return from a delivery before the test allows it, so that the lock of a room is held.
#[derive(Clone)]
struct Stuck(Arc<Mutex<Signals>>);

/// Where a delivery says that it has begun, and what it then waits for.
type Signals = (Sender<()>, Option<Receiver<()>>);

impl Outbox for Stuck {
    fn send(&self, _: &Arc<[u8]>) {}

    fn deliver(&self, _: &Arc<[u8]>) {
        let mut state = self.0.lock().unwrap();
        if let Some(allow) = state.1.take() {
            state.0.send(()).unwrap();
            allow.recv().unwrap();
        }
    }
}

#[test]
fn a_whois_looks_into_no_room() {
    let server = server();
    let (stuck, is_stuck) = channel();
    let (allow, allowed) = channel();
    let outbox = |allow| Stuck(Arc::new(Mutex::new((stuck.clone(), allow))));
    let mut ann = user(&server, "ann", outbox(None), "#a");
    let _bob = user(&server, "bob", outbox(Some(allowed)), "#a");
    let mut eve = user(&server, "eve", outbox(None), "#b");
    let (done, is_done) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || ann.feed(b"PRIVMSG #a :hello\r\n"));
        is_stuck.recv().unwrap();
        scope.spawn(move || {
            let _ = eve.feed(b"WHOIS ann\r\n");
            done.send(eve).unwrap();
        });
        let answered = is_done.recv_timeout(Duration::from_secs(10));
        allow.send(()).unwrap();
        assert!(answered.is_ok(), "it waits for a room");
    });
}
