//! The crowd's own code without any I/O: a room of 20 in which each user says as many messages as the first argument
//! tells. `scripts/instructions.sh` counts its instructions.

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).expect("a number of messages");
    let verified = klatch_crowd::rehearse(count);
    assert_eq!(verified, u64::from(count) * 20 * 19);
}
