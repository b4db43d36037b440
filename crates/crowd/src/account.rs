//! What one user has heard: every message of every other member exactly once, in order per speaker.

use std::collections::BTreeSet;

use klatch_record::{Fault, FaultKind};

/// How a delivery fits with those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It is the next of its speaker, or one past a gap.
    New,
    /// It fills a gap, so a later one of the same speaker came before it.
    Late,
    /// It came before, or its speaker is the listener.
    Again,
}

/// The account of one listener.
pub(crate) struct Account {
    listener: u32,
    /// Per speaker the sequence number that comes next. The listener's own is moved out of the way.
    next: Box<[u32]>,
    /// (speaker, sequence) of what was jumped over and has not come since.
    missing: BTreeSet<(u32, u32)>,
    /// Messages verified.
    pub(crate) received: u64,
    /// All the others have got at least this far.
    floor: u32,
    /// How many of the others are still at the floor.
    at_floor: u32,
}

impl Account {
    pub(crate) fn new(listener: u32, users: u32) -> Account {
        let mut next = vec![0; users as usize].into_boxed_slice();
        next[listener as usize] = u32::MAX;
        Account { listener, next, missing: BTreeSet::new(), received: 0, floor: 0, at_floor: users - 1 }
    }

    /// Takes in message `sequence` of `speaker`, who must be a member.
    pub(crate) fn hear(&mut self, speaker: u32, sequence: u32) -> Heard {
        let next = self.next[speaker as usize];
        if speaker == self.listener {
            return Heard::Again;
        }
        if sequence < next {
            let fills_a_gap = self.missing.remove(&(speaker, sequence));
            self.received += u64::from(fills_a_gap);
            return if fills_a_gap { Heard::Late } else { Heard::Again };
        }
        self.missing.extend((next..sequence).map(|skipped| (speaker, skipped)));
        self.next[speaker as usize] = sequence + 1;
        self.received += 1;
        if next == self.floor {
            self.leave_floor();
        }
        Heard::New
    }

    /// The number of rounds that are complete: messages 0..rounds of all the others have come.
    pub(crate) fn rounds(&self) -> u32 {
        self.floor
    }

    /// What has not come of the `said` messages of each member: one fault a gap.
    pub(crate) fn lost(&self, room: u32, said: &[u32]) -> Vec<Fault> {
        let mut gaps: Vec<(u32, u32, u64)> =
            self.missing.iter().map(|&(who, first)| (who, first, 1)).collect();
        for (speaker, (&next, &said)) in self.next.iter().zip(said).enumerate() {
            if next < said {
                gaps.push((speaker as u32, next, u64::from(said - next)));
            }
        }
        let fault = |(speaker, sequence, count)| Fault {
            kind: FaultKind::Lost,
            room,
            user: Some(self.listener),
            speaker: Some(speaker),
            sequence: Some(sequence),
            count,
            detail: None,
        };
        gaps.into_iter().map(fault).collect()
    }

    /// One more speaker is past the floor; when all are, it rises to the slowest of them.
    fn leave_floor(&mut self) {
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

    fn gaps(account: &Account, said: &[u32]) -> Vec<(u32, u32, u64)> {
        let faults = account.lost(1, said);
        faults.iter().map(|fault| (fault.speaker.unwrap(), fault.sequence.unwrap(), fault.count)).collect()
    }

    #[test]
    fn every_message_in_order_is_new_and_nothing_is_lost() {
        let mut account = Account::new(1, 3);
        for sequence in 0..5 {
            assert_eq!(account.hear(0, sequence), Heard::New);
            assert_eq!(account.hear(2, sequence), Heard::New);
        }
        assert_eq!((account.received, account.rounds()), (10, 5));
        assert_eq!(gaps(&account, &[5, 9, 5]), []);
    }

    #[test]
    fn a_gap_is_lost_and_so_is_the_tail() {
        let mut account = Account::new(0, 2);
        account.hear(1, 0);
        account.hear(1, 3);
        assert_eq!(account.received, 2);
        assert_eq!(gaps(&account, &[9, 6]), [(1, 1, 1), (1, 2, 1), (1, 4, 2)]);
    }

    #[test]
    fn what_comes_late_was_not_lost_and_counts_once() {
        let mut account = Account::new(0, 2);
        account.hear(1, 1);
        assert_eq!(account.hear(1, 0), Heard::Late);
        assert_eq!(account.hear(1, 0), Heard::Again);
        assert_eq!(account.received, 2);
        assert_eq!(gaps(&account, &[0, 2]), []);
    }

    #[test]
    fn a_repeat_and_an_echo_do_not_count() {
        let mut account = Account::new(0, 2);
        account.hear(1, 0);
        assert_eq!(account.hear(1, 0), Heard::Again);
        assert_eq!(account.hear(0, 0), Heard::Again);
        assert_eq!(account.received, 1);
    }

    #[test]
    fn the_rounds_are_those_of_the_slowest_of_the_others() {
        let mut account = Account::new(0, 3);
        account.hear(1, 0);
        account.hear(1, 1);
        assert_eq!(account.rounds(), 0);
        account.hear(2, 0);
        assert_eq!(account.rounds(), 1);
        account.hear(2, 1);
        assert_eq!(account.rounds(), 2);
    }
}
