//! Starts all shards together without a coordinator: the messages that they exchange in room 0 of the server under test, and
//! the rule that opens the gate. It is specified in `docs/reference/protocol.md`.
//!
//! A shard announces itself when it joins, and announces itself again when it sees a new one. Of two shards, the first in the
//! room receives the other's announcement, and the other receives the answer. So all shards learn of each other in any order
//! of arrival. The shard with the lowest room opens the gate.
//!
//! A gate that lost a shard cannot open, so it ends for all. A shard is lost when it announces that, when its server reports
//! that it left the room, or when it has been silent: all repeat their announcement every second.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use klatch_record::Gate;

/// How often a shard announces itself.
pub(crate) const REPEAT_NS: u64 = 1_000_000_000;
/// A shard is lost when it has been silent for this long.
const SILENCE_NS: u64 = 5 * REPEAT_NS;
/// After a shard is lost, the gate may still open for this long. A shard leaves room 0 when the gate opens, and a server with
/// several threads may report that before it delivers the line that opens the gate.
const GRACE_NS: u64 = REPEAT_NS;

/// Most shards that are listed, unless more are expected. A stranger in room 0 can pose as any number of shards.
const OTHERS_MAX: usize = 4096;
/// Most shards that an error message names.
const SHOWN_MAX: usize = 100;

/// What to do after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateAction {
    /// Keep waiting; the line changes nothing.
    Wait,
    /// Announce this shard again.
    Answer,
    /// The gate was opened with this number: start.
    Go(u64),
}

/// The number with which a line of room 0 opens a gate of any name.
pub(crate) fn opened_run(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let (name, run) = text.strip_prefix("klatch-gate ")?.split_once(" open ")?;
    u64::from_str_radix(run, 16).ok().filter(|_| !name.contains(' '))
}

/// The shards at a gate, as one of them sees them.
pub(crate) struct GateMembership {
    gate: Gate,
    me: Shard,
    rooms: u32,
    /// The other shards: the number of their rooms, and when each was seen last, ns.
    others: BTreeMap<Shard, (u32, u64)>,
    /// The first shard that was lost: why, and when, ns.
    lost: Option<(String, u64)>,
}

/// First room and a random number: a restarted shard is another one.
type Shard = (u32, u64);

impl GateMembership {
    pub(crate) fn new(gate: Gate, start: u32, rooms: u32) -> GateMembership {
        let number = RandomState::new().build_hasher().finish();
        GateMembership { gate, me: (start, number), rooms, others: BTreeMap::new(), lost: None }
    }

    /// The line that announces this shard.
    pub(crate) fn announcement(&self) -> String {
        let (Gate { shards, name }, (start, number)) = (&self.gate, self.me);
        format!("klatch-gate {name} here {start} {} {shards} {number:x}", self.rooms)
    }

    /// The line that opens the gate.
    pub(crate) fn open_line(&self) -> String {
        format!("klatch-gate {} open {:x}", self.gate.name, self.run())
    }

    /// The line that takes this shard from the gate before it opens.
    pub(crate) fn leave_line(&self) -> String {
        let (start, number) = self.me;
        format!("klatch-gate {} leave {start} {number:x}", self.gate.name)
    }

    /// The number with which this shard opens the gate. It is random, so another run has another one.
    pub(crate) fn run(&self) -> u64 {
        self.me.1
    }

    /// Processes a line of room 0.
    pub(crate) fn on_line(&mut self, text: &[u8], now_ns: u64) -> GateAction {
        let text = String::from_utf8_lossy(text);
        let words: Vec<&str> = text.split(' ').collect();
        let shards = self.gate.shards.to_string();
        match words[..] {
            ["klatch-gate", name, "open", run] if name == self.gate.name => {
                u64::from_str_radix(run, 16).map_or(GateAction::Wait, GateAction::Go)
            }
            ["klatch-gate", name, "leave", start, number] if name == self.gate.name => {
                if let (Ok(start), Ok(number)) = (start.parse(), u64::from_str_radix(number, 16)) {
                    self.lose(|shard, _| shard == (start, number), "was stopped", now_ns);
                }
                GateAction::Wait
            }
            ["klatch-gate", name, "here", start, rooms, of, number]
                if name == self.gate.name && of == shards =>
            {
                let number = u64::from_str_radix(number, 16).ok();
                let (Ok(start), Ok(rooms), Some(number)) = (start.parse(), rooms.parse(), number) else {
                    return GateAction::Wait;
                };
                if !rooms_are_valid(start, rooms) {
                    return GateAction::Wait;
                }
                // Some servers echo a message to its speaker.
                if (start, number) == self.me {
                    return GateAction::Wait;
                }
                let full = self.others.len() >= OTHERS_MAX.max(self.gate.shards as usize);
                if full && !self.others.contains_key(&(start, number)) {
                    return GateAction::Wait;
                }
                let previous = self.others.insert((start, number), (rooms, now_ns));
                if previous.is_none() { GateAction::Answer } else { GateAction::Wait }
            }
            _ => GateAction::Wait,
        }
    }

    /// The server reports that the shard whose first room is `start` left room 0.
    pub(crate) fn on_left(&mut self, start: u32, now_ns: u64) {
        self.lose(|shard, _| shard.0 == start, "left the gate: it ended, or its connection broke", now_ns);
    }

    /// All lines that have arrived are processed: drops the shards that have been silent.
    pub(crate) fn on_drained(&mut self, now_ns: u64) {
        let silent = |_, seen_ns: u64| now_ns.saturating_sub(seen_ns) >= SILENCE_NS;
        self.lose(silent, &format!("has been silent for {} s", SILENCE_NS / 1_000_000_000), now_ns);
    }

    /// Removes the shards for which `is_lost` holds, given when each was seen last. Keeps the first of all that were lost.
    fn lose(&mut self, is_lost: impl Fn(Shard, u64) -> bool, how: &str, now_ns: u64) {
        self.others.retain(|&shard, &mut (rooms, seen_ns)| {
            let lost = is_lost(shard, seen_ns);
            if lost && self.lost.is_none() {
                self.lost = Some((format!("the shard of {} {how}", rooms_of(shard.0, rooms)), now_ns));
            }
            !lost
        });
    }

    /// Why the gate cannot open any more.
    pub(crate) fn failure(&self, now_ns: u64) -> Option<&str> {
        let (why, lost_ns) = self.lost.as_ref()?;
        (now_ns.saturating_sub(*lost_ns) >= GRACE_NS).then_some(why)
    }

    /// The number of shards present, including this one.
    pub(crate) fn count_present(&self) -> usize {
        self.others.len() + 1
    }

    /// Whether this shard must open the gate: all are present, no room is taken twice, and no other has a lower room.
    pub(crate) fn must_open(&self) -> bool {
        let all = self.count_present() == self.gate.shards as usize;
        let rooms = self.rooms_present();
        let disjoint = rooms.windows(2).all(|pair| last_room(pair[0]) < pair[1].0);
        all && self.lost.is_none() && disjoint && rooms[0].0 == self.me.0
    }

    /// The shards present, as text for an error message.
    pub(crate) fn describe(&self) -> String {
        let count = self.count_present();
        let present = self.rooms_present();
        let mut ranges: Vec<String> =
            present.iter().take(SHOWN_MAX).map(|&(start, rooms)| rooms_of(start, rooms)).collect();
        if present.len() > SHOWN_MAX {
            ranges.push(format!("and those of {} more", present.len() - SHOWN_MAX));
        }
        let Gate { shards, name } = &self.gate;
        format!("{count} of {shards} shards are at the gate {name}: {}", ranges.join(", "))
    }

    /// First room and number of rooms of all shards present, sorted.
    fn rooms_present(&self) -> Vec<(u32, u32)> {
        let others = self.others.iter().map(|(&(start, _), &(rooms, _))| (start, rooms));
        let mut all: Vec<_> = others.chain([(self.me.0, self.rooms)]).collect();
        all.sort_unstable();
        all
    }
}

/// Whether these rooms are possible: at least one, numbered from 1, without overflow.
fn rooms_are_valid(start: u32, rooms: u32) -> bool {
    start > 0 && rooms > 0 && start.checked_add(rooms - 1).is_some()
}

/// The number of a shard's last room.
fn last_room((start, rooms): (u32, u32)) -> u32 {
    // Those of other shards are checked on arrival, and those of this crowd with its options.
    start.saturating_add(rooms.saturating_sub(1))
}

fn rooms_of(start: u32, rooms: u32) -> String {
    if rooms == 1 {
        format!("room {start}")
    } else {
        format!("rooms {start} to {}", last_room((start, rooms)))
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
