//! The text of a benchmark message: sender, sequence number, intended send time, checksum, and a filler that the
//! receiver can recompute. The normative description is in `docs/reference/protocol.md`.

/// Length of the header in bytes, and so of the smallest text.
pub const SIZE_MIN: usize = 36;
/// Bytes of the largest text that fits into an IRC line with the longest prefix and channel.
pub const SIZE_MAX: usize = 400;
/// The largest room number: the checksum covers 16 bits of it.
pub const ROOM_MAX: u32 = 65_535;
/// The largest user number in a room: its nick has at most 12 characters, which every IRC server accepts.
pub const USER_MAX: u32 = 9_999;

const OFFSETS: usize = 1024;
const PATTERN: [u8; OFFSETS + SIZE_MAX] = pattern();
const HEX: &[u8; 16] = b"0123456789abcdef";

/// The header of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The sender's number within the room, from 0.
    pub user: u32,
    /// The number of this message among those of its sender, from 0.
    pub sequence: u32,
    /// The intended send time, in nanoseconds since the crowd's own start.
    pub time_ns: u64,
}

impl Header {
    /// Appends the text of `size` bytes ([`SIZE_MIN`]..=[`SIZE_MAX`]) for a message to `room`.
    pub fn write(&self, room: u32, size: usize, out: &mut Vec<u8>) {
        let check = self.check(room);
        push_hex(out, self.user.into(), 4);
        push_hex(out, self.sequence.into(), 8);
        push_hex(out, self.time_ns, 12);
        push_hex(out, check.into(), 8);
        out.extend_from_slice(filler(check, size));
    }

    /// Parses a text received in `room`. Returns `None` if any byte differs from what its header requires.
    pub fn read(room: u32, text: &[u8]) -> Option<Header> {
        if !(SIZE_MIN..=SIZE_MAX).contains(&text.len()) {
            return None;
        }
        let spaces = [4, 13, 26, 35].iter().all(|&at| text[at] == b' ');
        let header = Header {
            user: parse_hex_4(&text[0..4])?,
            sequence: parse_hex_8(&text[5..13])?,
            time_ns: u64::from(parse_hex_8(&text[14..22])?) << 16 | u64::from(parse_hex_4(&text[22..26])?),
        };
        let check = header.check(room);
        let same = parse_hex_8(&text[27..35])? == check && text[36..] == *filler(check, text.len());
        (spaces && same).then_some(header)
    }

    fn check(&self, room: u32) -> u32 {
        let identity = u64::from(room) << 48 | u64::from(self.user) << 32 | u64::from(self.sequence);
        (mix(mix(identity) ^ self.time_ns) >> 32) as u32
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

/// Parses four lower-case hex digits.
fn parse_hex_4(digits: &[u8]) -> Option<u32> {
    let mut eight = *b"00000000";
    eight[4..].copy_from_slice(digits);
    parse_hex_8(&eight)
}

/// Parses eight lower-case hex digits. It runs for every delivery, so it handles all digits in one 64-bit word.
fn parse_hex_8(digits: &[u8]) -> Option<u32> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let digits = u64::from_be_bytes(digits.try_into().ok()?);
    // Letters have the bit 0x40, and their low bits count from 1.
    let values = (digits & (0x0f * EACH)) + ((digits & (0x40 * EACH)) >> 6) * 9;
    // Any other byte does not survive the conversion to a value and back.
    let above_9 = ((values + 6 * EACH) >> 4) & EACH;
    let same = values + u64::from(b'0') * EACH + above_9 * u64::from(b'a' - b'0' - 10) == digits;
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    let small = values & (0xf0 * EACH) == 0;
    (same && small).then_some((fours | fours >> 16) as u32)
}

/// The finaliser of SplitMix64: every bit of `z` affects every bit of the result.
pub const fn mix(mut z: u64) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_digits_parse_as_with_the_standard_library() {
        let mut digits = *b"00000000";
        for place in 0..8 {
            for byte in 0..=255_u8 {
                digits[place] = byte;
                let lower = byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
                let text = std::str::from_utf8(&digits).ok().filter(|_| lower);
                let expected = text.map(|text| u32::from_str_radix(text, 16).unwrap());
                assert_eq!(parse_hex_8(&digits), expected, "{byte} at {place}");
            }
            digits[place] = b"9a3f07be"[place];
        }
        assert_eq!((parse_hex_8(&digits), parse_hex_4(b"c0de")), (Some(0x9a3f_07be), Some(0xc0de)));
    }
}
