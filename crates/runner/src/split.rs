//! Splits the parties of a workload among shards.

use klatch_record::Workload;

/// One workload of whole parties for each of `shards`; their sizes differ by one party at most. There must be no more
/// shards than parties.
pub fn split_parties(workload: &Workload, shards: u32) -> Vec<Workload> {
    let cut = |number: u32| (u64::from(workload.parties()) * u64::from(number) / u64::from(shards)) as u32;
    let share = |number| {
        let (from, to) = (cut(number), cut(number + 1));
        workload.with_parties(workload.start() + from, to - from)
    };
    (0..shards).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::RrWorkload;

    #[test]
    fn every_party_is_in_one_shard() {
        let whole = Workload::Rr(RrWorkload { connections: 10, start: 5, ..RrWorkload::default() });
        let parties: Vec<_> =
            split_parties(&whole, 3).iter().map(|share| (share.start(), share.parties())).collect();
        assert_eq!(parties, [(5, 3), (8, 3), (11, 4)]);
        assert_eq!(split_parties(&whole, 1), [whole]);
    }
}
