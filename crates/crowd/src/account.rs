//! Checks that one user receives every message of every other member exactly once, in order per speaker.

use std::collections::BTreeMap;

use klatch_record::{Fault, FaultKind};

/// Most gaps that are filled later. A server that skips every other message would make each one a gap: those over this number count as
/// lost, whatever arrives later.
const GAPS_MAX: usize = 4096;

/// How a delivery fits the earlier ones of the same speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryOrder {
    /// The next sequence number, or one after a gap.
    InOrder,
    /// Fills a gap: a later message of the same speaker arrived first.
    Late,
    /// Delivered before, or delivered to its own speaker.
    Duplicate,
}

/// The deliveries to one listener.
pub(crate) struct Account {
    listener: u32,
    /// Per speaker, the next expected sequence number. The listener's own is `u32::MAX`, so none of its messages counts as missing.
    next: Box<[u32]>,
    /// Messages that were skipped and have not arrived since, as gaps: (speaker, first) and the one after the last.
    gaps: BTreeMap<(u32, u32), u32>,
    /// The first of the messages in gaps over [`GAPS_MAX`], and their number.
    given_up: Option<((u32, u32), u64)>,
    /// Messages verified so far, without duplicates.
    pub(crate) received: u64,
    /// The lowest `next` of the other members.
    floor: u32,
    /// How many of the other members are at the floor.
    at_floor: u32,
}

impl Account {
    pub(crate) fn new(listener: u32, users: u32) -> Account {
        let mut next = vec![0; users as usize].into_boxed_slice();
        next[listener as usize] = u32::MAX;
        let gaps = BTreeMap::new();
        Account { listener, next, gaps, given_up: None, received: 0, floor: 0, at_floor: users - 1 }
    }

    /// Records message `sequence` of `speaker`, who must be a member.
    pub(crate) fn record(&mut self, speaker: u32, sequence: u32) -> DeliveryOrder {
        let next = self.next[speaker as usize];
        if speaker == self.listener {
            return DeliveryOrder::Duplicate;
        }
        if sequence < next {
            let fills_a_gap = self.fill(speaker, sequence);
            self.received += u64::from(fills_a_gap);
            return if fills_a_gap { DeliveryOrder::Late } else { DeliveryOrder::Duplicate };
        }
        if next < sequence {
            self.skip(speaker, next, sequence);
        }
        self.next[speaker as usize] = sequence + 1;
        self.received += 1;
        if next == self.floor {
            self.pass_floor();
        }
        DeliveryOrder::InOrder
    }

    /// Messages `first..end` of `speaker` were skipped.
    #[cold]
    fn skip(&mut self, speaker: u32, first: u32, end: u32) {
        if self.gaps.len() < GAPS_MAX {
            self.gaps.insert((speaker, first), end);
            return;
        }
        let (_, count) = self.given_up.get_or_insert(((speaker, first), 0));
        *count += u64::from(end - first);
    }

    /// Takes a message out of the gaps. Returns whether it was in one.
    fn fill(&mut self, speaker: u32, sequence: u32) -> bool {
        let gap = self.gaps.range(..=(speaker, sequence)).next_back().map(|(place, end)| (*place, *end));
        let Some(((_, first), end)) = gap.filter(|&((owner, _), end)| owner == speaker && sequence < end)
        else {
            return false;
        };
        self.gaps.remove(&(speaker, first));
        for (first, end) in [(first, sequence), (sequence + 1, end)] {
            if first < end {
                self.skip(speaker, first, end);
            }
        }
        true
    }

    /// The number of complete rounds: messages 0..rounds of all other members have arrived.
    pub(crate) fn rounds(&self) -> u32 {
        self.floor
    }

    /// The faults for messages that did not arrive, one a gap, as far as these are known. `sent` is the number of messages that each member sent.
    pub(crate) fn lost(&self, room: u32, sent: &[u32]) -> Vec<Fault> {
        let in_gap =
            |(&(speaker, first), &end): (&(u32, u32), &u32)| (speaker, first, u64::from(end - first));
        let mut gaps: Vec<(u32, u32, u64)> = self.gaps.iter().map(in_gap).collect();
        gaps.extend(self.given_up.map(|((speaker, first), count)| (speaker, first, count)));
        for (speaker, (&next, &sent)) in self.next.iter().zip(sent).enumerate() {
            if next < sent {
                gaps.push((speaker as u32, next, u64::from(sent - next)));
            }
        }
        let fault = |(speaker, sequence, count)| Fault {
            kind: FaultKind::Lost,
            connection: None,
            reader: None,
            room,
            user: Some(self.listener),
            speaker: Some(speaker),
            sequence: Some(sequence),
            count,
            detail: None,
        };
        gaps.into_iter().map(fault).collect()
    }

    /// Counts one speaker past the floor. When all are past it, the floor rises to the slowest of them.
    fn pass_floor(&mut self) {
        self.at_floor -= 1;
        if self.at_floor == 0 {
            let others =
                self.next.iter().enumerate().filter(|&(speaker, _)| speaker != self.listener as usize);
            self.floor = others.clone().map(|(_, &next)| next).min().expect("a room has two users at least");
            self.at_floor = others.filter(|&(_, &next)| next == self.floor).count() as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(account: &Account, sent: &[u32]) -> Vec<(u32, u32, u64)> {
        let faults = account.lost(1, sent);
        faults.iter().map(|fault| (fault.speaker.unwrap(), fault.sequence.unwrap(), fault.count)).collect()
    }

    #[test]
    fn every_message_in_order_is_new_and_nothing_is_lost() {
        let mut account = Account::new(1, 3);
        for sequence in 0..5 {
            assert_eq!(account.record(0, sequence), DeliveryOrder::InOrder);
            assert_eq!(account.record(2, sequence), DeliveryOrder::InOrder);
        }
        assert_eq!((account.received, account.rounds()), (10, 5));
        assert_eq!(gaps(&account, &[5, 9, 5]), []);
    }

    #[test]
    fn gaps_and_the_missing_tail_are_lost() {
        let mut account = Account::new(0, 2);
        account.record(1, 0);
        account.record(1, 3);
        assert_eq!(account.received, 2);
        assert_eq!(gaps(&account, &[9, 6]), [(1, 1, 2), (1, 4, 2)]);
    }

    #[test]
    fn a_late_message_is_not_lost_and_counts_once() {
        let mut account = Account::new(0, 2);
        account.record(1, 1);
        assert_eq!(account.record(1, 0), DeliveryOrder::Late);
        assert_eq!(account.record(1, 0), DeliveryOrder::Duplicate);
        assert_eq!(account.received, 2);
        assert_eq!(gaps(&account, &[0, 2]), []);
    }

    #[test]
    fn a_gap_is_filled_from_any_side() {
        let mut account = Account::new(0, 2);
        account.record(1, 9);
        for late in [4, 0, 8] {
            assert_eq!(account.record(1, late), DeliveryOrder::Late);
            assert_eq!(account.record(1, late), DeliveryOrder::Duplicate);
        }
        assert_eq!(gaps(&account, &[0, 10]), [(1, 1, 3), (1, 5, 3)]);
        assert_eq!(account.received, 4);
    }

    /// Two messages would have listed two hundred million missing ones.
    #[test]
    fn a_leap_needs_no_memory_and_many_gaps_a_limited_amount() {
        let mut account = Account::new(0, 3);
        account.record(1, 99_999_999);
        account.record(2, 99_999_999);
        assert_eq!(gaps(&account, &[0, 0, 0]), [(1, 0, 99_999_999), (2, 0, 99_999_999)]);
        let mut account = Account::new(0, 2);
        let every_other = 2 * GAPS_MAX as u32 + 9;
        for sequence in (1..every_other).step_by(2) {
            account.record(1, sequence);
        }
        let gaps = gaps(&account, &[0, every_other]);
        assert_eq!(gaps.len(), GAPS_MAX + 2);
        assert_eq!(gaps[GAPS_MAX..], [(1, 2 * GAPS_MAX as u32, 4), (1, every_other - 1, 1)]);
        let lost: u64 = gaps.iter().map(|gap| gap.2).sum();
        assert_eq!(lost + account.received, u64::from(every_other));
    }

    #[test]
    fn duplicates_and_echoes_do_not_count() {
        let mut account = Account::new(0, 2);
        account.record(1, 0);
        assert_eq!(account.record(1, 0), DeliveryOrder::Duplicate);
        assert_eq!(account.record(0, 0), DeliveryOrder::Duplicate);
        assert_eq!(account.received, 1);
    }

    #[test]
    fn the_rounds_are_those_of_the_slowest_of_the_others() {
        let mut account = Account::new(0, 3);
        account.record(1, 0);
        account.record(1, 1);
        assert_eq!(account.rounds(), 0);
        account.record(2, 0);
        assert_eq!(account.rounds(), 1);
        account.record(2, 1);
        assert_eq!(account.rounds(), 2);
    }
}
