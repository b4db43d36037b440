//! Splits the rooms of a workload among shards.

use klatch_record::Workload;

/// One workload of whole rooms for each of `shards`; their sizes differ by one room at most. There must be no more
/// shards than rooms.
pub fn split_rooms(workload: &Workload, shards: u32) -> Vec<Workload> {
    let cut = |number: u32| (u64::from(workload.rooms) * u64::from(number) / u64::from(shards)) as u32;
    let share = |number| {
        let (from, to) = (cut(number), cut(number + 1));
        Workload { start: workload.start + from, rooms: to - from, ..workload.clone() }
    };
    (0..shards).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::Pacing;

    #[test]
    fn every_room_is_in_one_shard() {
        let pacing = Pacing::Turns;
        let whole =
            Workload { rooms: 10, users: 20, count: 1, size_bytes: 60, start: 5, pacing, pause_s: 0.0 };
        let rooms: Vec<_> = split_rooms(&whole, 3).iter().map(|share| (share.start, share.rooms)).collect();
        assert_eq!(rooms, [(5, 3), (8, 3), (11, 4)]);
        assert_eq!(split_rooms(&whole, 1), [whole]);
    }
}
