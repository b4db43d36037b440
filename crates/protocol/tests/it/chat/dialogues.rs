//! Plays `vectors/dialogues/*.txt` against a server state.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::chat::shared::{unescape, vectors};
use klatch_protocol::chat::message::Message;
use klatch_protocol::chat::{Flow, Identity, Outbox, ServerState, Session};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<VecDeque<Vec<u8>>>>);

impl Outbox for Lines {
    fn send(&self, line: &Arc<[u8]>) {
        assert!(line.len() <= 512, "a line of {} bytes", line.len());
        let content = line.strip_suffix(b"\r\n").expect("CR LF at the end");
        self.0.lock().unwrap().push_back(content.to_vec());
    }
}

impl Lines {
    fn next(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap().pop_front()
    }
}

struct Connection {
    session: Session<Lines>,
    lines: Lines,
    closed: bool,
    close_expected: bool,
}

fn play(path: &Path) {
    let server = ServerState::new(Identity {
        name: "klatch.test".into(),
        version: "klatch-test".into(),
        created: "2000-01-01".into(),
        network: "Klatch".into(),
        motd: vec!["Come in and talk.".into()],
    });
    let mut connections = BTreeMap::<String, Connection>::new();
    let script = std::fs::read_to_string(path).unwrap();
    for (number, step) in script.lines().enumerate() {
        let at = format!("{}:{}", path.display(), number + 1);
        if step.is_empty() || step.starts_with('#') {
            continue;
        }
        let (name, mark) = step.split_at(step.find(['<', '>']).expect(&at));
        let connection = connections.entry(name.to_string()).or_insert_with(|| {
            let lines = Lines::default();
            let session = Session::new(&server, IpAddr::V4(Ipv4Addr::LOCALHOST), lines.clone());
            Connection { session, lines, closed: false, close_expected: false }
        });
        connection.act(mark, &at);
    }
    for (name, connection) in &connections {
        let left = connection.lines.next().map(|line| String::from_utf8_lossy(&line).into_owned());
        assert_eq!(left, None, "{}: {name} has an unexpected line", path.display());
        assert_eq!(connection.closed, connection.close_expected, "{}: {name} was closed", path.display());
    }
}

impl Connection {
    fn act(&mut self, mark: &str, at: &str) {
        if let Some(bytes) = mark.strip_prefix(">> ") {
            self.feed(&unescape(bytes), at);
        } else if let Some(line) = mark.strip_prefix("> ") {
            self.feed(&[&unescape(line)[..], b"\r\n"].concat(), at);
        } else if let Some(command) = mark.strip_prefix("<< ") {
            loop {
                let line = self.lines.next().unwrap_or_else(|| panic!("{at}: {command} was not sent"));
                if Message::parse(&line).expect(at).command == command.as_bytes() {
                    break;
                }
            }
        } else if let Some(expected) = mark.strip_prefix("< ") {
            let line = self.lines.next().unwrap_or_else(|| panic!("{at}: no line was sent"));
            assert_eq!(
                line.escape_ascii().to_string(),
                unescape(expected).escape_ascii().to_string(),
                "{at}"
            );
        } else if mark == "<x" {
            assert!(self.closed, "{at}: the connection is open");
            assert_eq!(self.lines.next(), None, "{at}: an unexpected line");
            self.close_expected = true;
        } else {
            assert_eq!(mark, ">x", "{at}: a mark that vectors/README.md does not define");
            self.session.hang_up(b"Connection closed");
        }
    }

    fn feed(&mut self, bytes: &[u8], at: &str) {
        assert!(!self.closed, "{at}: the connection is closed");
        self.closed = self.session.feed(bytes) == Flow::Close;
    }
}

#[test]
fn dialogues_play_as_written() {
    let mut paths: Vec<_> =
        std::fs::read_dir(vectors("dialogues")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 10, "dialogues are missing");
    for path in paths {
        play(&path);
    }
}
