//! The crowd's own code without any I/O: a room of 20 in which each user sends as many messages as the first argument
//! says. `scripts/instructions.sh` counts its instructions.

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).expect("a number of messages");
    let verified = klatch_crowd::simulate_room(count);
    assert_eq!(verified, u64::from(count) * 20 * 19);
}
