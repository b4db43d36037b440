//! A common start without a starter: what shards say to each other in room 0 of the server under test, and when the gate
//! opens. Normative description: `docs/reference/protocol.md`.
//!
//! Whoever comes says that he is here, and whoever hears a new one says it again: of two shards, the one that joined the
//! room first hears the other, and the other hears the answer. So all know all, whoever came when, and the one with the
//! lowest room opens. All say it again every second, so one that has died is not waited with.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use klatch_record::Gate;

/// How often a shard says that it is here.
pub(crate) const REPEAT_NS: u64 = 1_000_000_000;
/// Who was not heard for so long is gone.
const GONE_NS: u64 = 5 * REPEAT_NS;

/// Most shards that are listed unless more are expected: a stranger in room 0 can pose as a shard.
const OTHERS_MAX: usize = 4096;

/// What to do after a line was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing.
    Wait,
    /// Say again that I am here.
    Answer,
    /// The gate is open.
    Go,
}

/// Who is at a gate, as one of them knows it.
pub(crate) struct Presence {
    gate: Gate,
    me: Shard,
    rooms: u32,
    /// The others: how many rooms each has, and when it was heard last.
    others: BTreeMap<Shard, (u32, u64)>,
}

/// First room, and a random number: a shard that is started again is another one.
type Shard = (u32, u64);

impl Presence {
    pub(crate) fn new(gate: Gate, start: u32, rooms: u32) -> Presence {
        let number = RandomState::new().build_hasher().finish();
        Presence { gate, me: (start, number), rooms, others: BTreeMap::new() }
    }

    /// The line that says that this shard is here.
    pub(crate) fn here(&self) -> String {
        let (Gate { shards, name }, (start, number)) = (&self.gate, self.me);
        format!("klatch-gate {name} here {start} {} {shards} {number:x}", self.rooms)
    }

    /// The line that opens the gate.
    pub(crate) fn open(&self) -> String {
        format!("klatch-gate {} open", self.gate.name)
    }

    /// Takes in a line of room 0.
    pub(crate) fn hear(&mut self, text: &[u8], now_ns: u64) -> Then {
        let text = String::from_utf8_lossy(text);
        let words: Vec<&str> = text.split(' ').collect();
        let shards = self.gate.shards.to_string();
        match words[..] {
            ["klatch-gate", name, "open"] if name == self.gate.name => Then::Go,
            ["klatch-gate", name, "here", start, rooms, of, number]
                if name == self.gate.name && of == shards =>
            {
                let number = u64::from_str_radix(number, 16).ok();
                let (Ok(start), Ok(rooms), Some(number)) = (start.parse(), rooms.parse(), number) else {
                    return Then::Wait;
                };
                if !possible(start, rooms) {
                    return Then::Wait;
                }
                // Some servers tell a speaker his own line.
                if (start, number) == self.me {
                    return Then::Wait;
                }
                let full = self.others.len() >= OTHERS_MAX.max(self.gate.shards as usize);
                if full && !self.others.contains_key(&(start, number)) {
                    return Then::Wait;
                }
                let known = self.others.insert((start, number), (rooms, now_ns));
                if known.is_none() { Then::Answer } else { Then::Wait }
            }
            _ => Then::Wait,
        }
    }

    /// How many are here, with this one; forgets who is gone.
    pub(crate) fn count(&mut self, now_ns: u64) -> usize {
        self.others.retain(|_, (_, heard_ns)| now_ns.saturating_sub(*heard_ns) < GONE_NS);
        self.others.len() + 1
    }

    /// Whether it is on this one to open the gate: all are here, no room twice, and no other has a lower one.
    pub(crate) fn must_open(&mut self, now_ns: u64) -> bool {
        let all = self.count(now_ns) == self.gate.shards as usize;
        let rooms = self.rooms_here();
        let apart = rooms.windows(2).all(|pair| last_room(pair[0]) < pair[1].0);
        all && apart && rooms[0].0 == self.me.0
    }

    /// Who is here, for people to read.
    pub(crate) fn who(&mut self, now_ns: u64) -> String {
        let count = self.count(now_ns);
        let here: Vec<String> =
            self.rooms_here().iter().map(|&(start, rooms)| rooms_of(start, rooms)).collect();
        let Gate { shards, name } = &self.gate;
        format!("{count} of {shards} shards are at the gate {name}: {}", here.join(", "))
    }

    /// First room and how many, of all that are here, sorted.
    fn rooms_here(&self) -> Vec<(u32, u32)> {
        let others = self.others.iter().map(|(&(start, _), &(rooms, _))| (start, rooms));
        let mut all: Vec<_> = others.chain([(self.me.0, self.rooms)]).collect();
        all.sort_unstable();
        all
    }
}

/// Whether a shard can have these rooms: at least one, from 1 on, the last of which has a number.
fn possible(start: u32, rooms: u32) -> bool {
    start > 0 && rooms > 0 && start.checked_add(rooms - 1).is_some()
}

/// The number of a shard's last room.
fn last_room((start, rooms): (u32, u32)) -> u32 {
    // Those of others were checked as they came in, and the options of this crowd as it began.
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

    fn presence(start: u32, shards: u32) -> Presence {
        Presence::new(Gate { shards, name: "g".into() }, start, 2)
    }

    /// A room that tells a line to everybody who is in it at the moment of the saying, each line when `turns` says so.
    /// Gives who opened the gate, and for whom it opened.
    fn play(starts: &[u32], turns: &[usize]) -> (Vec<usize>, Vec<bool>) {
        let mut shards: Vec<Presence> =
            starts.iter().map(|&start| presence(start, starts.len() as u32)).collect();
        let mut inbox = vec![Vec::<String>::new(); starts.len()];
        let (mut inside, mut open, mut openers) =
            (vec![false; starts.len()], vec![false; starts.len()], vec![]);
        let enough =
            turns.iter().copied().chain((0..starts.len() * starts.len() * 8).map(|turn| turn % starts.len()));
        for who in enough.map(|turn| turn % starts.len()) {
            let mut says = Vec::new();
            if !inside[who] {
                inside[who] = true;
                says.push(shards[who].here());
            } else if !inbox[who].is_empty() {
                let line = inbox[who].remove(0);
                match shards[who].hear(line.as_bytes(), 0) {
                    Then::Answer => says.push(shards[who].here()),
                    Then::Go => open[who] = true,
                    Then::Wait => {}
                }
            }
            if !open[who] && shards[who].must_open(0) {
                says.push(shards[who].open());
                (open[who], _) = (true, openers.push(who));
            }
            for line in says {
                let hears = |&other: &usize| other != who && inside[other];
                (0..starts.len()).filter(hears).for_each(|other| inbox[other].push(line.clone()));
            }
        }
        (openers, open)
    }

    proptest! {
        #[test]
        fn whoever_comes_when_the_lowest_opens_for_all(
            starts in proptest::sample::subsequence((0..12).map(|shard| 1 + 2 * shard).collect::<Vec<_>>(), 1..8)
                .prop_shuffle(),
            turns in proptest::collection::vec(0_usize..8, 0..300),
        ) {
            let (openers, open) = play(&starts, &turns);
            let lowest = starts.iter().enumerate().min_by_key(|(_, start)| **start).unwrap().0;
            prop_assert_eq!(openers, vec![lowest]);
            prop_assert!(open.iter().all(|open| *open));
        }
    }

    /// Numbers near all limits, and some that are none.
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

    /// Lines of the gate with any numbers, and any bytes.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let here = (number(), number(), prop_oneof![Just("2".to_owned()), number()], "[0-9a-fg]{0,17}")
            .prop_map(|(start, rooms, of, id)| {
                format!("klatch-gate g here {start} {rooms} {of} {id}").into_bytes()
            });
        prop_oneof![4 => here, 1 => proptest::collection::vec(any::<u8>(), 0..64)]
    }

    proptest! {
        #[test]
        fn any_lines_leave_a_gate_that_opens_only_for_rooms_that_are_apart(
            lines in proptest::collection::vec(line(), 0..12),
        ) {
            let mut gate = presence(3, 2);
            for line in lines {
                gate.hear(&line, 0);
                let rooms: Vec<(u64, u64)> =
                    gate.rooms_here().iter().map(|&(start, rooms)| (start.into(), rooms.into())).collect();
                prop_assert!(rooms.iter().all(|(start, rooms)| *rooms > 0 && start + rooms <= 1 << 32));
                let apart = rooms.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0);
                prop_assert!(!gate.must_open(0) || (rooms.len() == 2 && apart && rooms[0].0 == 3));
                gate.who(0);
            }
        }
    }

    #[test]
    fn a_stranger_cannot_open_the_gate_with_rooms_that_overflow() {
        for line in ["klatch-gate g here 3 4294967295 2 ff", "klatch-gate g here 4294967295 2 2 ff"] {
            let mut lowest = presence(3, 2);
            assert_eq!(lowest.hear(line.as_bytes(), 0), Then::Wait);
            assert!(!lowest.must_open(0));
        }
    }

    #[test]
    fn a_flood_of_strangers_takes_bounded_memory() {
        let mut gate = presence(3, 2);
        for number in 0..2 * OTHERS_MAX {
            gate.hear(format!("klatch-gate g here 9 1 2 {number:x}").as_bytes(), 0);
        }
        assert_eq!(gate.count(0), OTHERS_MAX + 1);
    }

    #[test]
    fn who_dies_is_forgotten_and_may_come_again() {
        let (mut lowest, first, again) = (presence(1, 2), presence(3, 2), presence(3, 2));
        assert_eq!(lowest.hear(first.here().as_bytes(), 0), Then::Answer);
        assert_eq!(lowest.hear(first.here().as_bytes(), REPEAT_NS), Then::Wait);
        assert!(lowest.must_open(REPEAT_NS));
        assert!(!lowest.must_open(REPEAT_NS + GONE_NS));
        assert_eq!(lowest.who(REPEAT_NS + GONE_NS), "1 of 2 shards are at the gate g: rooms 1 to 2");
        assert_eq!(lowest.hear(again.here().as_bytes(), 2 * GONE_NS), Then::Answer);
        assert!(lowest.must_open(2 * GONE_NS));
    }

    #[test]
    fn rooms_that_are_taken_twice_keep_the_gate_closed() {
        let mut lowest = presence(1, 2);
        lowest.hear(presence(2, 2).here().as_bytes(), 0);
        assert!(!lowest.must_open(0));
        assert_eq!(lowest.who(0), "2 of 2 shards are at the gate g: rooms 1 to 2, rooms 2 to 3");
    }

    #[test]
    fn what_is_of_another_gate_or_no_line_at_all_is_nothing() {
        let mut one = presence(3, 2);
        let own = one.here();
        for line in [
            "",
            "hello",
            "klatch-gate h open",
            "klatch-gate g here 1 2 3 ff",
            "klatch-gate g here x 2 2 ff",
            &own,
        ] {
            assert_eq!(one.hear(line.as_bytes(), 0), Then::Wait, "{line}");
        }
        assert_eq!(one.count(0), 1);
        assert_eq!(one.hear(b"klatch-gate g open", 0), Then::Go);
    }
}
