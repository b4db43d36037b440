//! Helpers of several tests.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use klatch_protocol::chat::Outbox;

/// Returns the path of a file or folder in `vectors/`.
pub(crate) fn vectors(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name)
}

/// Decodes the escapes of `vectors/README.md`.
pub(crate) fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (taken, meant) = match rest {
            [b'r', ..] => (1, b'\r'),
            [b'n', ..] => (1, b'\n'),
            [b'0', ..] => (1, 0),
            [b'\\', ..] => (1, b'\\'),
            [b'x', high, low, ..] => {
                let digits = [*high, *low];
                let hex = std::str::from_utf8(&digits).expect("hex digits");
                (3, u8::from_str_radix(hex, 16).expect("hex digits"))
            }
            _ => panic!("vectors/README.md does not define this escape: {text}"),
        };
        bytes.push(meant);
        rest = &rest[taken..];
    }
    bytes
}

/// A connection that keeps the lines that are sent to it.
#[derive(Clone, Default)]
pub(crate) struct Lines(pub(crate) Arc<Mutex<Vec<Arc<[u8]>>>>);

impl Outbox for Lines {
    fn send(&self, line: &Arc<[u8]>) {
        self.0.lock().unwrap().push(Arc::clone(line));
    }
}
