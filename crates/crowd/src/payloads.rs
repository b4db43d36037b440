//! The bytes of requests and of their replies: a function of seed, connection and number, so a reply is checked without a copy.

use klatch_protocol::chat::text::mix;

/// The letters of URL-safe Base64, so that every protocol can carry a payload.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Letters of a number: 24 bits.
const NUMBER: usize = 4;
/// Letters before the part that only the seed decides: the number of the request, and of the connection.
const HEAD: usize = 2 * NUMBER;
/// Number of places in the block at which a payload may begin. A power of two.
const PLACES: u64 = 4096;

pub(crate) struct Payloads {
    size: usize,
    seed: u64,
    /// Random letters. A payload continues with a part of them.
    block: Box<[u8]>,
}

impl Payloads {
    /// Payloads of `size` bytes, at least 4.
    pub(crate) fn new(seed: u64, size: usize) -> Payloads {
        let letters =
            |word: u64| mix(seed ^ mix(word)).to_le_bytes().map(|byte| LETTERS[usize::from(byte & 63)]);
        let words = (size + PLACES as usize).div_ceil(8) as u64;
        Payloads { size, seed, block: (0..words).flat_map(letters).collect() }
    }

    /// Appends the payload of a request.
    pub(crate) fn write(&self, connection: u32, sequence: u32, out: &mut Vec<u8>) {
        let head = head(connection, sequence);
        out.extend_from_slice(&head[..self.size.min(HEAD)]);
        out.extend_from_slice(self.rest(connection, sequence));
    }

    /// Whether these bytes are the payload of that request.
    pub(crate) fn matches(&self, connection: u32, sequence: u32, bytes: &[u8]) -> bool {
        let split = self.size.min(HEAD);
        bytes.len() == self.size
            && bytes[..split] == head(connection, sequence)[..split]
            && bytes[split..] == *self.rest(connection, sequence)
    }

    fn rest(&self, connection: u32, sequence: u32) -> &[u8] {
        let place = mix(self.seed ^ (u64::from(connection) << 32 | u64::from(sequence))) % PLACES;
        &self.block[place as usize..][..self.size.saturating_sub(HEAD)]
    }
}

fn head(connection: u32, sequence: u32) -> [u8; HEAD] {
    let letter = |number: u32, place: usize| LETTERS[(number >> (6 * place) & 63) as usize];
    std::array::from_fn(|place| match place {
        0..NUMBER => letter(sequence, place),
        _ => letter(connection, place - NUMBER),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn payload(payloads: &Payloads, connection: u32, sequence: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        payloads.write(connection, sequence, &mut bytes);
        bytes
    }

    proptest! {
        #[test]
        fn only_the_payload_itself_matches(
            size in 4_usize..5_000, connection in 1_u32..100_000, sequence in 0_u32..1 << 24, at in any::<usize>(), bit in 0..8,
        ) {
            let payloads = Payloads::new(7, size);
            let mut bytes = payload(&payloads, connection, sequence);
            prop_assert_eq!(bytes.len(), size);
            prop_assert!(payloads.matches(connection, sequence, &bytes));
            prop_assert!(!payloads.matches(connection, sequence + 1, &bytes));
            prop_assert!(size < 8 || !payloads.matches(connection + 1, sequence, &bytes));
            prop_assert!(!payloads.matches(connection, sequence, &bytes[1..]));
            bytes[at % size] ^= 1_u8 << bit;
            prop_assert!(!payloads.matches(connection, sequence, &bytes));
        }
    }

    #[test]
    fn every_protocol_can_carry_the_letters() {
        let bytes = payload(&Payloads::new(1, 65_536), 3, 9);
        assert!(bytes.iter().all(|byte| LETTERS.contains(byte)));
        assert_ne!(bytes, payload(&Payloads::new(2, 65_536), 3, 9), "another seed");
    }
}
