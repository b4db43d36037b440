//! Replies that are right but for a few bytes, for tests of those who check replies.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// What a reply may have in place of a part of it.
const TOKENS: [&str; 18] = [
    "",
    "0",
    "-1",
    "1e308",
    "9999999999",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999",
    "null",
    "true",
    "[]",
    "{}",
    "\"",
    "\\u0000",
    ",",
    "<",
    "\u{fffd}",
];

/// A place, how many bytes are removed there, and what is inserted.
pub(crate) type Change = (Index, usize, &'static str);

/// At least one change of a reply.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    vec((any::<Index>(), 0..20_usize, select(TOKENS.to_vec())), 1..4)
}

/// The reply with these changes.
pub(crate) fn altered(reply: &[u8], changes: &[Change]) -> Vec<u8> {
    changes.iter().fold(reply.to_vec(), |mut reply, (at, count, token)| {
        let begin = at.index(reply.len() + 1);
        let end = (begin + count).min(reply.len());
        reply.splice(begin..end, token.bytes());
        reply
    })
}
