//! A room without any I/O: all that the crowd's own code does for a message, again and again, for counting instructions.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use klatch_record::{Pacing, Workload};

use crate::gather::seat;
use crate::irc::Irc;
use crate::rooms::Rooms;
use crate::shared::{Shared, Wake};

/// Lets a room of 20 users say so many messages each under `rounds`, every user hearing those of a round together, and
/// gives the number of messages that were verified. The clock goes on by a microsecond a message, however slowly this runs: what is
/// done once an interval is then as rare as it really is.
pub fn rehearse(count: u32) -> u64 {
    let workload = Workload {
        rooms: 1,
        users: 20,
        count,
        size_bytes: 60,
        start: 1,
        pacing: Pacing::Rounds { window: 1 },
        pause_s: 0.0,
    };
    let shared = Arc::new(Shared::new(vec![Wake::Threads(Mutex::default())]));
    let (notices, _inbox) = channel();
    let users = seat(&workload, 1, 0..1);
    let mut room = Rooms::<Irc>::new(0, shared.clone(), notices, workload, users);
    shared.open_gate();
    let all = room.users.len();
    let mut now_ns = shared.gate_ns();
    for who in 0..all {
        room.say(who, now_ns);
    }
    // What a server would do, with as little ado as can be: it is counted too.
    let prefixes: Vec<String> = (0..all).map(|who| format!(":r1u{who}!r1u{who}@127.0.0.1 ")).collect();
    let (mut lines, mut heard) = (vec![Vec::new(); all], Vec::new());
    for _ in 0..count {
        for (who, line) in lines.iter_mut().enumerate() {
            line.clear();
            line.extend_from_slice(prefixes[who].as_bytes());
            line.append(&mut room.users[who].out);
        }
        for who in 0..all {
            heard.clear();
            let others = lines.iter().enumerate().filter(|(speaker, _)| *speaker != who);
            others.for_each(|(_, line)| heard.extend_from_slice(line));
            now_ns += 1_000 * all as u64;
            room.hear(who, &heard, now_ns);
            room.say(who, now_ns);
        }
    }
    room.tally.received
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_heard_by_all_others() {
        assert_eq!(rehearse(3), 20 * 19 * 3);
    }
}
