//! Where in the stream of a peer's records the bytes end that were received so far.

/// Bytes before the content of a record; RFC 8446, section 5.1.
const HEADER_BYTES: usize = 5;

/// Follows records by their lengths.
#[derive(Debug, Default)]
pub(crate) struct Boundary {
    header: [u8; HEADER_BYTES],
    /// Received bytes of the header.
    header_bytes: usize,
    /// Bytes of the content that are still missing.
    missing_bytes: usize,
}

impl Boundary {
    /// Follows the bytes that were received next.
    pub(crate) fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.missing_bytes > 0 {
                let content = bytes.len().min(self.missing_bytes);
                self.missing_bytes -= content;
                bytes = &bytes[content..];
                continue;
            }
            self.header[self.header_bytes] = bytes[0];
            self.header_bytes += 1;
            bytes = &bytes[1..];
            if self.header_bytes == HEADER_BYTES {
                self.missing_bytes = usize::from(u16::from_be_bytes([self.header[3], self.header[4]]));
                self.header_bytes = 0;
            }
        }
    }

    /// Whether the last byte was the last one of a record.
    pub(crate) fn is_reached(&self) -> bool {
        self.header_bytes == 0 && self.missing_bytes == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_each_record_is_found_in_pieces_of_any_size() {
        let mut records = vec![23, 3, 3, 1, 0];
        records.extend([0; 256]);
        let first = records.len();
        records.extend([21, 3, 3, 0, 2, 1, 0]);
        for piece in 1..=records.len() {
            let mut boundary = Boundary::default();
            let mut passed = 0;
            for bytes in records.chunks(piece) {
                boundary.pass(bytes);
                passed += bytes.len();
                assert_eq!(
                    boundary.is_reached(),
                    passed == first || passed == records.len(),
                    "{piece}, {passed}"
                );
            }
        }
    }
}
