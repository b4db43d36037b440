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
    let (mut inside, mut open, mut openers) = (vec![false; starts.len()], vec![false; starts.len()], vec![]);
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
        if !open[shard] && shards[shard].must_open() {
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
    let near = |limit: u64| (limit.saturating_sub(2)..=limit.saturating_add(2)).prop_map(|n| n.to_string());
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
    let announcement = (number(), number(), prop_oneof![Just("2".to_owned()), number()], "[0-9a-fg]{0,17}")
        .prop_map(|(start, rooms, of, id)| {
            format!("klatch-gate g here {start} {rooms} {of} {id}").into_bytes()
        });
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
            prop_assert!(!gate.must_open() || (rooms.len() == 2 && disjoint && rooms[0].0 == 3));
            gate.describe();
        }
    }
}

#[test]
fn room_numbers_that_overflow_do_not_open_the_gate() {
    for line in ["klatch-gate g here 3 4294967295 2 ff", "klatch-gate g here 4294967295 2 2 ff"] {
        let mut lowest = membership(3, 2);
        assert_eq!(lowest.on_line(line.as_bytes(), 0), GateAction::Wait);
        assert!(!lowest.must_open());
    }
}

#[test]
fn a_flood_of_strangers_takes_bounded_memory() {
    let mut gate = membership(3, 2);
    for number in 0..2 * OTHERS_MAX {
        gate.on_line(format!("klatch-gate g here 9 1 2 {number:x}").as_bytes(), 0);
    }
    assert_eq!(gate.count_present(), OTHERS_MAX + 1);
}

/// A gate of two shards at which both are present.
fn pair() -> (GateMembership, GateMembership) {
    let (mut lowest, other) = (membership(1, 2), membership(3, 2));
    assert_eq!(lowest.on_line(other.announcement().as_bytes(), 0), GateAction::Answer);
    assert!(lowest.must_open());
    (lowest, other)
}

#[test]
fn a_shard_that_is_lost_ends_the_gate() {
    for (lose, how) in [
        (|gate, _| gate.on_left(3, 0), "left the gate: it ended, or its connection broke"),
        (
            |gate, other| assert_eq!(gate.on_line(other.leave_line().as_bytes(), 0), GateAction::Wait),
            "was stopped",
        ),
    ] as [(fn(&mut GateMembership, &GateMembership), &str); 2]
    {
        let (mut lowest, other) = pair();
        lose(&mut lowest, &other);
        assert!(!lowest.must_open());
        assert_eq!(lowest.failure(GRACE_NS - 1), None, "the line that opens it may still come");
        assert_eq!(lowest.failure(GRACE_NS), Some(&*format!("the shard of rooms 3 to 4 {how}")));
        assert_eq!(lowest.describe(), "1 of 2 shards are at the gate g: rooms 1 to 2");
        lowest.on_line(membership(3, 2).announcement().as_bytes(), 1);
        assert!(!lowest.must_open(), "a shard that was started again is of another run");
    }
}

#[test]
fn a_silent_shard_is_lost_when_all_lines_are_processed() {
    let (mut lowest, other) = pair();
    lowest.on_drained(SILENCE_NS - 1);
    assert!(lowest.must_open());
    lowest.on_line(other.announcement().as_bytes(), SILENCE_NS);
    lowest.on_drained(SILENCE_NS);
    assert!(lowest.must_open(), "its line had arrived");
    lowest.on_drained(2 * SILENCE_NS);
    assert_eq!(
        lowest.failure(2 * SILENCE_NS + GRACE_NS),
        Some("the shard of rooms 3 to 4 has been silent for 5 s")
    );
}

#[test]
fn only_shards_at_the_gate_can_be_lost() {
    let (mut lowest, _) = pair();
    lowest.on_left(9, 0);
    lowest.on_line(b"klatch-gate g leave 3 1", 0);
    lowest.on_line(b"klatch-gate g leave x y", 0);
    assert!(lowest.must_open());
}

#[test]
fn overlapping_rooms_keep_the_gate_closed() {
    let mut lowest = membership(1, 2);
    lowest.on_line(membership(2, 2).announcement().as_bytes(), 0);
    assert!(!lowest.must_open());
    assert_eq!(lowest.describe(), "2 of 2 shards are at the gate g: rooms 1 to 2, rooms 2 to 3");
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
    assert_eq!(one.count_present(), 1);
    assert_eq!(opened_run(b"klatch-gate h open 1f"), Some(31));
    assert_eq!(opened_run(own.as_bytes()), None);
    assert_eq!(one.on_line(b"klatch-gate g open", 0), GateAction::Wait, "no number");
    assert_eq!(one.on_line(b"klatch-gate g open 1f", 0), GateAction::Go(31));
}
