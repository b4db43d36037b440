//! Starts all shards together without a coordinator: the messages that they exchange in room 0 of the server under test, and
//! the rule that opens the gate. It is specified in `docs/reference/protocol.md`.
//!
//! A shard announces itself when it joins, and announces itself again when it sees a new one. Of two shards, the first in the
//! room receives the other's announcement, and the other receives the answer. So all shards learn of each other in any order
//! of arrival. The shard with the lowest room opens the gate. All repeat their announcement every second, so a shard that
//! died is not waited for.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use klatch_record::Gate;

/// How often a shard announces itself.
pub(crate) const REPEAT_NS: u64 = 1_000_000_000;
/// A shard is gone when it has been silent for this long.
const GONE_NS: u64 = 5 * REPEAT_NS;

/// Most shards that are listed, unless more are expected. A stranger in room 0 can pose as any number of shards.
const OTHERS_MAX: usize = 4096;

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

/// The shards at a gate, as one of them sees them.
pub(crate) struct GateMembership {
    gate: Gate,
    me: Shard,
    rooms: u32,
    /// The other shards: the number of their rooms, and when each was seen last, ns.
    others: BTreeMap<Shard, (u32, u64)>,
}

/// First room and a random number: a restarted shard is another one.
type Shard = (u32, u64);

impl GateMembership {
    pub(crate) fn new(gate: Gate, start: u32, rooms: u32) -> GateMembership {
        let number = RandomState::new().build_hasher().finish();
        GateMembership { gate, me: (start, number), rooms, others: BTreeMap::new() }
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

    /// The number of shards present, including this one. Removes those that are gone.
    pub(crate) fn count_present(&mut self, now_ns: u64) -> usize {
        self.others.retain(|_, (_, seen_ns)| now_ns.saturating_sub(*seen_ns) < GONE_NS);
        self.others.len() + 1
    }

    /// Whether this shard must open the gate: all are present, no room is taken twice, and no other has a lower room.
    pub(crate) fn must_open(&mut self, now_ns: u64) -> bool {
        let all = self.count_present(now_ns) == self.gate.shards as usize;
        let rooms = self.rooms_present();
        let disjoint = rooms.windows(2).all(|pair| last_room(pair[0]) < pair[1].0);
        all && disjoint && rooms[0].0 == self.me.0
    }

    /// The shards present, as text for an error message.
    pub(crate) fn describe(&mut self, now_ns: u64) -> String {
        let count = self.count_present(now_ns);
        let ranges: Vec<String> =
            self.rooms_present().iter().map(|&(start, rooms)| rooms_of(start, rooms)).collect();
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn membership(start: u32, shards: u32) -> GateMembership {
        GateMembership::new(Gate { shards, name: "g".into() }, start, 2)
    }

    /// Simulates a room that delivers each line to all members present, in the order of `turns`.
    /// Returns the shards that opened the gate, and for which shards it opened.
    fn simulate(starts: &[u32], turns: &[usize]) -> (Vec<usize>, Vec<bool>) {
        let mut shards: Vec<GateMembership> =
            starts.iter().map(|&start| membership(start, starts.len() as u32)).collect();
        let mut inbox = vec![Vec::<String>::new(); starts.len()];
        let (mut inside, mut open, mut openers) =
            (vec![false; starts.len()], vec![false; starts.len()], vec![]);
        let enough =
            turns.iter().copied().chain((0..starts.len() * starts.len() * 8).map(|turn| turn % starts.len()));
        for shard in enough.map(|turn| turn % starts.len()) {
            let mut sent = Vec::new();
            if !inside[shard] {
                inside[shard] = true;
                sent.push(shards[shard].announcement());
            } else if !inbox[shard].is_empty() {
                let line = inbox[shard].remove(0);
                match shards[shard].on_line(line.as_bytes(), 0) {
                    GateAction::Answer => sent.push(shards[shard].announcement()),
                    GateAction::Go(_) => open[shard] = true,
                    GateAction::Wait => {}
                }
            }
            if !open[shard] && shards[shard].must_open(0) {
                sent.push(shards[shard].open_line());
                (open[shard], _) = (true, openers.push(shard));
            }
            for line in sent {
                let receives = |&other: &usize| other != shard && inside[other];
                (0..starts.len()).filter(receives).for_each(|other| inbox[other].push(line.clone()));
            }
        }
        (openers, open)
    }

    proptest! {
        #[test]
        fn the_lowest_shard_opens_the_gate_for_all_in_any_order(
            starts in proptest::sample::subsequence((0..12).map(|shard| 1 + 2 * shard).collect::<Vec<_>>(), 1..8)
                .prop_shuffle(),
            turns in proptest::collection::vec(0_usize..8, 0..300),
        ) {
            let (openers, open) = simulate(&starts, &turns);
            let lowest = starts.iter().enumerate().min_by_key(|(_, start)| **start).unwrap().0;
            prop_assert_eq!(openers, vec![lowest]);
            prop_assert!(open.iter().all(|open| *open));
        }
    }

    /// Numbers near all limits, and some invalid ones.
    fn number() -> impl Strategy<Value = String> {
        let near =
            |limit: u64| (limit.saturating_sub(2)..=limit.saturating_add(2)).prop_map(|n| n.to_string());
        prop_oneof![
            near(2),
            near(u32::MAX.into()),
            near(u64::MAX),
            any::<u32>().prop_map(|n| n.to_string()),
            "-?[0-9x]{0,12}"
        ]
    }

    /// Lines of the gate with any numbers, and arbitrary bytes.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let announcement =
            (number(), number(), prop_oneof![Just("2".to_owned()), number()], "[0-9a-fg]{0,17}").prop_map(
                |(start, rooms, of, id)| format!("klatch-gate g here {start} {rooms} {of} {id}").into_bytes(),
            );
        prop_oneof![4 => announcement, 1 => proptest::collection::vec(any::<u8>(), 0..64)]
    }

    proptest! {
        #[test]
        fn after_any_lines_the_gate_opens_only_for_disjoint_rooms(
            lines in proptest::collection::vec(line(), 0..12),
        ) {
            let mut gate = membership(3, 2);
            for line in lines {
                gate.on_line(&line, 0);
                let rooms: Vec<(u64, u64)> =
                    gate.rooms_present().iter().map(|&(start, rooms)| (start.into(), rooms.into())).collect();
                prop_assert!(rooms.iter().all(|(start, rooms)| *rooms > 0 && start + rooms <= 1 << 32));
                let disjoint = rooms.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0);
                prop_assert!(!gate.must_open(0) || (rooms.len() == 2 && disjoint && rooms[0].0 == 3));
                gate.describe(0);
            }
        }
    }

    #[test]
    fn room_numbers_that_overflow_do_not_open_the_gate() {
        for line in ["klatch-gate g here 3 4294967295 2 ff", "klatch-gate g here 4294967295 2 2 ff"] {
            let mut lowest = membership(3, 2);
            assert_eq!(lowest.on_line(line.as_bytes(), 0), GateAction::Wait);
            assert!(!lowest.must_open(0));
        }
    }

    #[test]
    fn a_flood_of_strangers_takes_bounded_memory() {
        let mut gate = membership(3, 2);
        for number in 0..2 * OTHERS_MAX {
            gate.on_line(format!("klatch-gate g here 9 1 2 {number:x}").as_bytes(), 0);
        }
        assert_eq!(gate.count_present(0), OTHERS_MAX + 1);
    }

    #[test]
    fn a_dead_shard_is_dropped_and_may_return() {
        let (mut lowest, first, again) = (membership(1, 2), membership(3, 2), membership(3, 2));
        assert_eq!(lowest.on_line(first.announcement().as_bytes(), 0), GateAction::Answer);
        assert_eq!(lowest.on_line(first.announcement().as_bytes(), REPEAT_NS), GateAction::Wait);
        assert!(lowest.must_open(REPEAT_NS));
        assert!(!lowest.must_open(REPEAT_NS + GONE_NS));
        assert_eq!(lowest.describe(REPEAT_NS + GONE_NS), "1 of 2 shards are at the gate g: rooms 1 to 2");
        assert_eq!(lowest.on_line(again.announcement().as_bytes(), 2 * GONE_NS), GateAction::Answer);
        assert!(lowest.must_open(2 * GONE_NS));
    }

    #[test]
    fn overlapping_rooms_keep_the_gate_closed() {
        let mut lowest = membership(1, 2);
        lowest.on_line(membership(2, 2).announcement().as_bytes(), 0);
        assert!(!lowest.must_open(0));
        assert_eq!(lowest.describe(0), "2 of 2 shards are at the gate g: rooms 1 to 2, rooms 2 to 3");
    }

    #[test]
    fn lines_of_other_gates_and_invalid_lines_are_ignored() {
        let mut one = membership(3, 2);
        let own = one.announcement();
        for line in [
            "",
            "hello",
            "klatch-gate h open 1",
            "klatch-gate g here 1 2 3 ff",
            "klatch-gate g here x 2 2 ff",
            &own,
        ] {
            assert_eq!(one.on_line(line.as_bytes(), 0), GateAction::Wait, "{line}");
        }
        assert_eq!(one.count_present(0), 1);
        assert_eq!(one.on_line(b"klatch-gate g open", 0), GateAction::Wait, "no number");
        assert_eq!(one.on_line(b"klatch-gate g open 1f", 0), GateAction::Go(31));
    }
}
