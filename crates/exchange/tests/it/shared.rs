//! What the vectors of several workloads have alike.

use serde_json::Value;

/// Seeds are decimal strings, because JSON's numbers have 53 bits in some languages.
pub(crate) fn seed(vector: &Value) -> u64 {
    vector["seed"].as_str().unwrap().parse().unwrap()
}

pub(crate) fn fnv1a(bytes: &[u8]) -> String {
    let start = 0xcbf2_9ce4_8422_2325;
    let hash = bytes
        .iter()
        .fold(start, |hash: u64, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}
