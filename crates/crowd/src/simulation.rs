//! A room without any I/O, for counting the instructions that the crowd's own code needs per message.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use klatch_record::{ChatWorkload, Pacing};

use crate::irc::Irc;
use crate::parties::Parties;
use crate::rooms::Rooms;
use crate::shared::{Shared, Wake};
use crate::worker::Worker;

/// Simulates a room of 20 users that send `count` messages each under `rounds`. Every user gets the messages of a round at
/// once. Returns the number of verified messages. The simulated clock advances a microsecond per message, so work that is
/// done once an interval is as rare as in a real run.
pub fn simulate_room(count: u32) -> u64 {
    let workload = ChatWorkload {
        rooms: 1,
        users: 20,
        count,
        size_bytes: 60,
        start: 1,
        pacing: Pacing::Rounds { window: 1 },
        pause_s: 0.0,
        churn_per_user_per_s: 0.0,
        duration_s: None,
        stages: None,
        arrivals: klatch_record::Arrivals::Even,
        mqtt: klatch_record::MqttSettings::default(),
    };
    let shared = Arc::new(Shared::new(vec![Wake::Threads(Mutex::default())]));
    let (control, _inbox) = channel();
    let mut room = Rooms::<Irc>::new(Worker::new(0, shared.clone(), control), &workload, 1, &None, 0..1);
    shared.open_gate();
    let all = room.users.len();
    let mut now_ns = shared.gate_ns();
    for index in 0..all {
        room.queue_due(index, now_ns);
    }
    // The server's part, as cheap as possible because it is counted too.
    let prefixes: Vec<String> = (0..all).map(|index| format!(":r1u{index}!r1u{index}@127.0.0.1 ")).collect();
    let (mut lines, mut input) = (vec![Vec::new(); all], Vec::new());
    for _ in 0..count {
        for (index, line) in lines.iter_mut().enumerate() {
            line.clear();
            line.extend_from_slice(prefixes[index].as_bytes());
            line.append(&mut room.users[index].link.out);
        }
        for index in 0..all {
            input.clear();
            let others = lines.iter().enumerate().filter(|(speaker, _)| *speaker != index);
            others.for_each(|(_, line)| input.extend_from_slice(line));
            now_ns += 1_000 * all as u64;
            room.on_bytes(index, &input, now_ns);
            room.queue_due(index, now_ns);
        }
    }
    room.worker().stats.received
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_delivered_to_all_others() {
        assert_eq!(simulate_room(3), 20 * 19 * 3);
    }
}
