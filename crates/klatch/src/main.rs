//! The command line of Klatch.
fn main() {}
