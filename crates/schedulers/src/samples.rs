//! A scheduler for tests, which does wrong things.

/// Object of `samples/misbehaving.bpf.c`.
pub static MISBEHAVING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/misbehaving.bpf.o"));
