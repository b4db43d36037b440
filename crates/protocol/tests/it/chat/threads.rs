//! Sessions of one server on several threads.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Barrier};

use klatch_protocol::chat::{Flow, Identity, ServerState, Session};

use crate::chat::shared::Lines;

const SPEAKERS: usize = 4;
const MESSAGES: usize = 2000;

impl Lines {
    /// Returns the messages to the room, as `nick text`.
    fn messages(&self) -> Vec<String> {
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

fn join(server: &Arc<ServerState<Lines>>, nick: &str) -> (Session<Lines>, Lines) {
    let lines = Lines::default();
    let mut session = Session::new(server, IpAddr::V4(Ipv4Addr::LOCALHOST), lines.clone());
    send(&mut session, &format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}\r\nJOIN #a"));
    (session, lines)
}

fn send(session: &mut Session<Lines>, line: &str) {
    assert_eq!(session.feed(format!("{line}\r\n").as_bytes()), Flow::Continue);
}

#[test]
fn all_members_of_a_room_see_one_order_of_messages() {
    let server = ServerState::new(Identity {
        name: "klatch.test".into(),
        version: "klatch-test".into(),
        created: "2000-01-01".into(),
        network: "Klatch".into(),
        motd: Vec::new(),
    });
    let speakers: Vec<_> = (0..SPEAKERS).map(|speaker| join(&server, &format!("s{speaker}"))).collect();
    let (listener, all) = join(&server, "listener");
    let outboxes: Vec<_> = speakers.iter().map(|(_, lines)| lines.clone()).collect();
    let start = Barrier::new(SPEAKERS + 2);
    std::thread::scope(|scope| {
        for (mut session, _) in speakers {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for number in 0..MESSAGES {
                    send(&mut session, &format!("PRIVMSG #a :{number}"));
                }
            });
        }
        for guest in 0..2 {
            let (start, server) = (&start, &server);
            scope.spawn(move || {
                start.wait();
                for number in 0..200 {
                    let (mut session, _) = join(server, &format!("g{guest}"));
                    send(
                        &mut session,
                        &format!(
                            "NICK h{guest}\r\nJOIN #b\r\nWHOIS s0\r\nNAMES #a\r\nLIST\r\nTOPIC #b :{number}"
                        ),
                    );
                    send(&mut session, if number % 2 == 0 { "PART #a,#b" } else { "NICK g9\r\nLUSERS" });
                }
            });
        }
    });
    drop(listener);
    let all = all.messages();
    assert_eq!(all.len(), SPEAKERS * MESSAGES);
    for (speaker, lines) in outboxes.iter().enumerate() {
        let own = format!("s{speaker} ");
        let sent: Vec<_> = all.iter().filter(|message| message.starts_with(&own)).cloned().collect();
        assert_eq!(sent, (0..MESSAGES).map(|number| format!("{own}{number}")).collect::<Vec<_>>());
        // A speaker receives nothing after leaving, so its messages are a prefix of the listener's.
        let others: Vec<_> = all.iter().filter(|message| !message.starts_with(&own)).cloned().collect();
        let received = lines.messages();
        assert_eq!(received, others[..received.len()]);
    }
}
