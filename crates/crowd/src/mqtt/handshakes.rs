//! The handshakes of QoS 1 and 2 in both directions, without any I/O.

use std::collections::{BTreeSet, VecDeque};

use super::packet::{PUBACK, PUBCOMP, PUBREC};

/// Packet identifiers are 1 to this number, in turn.
const IDS: u16 = u16::MAX;

/// The handshakes of one user.
pub(super) struct Handshakes {
    /// Quality of service, 1 or 2.
    qos: u8,
    /// Most messages of the user in flight.
    pub(super) in_flight_max: u16,
    /// Packet identifier of the first of `sent`.
    first: u16,
    /// The user's messages from the oldest one whose handshake is not complete, by packet identifier.
    sent: VecDeque<Step>,
    /// Those of `sent` whose handshake is not complete.
    incomplete: usize,
    /// Packet identifiers of messages of QoS 2 that were received, and that the broker has not released.
    held: BTreeSet<u16>,
}

/// How far the handshake of a sent message is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Published,
    /// QoS 2: the broker has it, and was told to release it.
    Released,
    Complete,
}

impl Handshakes {
    pub(super) fn new(qos: u8, in_flight_max: u16) -> Handshakes {
        let (sent, held) = (VecDeque::new(), BTreeSet::new());
        Handshakes { qos, in_flight_max, first: 1, sent, incomplete: 0, held }
    }

    /// Whether one more message may be in flight. Those that were complete before an older one count too, so an identifier is never in use
    /// when its turn comes.
    pub(super) fn may_send(&self) -> bool {
        self.sent.len() < self.in_flight_max.into()
    }

    /// Begins the handshake of one more message. Returns its packet identifier.
    pub(super) fn begin(&mut self) -> u16 {
        let place = self.sent.len() as u32;
        self.sent.push_back(Step::Published);
        self.incomplete += 1;
        let id = (u32::from(self.first) - 1 + place) % u32::from(IDS) + 1;
        id as u16
    }

    /// The broker has answered the message `id` with a packet of this kind. Returns whether it could.
    pub(super) fn on_answer(&mut self, kind: u8, id: u16) -> bool {
        let place = (u32::from(id) + u32::from(IDS) - u32::from(self.first)) % u32::from(IDS);
        let Some(step) = self.sent.get_mut(place as usize).filter(|_| id > 0) else { return false };
        *step = match (self.qos, kind, *step) {
            (1, PUBACK, Step::Published) | (2, PUBCOMP, Step::Released) => Step::Complete,
            (2, PUBREC, Step::Published) => Step::Released,
            _ => return false,
        };
        if *step == Step::Complete {
            self.incomplete -= 1;
            while self.sent.front() == Some(&Step::Complete) {
                self.sent.pop_front();
                self.first = self.first % IDS + 1;
            }
        }
        true
    }

    /// A message of QoS 2 has arrived. Returns whether it is a new one: until it is released, its identifier stands for the same message.
    pub(super) fn hold(&mut self, id: u16) -> bool {
        self.held.insert(id)
    }

    /// The broker releases a message.
    pub(super) fn release(&mut self, id: u16) {
        self.held.remove(&id);
    }

    /// Handshakes that are not complete, in both directions.
    pub(super) fn open(&self) -> usize {
        self.incomplete + self.held.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_go_round_without_zero_and_without_one_in_use() {
        let mut handshakes = Handshakes::new(1, IDS);
        for number in 0..200_000_u32 {
            let id = handshakes.begin();
            assert_eq!(u32::from(id), number % u32::from(IDS) + 1);
            assert!(handshakes.on_answer(PUBACK, id));
            assert!(!handshakes.on_answer(PUBACK, id), "it was acknowledged");
        }
        let mut all = Handshakes::new(1, IDS);
        let ids: BTreeSet<u16> = (0..IDS).map(|_| all.begin()).collect();
        assert_eq!((ids.len(), ids.first(), all.may_send()), (IDS.into(), Some(&1), false));
        assert!(!all.on_answer(PUBACK, 0));
        // All but the first, whose identifier is the next one.
        assert!((2..=IDS).rev().all(|id| all.on_answer(PUBACK, id)));
        assert_eq!((all.may_send(), all.open()), (false, 1));
        assert!(all.on_answer(PUBACK, 1));
        assert_eq!((all.may_send(), all.open(), all.begin()), (true, 0, 1));
    }

    #[test]
    fn a_message_of_qos_2_is_complete_after_both_answers_in_order() {
        let mut handshakes = Handshakes::new(2, 2);
        let (first, second) = (handshakes.begin(), handshakes.begin());
        assert!(!handshakes.may_send());
        assert!(!handshakes.on_answer(PUBCOMP, first) && !handshakes.on_answer(PUBACK, first));
        assert!(handshakes.on_answer(PUBREC, second) && handshakes.on_answer(PUBREC, first));
        assert!(!handshakes.on_answer(PUBREC, first), "it was released");
        assert!(handshakes.on_answer(PUBCOMP, first) && handshakes.may_send());
        assert_eq!(handshakes.open(), 1);
        assert!(handshakes.on_answer(PUBCOMP, second));
        assert_eq!(handshakes.open(), 0);
    }

    #[test]
    fn a_message_is_new_until_it_is_held_and_after_its_release() {
        let mut handshakes = Handshakes::new(2, 1);
        assert!(handshakes.hold(7) && !handshakes.hold(7));
        assert_eq!(handshakes.open(), 1);
        handshakes.release(7);
        handshakes.release(7);
        assert_eq!(handshakes.open(), 0);
        assert!(handshakes.hold(7));
    }
}
