//! A hall whose sessions live on threads of their own.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Barrier, Mutex};

use klatch_chat::{Flow, Hall, Identity, Outbox, Session};

const SPEAKERS: usize = 4;
const MESSAGES: usize = 2000;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<Arc<[u8]>>>>);

impl Outbox for Lines {
    fn send(&self, line: &Arc<[u8]>) {
        self.0.lock().unwrap().push(Arc::clone(line));
    }
}

impl Lines {
    /// The messages to the room, as `nick text`.
    fn heard(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        let texts = lines.iter().map(|line| String::from_utf8(line.to_vec()).unwrap());
        texts
            .filter_map(|line| {
                let (prefix, text) = line.trim_end().split_once(" PRIVMSG #a :")?;
                Some(format!("{} {text}", &prefix[1..prefix.find('!')?]))
            })
            .collect()
    }
}

fn enter(hall: &Arc<Hall<Lines>>, nick: &str) -> (Session<Lines>, Lines) {
    let lines = Lines::default();
    let mut session = hall.enter(IpAddr::V4(Ipv4Addr::LOCALHOST), lines.clone());
    say(&mut session, &format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}\r\nJOIN #a"));
    (session, lines)
}

fn say(session: &mut Session<Lines>, line: &str) {
    assert_eq!(session.feed(format!("{line}\r\n").as_bytes()), Flow::Continue);
}

#[test]
fn a_room_has_one_order_whoever_talks_and_comes_and_goes() {
    let hall = Hall::new(Identity {
        name: "klatch.test".into(),
        version: "klatch-test".into(),
        created: "2000-01-01".into(),
        network: "Klatch".into(),
        motd: Vec::new(),
    });
    let speakers: Vec<_> = (0..SPEAKERS).map(|speaker| enter(&hall, &format!("s{speaker}"))).collect();
    let (listener, all) = enter(&hall, "listener");
    let outboxes: Vec<_> = speakers.iter().map(|(_, lines)| lines.clone()).collect();
    let start = Barrier::new(SPEAKERS + 2);
    std::thread::scope(|scope| {
        for (mut session, _) in speakers {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for number in 0..MESSAGES {
                    say(&mut session, &format!("PRIVMSG #a :{number}"));
                }
            });
        }
        for guest in 0..2 {
            let (start, hall) = (&start, &hall);
            scope.spawn(move || {
                start.wait();
                for number in 0..200 {
                    let (mut session, _) = enter(hall, &format!("g{guest}"));
                    say(
                        &mut session,
                        &format!(
                            "NICK h{guest}\r\nJOIN #b\r\nWHOIS s0\r\nNAMES #a\r\nLIST\r\nTOPIC #b :{number}"
                        ),
                    );
                    say(&mut session, if number % 2 == 0 { "PART #a,#b" } else { "NICK g9\r\nLUSERS" });
                }
            });
        }
    });
    drop(listener);
    let all = all.heard();
    assert_eq!(all.len(), SPEAKERS * MESSAGES);
    for (speaker, lines) in outboxes.iter().enumerate() {
        let own = format!("s{speaker} ");
        let said: Vec<_> = all.iter().filter(|heard| heard.starts_with(&own)).cloned().collect();
        assert_eq!(said, (0..MESSAGES).map(|number| format!("{own}{number}")).collect::<Vec<_>>());
        // A speaker who has left hears no more, so what he heard is the beginning of what the listener heard.
        let others: Vec<_> = all.iter().filter(|heard| !heard.starts_with(&own)).cloned().collect();
        let heard = lines.heard();
        assert_eq!(heard, others[..heard.len()]);
    }
}
