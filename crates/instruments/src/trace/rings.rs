//! The rings into which each CPU writes its events, as their reader sees them.

use std::os::fd::AsFd;

use libbpf_rs::OpenObject;

use super::file::EVENT_BYTES;
use crate::bpf::{Bpf, Mapped};
use crate::instrument::InstrumentError;

/// Bytes of `struct ring` of trace.bpf.c, and where its numbers are.
const RING_BYTES: usize = 64;
const BEGUN: usize = 0;
const DONE: usize = 8;

/// How often an event that is being written is waited for. It takes less than a microsecond, but for a CPU of a guest, which may
/// be taken away: then the events of that CPU are read the next time.
const TRIES: u32 = 1_000;

/// The rings of all CPUs.
pub(super) struct Rings {
    rings: Mapped,
    events: Mapped,
    /// Events that have room in each.
    room: u64,
    /// How many of each have been read, or lost.
    read: Vec<u64>,
}

/// Gives the tables their sizes: `room` events for each CPU.
pub(super) fn set_room(open: &mut OpenObject, cpus: u32, room: u32) -> libbpf_rs::Result<()> {
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        match name.as_str() {
            "rings" => map.set_max_entries(cpus)?,
            "events" => map.set_max_entries(cpus * room)?,
            _ if name.ends_with(".rodata") => {
                let constants = map.initial_value_mut().and_then(|bytes| bytes.first_chunk_mut());
                *constants.expect("ring_events is there") = room.to_ne_bytes();
            }
            _ => {}
        }
    }
    Ok(())
}

impl Rings {
    /// Those of a loaded object.
    pub(super) fn of(bpf: &Bpf, cpus: u32, room: u32) -> Result<Rings, InstrumentError> {
        let failed = |error| InstrumentError(format!("a table cannot be mapped: {error}"));
        let map = |name: &str, bytes| Mapped::new(bpf.map(name)?.as_fd(), bytes).map_err(failed);
        Ok(Rings {
            rings: map("rings", cpus as usize * RING_BYTES)?,
            events: map("events", cpus as usize * room as usize * EVENT_BYTES)?,
            room: room.into(),
            read: vec![0; cpus as usize],
        })
    }

    /// Gives what has come since the last time, CPU by CPU; returns how many events were overwritten before they were read.
    pub(super) fn drain(&mut self, mut take: impl FnMut(&[u8; EVENT_BYTES])) -> u64 {
        let mut lost = 0;
        let mut whole: Vec<[u8; EVENT_BYTES]> = Vec::new();
        for cpu in 0..self.read.len() {
            let number = |at| self.rings.number(cpu * RING_BYTES + at);
            // In this order: an event that begins between the two looks makes them differ.
            let still = || Some(number(DONE)).filter(|done| *done == number(BEGUN));
            let Some(end) = (0..TRIES).find_map(|_| {
                still().or_else(|| {
                    std::thread::yield_now();
                    None
                })
            }) else {
                continue;
            };
            let from = self.read[cpu].max(end.saturating_sub(self.room));
            whole.clear();
            whole.extend((from..end).map(|event| {
                let place = cpu * self.room as usize + (event % self.room) as usize;
                self.events.copy(place * EVENT_BYTES)
            }));
            // What was begun meanwhile was written over the oldest.
            let oldest = number(BEGUN).saturating_sub(self.room).clamp(from, end);
            whole.iter().skip((oldest - from) as usize).for_each(&mut take);
            lost += oldest - self.read[cpu];
            self.read[cpu] = end;
        }
        lost
    }
}
