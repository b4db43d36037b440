//! The text of a benchmark message: who said it, which of his messages it is, when it was meant to be sent, and a
//! filler that a receiver can recompute. Normative description: `docs/protocol.md`.

/// Bytes that the four fields take, and so the smallest possible text.
pub const SIZE_MIN: usize = 36;
/// The largest text that fits into an IRC line with the longest prefix and channel.
pub const SIZE_MAX: usize = 400;
/// Room numbers have 16 bits in the check.
pub const ROOM_MAX: u32 = 65_535;
/// The nick of the largest user number still has at most 12 characters.
pub const USER_MAX: u32 = 9_999;

const OFFSETS: usize = 1024;
const PATTERN: [u8; OFFSETS + SIZE_MAX] = pattern();
const HEX: &[u8; 16] = b"0123456789abcdef";

/// What a text says in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The speaker's number within the room, from 0.
    pub user: u32,
    /// The number of this message among the speaker's, from 0.
    pub sequence: u32,
    /// When it was meant to be sent: ns since the crowd's own start.
    pub time_ns: u64,
}

impl Header {
    /// Appends the text of `size` bytes ([`SIZE_MIN`]..=[`SIZE_MAX`]) for a message said in `room`.
    pub fn write(&self, room: u32, size: usize, out: &mut Vec<u8>) {
        let check = self.check(room);
        push_hex(out, self.user.into(), 4);
        push_hex(out, self.sequence.into(), 8);
        push_hex(out, self.time_ns, 12);
        push_hex(out, check.into(), 8);
        out.extend_from_slice(filler(check, size));
    }

    /// Reads a text heard in `room`. `None` if any byte of it is not what its own header demands.
    pub fn read(room: u32, text: &[u8]) -> Option<Header> {
        if !(SIZE_MIN..=SIZE_MAX).contains(&text.len()) {
            return None;
        }
        let header = Header {
            user: take_hex(&text[0..5])? as u32,
            sequence: take_hex(&text[5..14])? as u32,
            time_ns: take_hex(&text[14..27])?,
        };
        let check = header.check(room);
        let same = take_hex(&text[27..36])? == u64::from(check) && text[36..] == *filler(check, text.len());
        same.then_some(header)
    }

    fn check(&self, room: u32) -> u32 {
        let who = u64::from(room) << 48 | u64::from(self.user) << 32 | u64::from(self.sequence);
        (mix(mix(who) ^ self.time_ns) >> 32) as u32
    }
}

fn filler(check: u32, size: usize) -> &'static [u8] {
    let offset = check as usize % OFFSETS;
    &PATTERN[offset..offset + size - SIZE_MIN]
}

fn push_hex(out: &mut Vec<u8>, value: u64, digits: u32) {
    for digit in (0..digits).rev() {
        out.push(HEX[(value >> (4 * digit) & 15) as usize]);
    }
    out.push(b' ');
}

/// The number in lower-case hex digits that one space ends.
fn take_hex(field: &[u8]) -> Option<u64> {
    let (&end, digits) = field.split_last()?;
    let mut value = 0;
    for &digit in digits {
        let nibble = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        value = value << 4 | u64::from(nibble);
    }
    (end == b' ').then_some(value)
}

/// The finaliser of SplitMix64: every bit of `z` reaches every bit of the result.
const fn mix(mut z: u64) -> u64 {
    z ^= z >> 30;
    z = z.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^= z >> 27;
    z = z.wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const fn pattern() -> [u8; OFFSETS + SIZE_MAX] {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut pattern = [0; OFFSETS + SIZE_MAX];
    let mut i = 0;
    while i < pattern.len() {
        pattern[i] = alphabet[(mix(i as u64) & 63) as usize];
        i += 1;
    }
    pattern
}
