//! The reader of the rings into which each CPU writes its events.

use std::os::fd::AsFd;
use std::sync::atomic::{Ordering, fence};

use libbpf_rs::OpenObject;

use super::file::EVENT_BYTES;
use crate::bpf::{Bpf, MappedTable};
use crate::error::InstrumentError;

/// Size of `struct ring` of trace.bpf.c.
const RING_BYTES: usize = 64;
/// Offset of `begun` in it.
const BEGUN: usize = 0;
/// Offset of `done` in it.
const DONE: usize = 8;

/// Attempts to read a ring while no event is being written.
///
/// Writing takes less than a microsecond unless the hypervisor preempts the CPU. Its events are then read the next time.
const TRIES: u32 = 1_000;

/// The rings of all CPUs, mapped into this process.
pub(super) struct Rings {
    rings: MappedTable,
    events: MappedTable,
    /// The number of events of CPUs without a ring.
    without_ring: MappedTable,
    /// Of these, the number that [`Rings::drain`] has returned.
    without_ring_returned: u64,
    /// Events that one ring holds.
    capacity: u64,
    /// Events of each CPU that were read or lost so far.
    consumed: Vec<u64>,
}

/// Sets the sizes of the maps before loading: `capacity` events for each CPU.
pub(super) fn set_sizes(open: &mut OpenObject, cpus: u32, capacity: u32) -> libbpf_rs::Result<()> {
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        match name.as_str() {
            "rings" => map.set_max_entries(cpus)?,
            "events" => map.set_max_entries(cpus * capacity)?,
            _ if name.ends_with(".rodata") => {
                let constants = map.initial_value_mut().and_then(|bytes| bytes.first_chunk_mut());
                *constants.expect("the object has the constant ring_events") = capacity.to_ne_bytes();
            }
            _ => {}
        }
    }
    Ok(())
}

impl Rings {
    /// Maps the rings of a loaded object.
    pub(super) fn map(bpf: &Bpf, cpus: u32, capacity: u32) -> Result<Rings, InstrumentError> {
        let failed = |error| InstrumentError(format!("a table cannot be mapped: {error}"));
        let map = |name: &str, bytes| MappedTable::new(bpf.map(name)?.as_fd(), bytes).map_err(failed);
        Ok(Rings {
            rings: map("rings", cpus as usize * RING_BYTES)?,
            events: map("events", cpus as usize * capacity as usize * EVENT_BYTES)?,
            without_ring: map("without_ring", size_of::<u64>())?,
            without_ring_returned: 0,
            capacity: capacity.into(),
            consumed: vec![0; cpus as usize],
        })
    }

    /// Passes the events since the last call to `sink`, CPU by CPU. Returns how many were overwritten before they were read,
    /// or had no ring.
    pub(super) fn drain(&mut self, mut sink: impl FnMut(&[u8; EVENT_BYTES])) -> u64 {
        let without_ring = self.without_ring.load(0);
        let mut lost = without_ring - std::mem::replace(&mut self.without_ring_returned, without_ring);
        let mut copies: Vec<[u8; EVENT_BYTES]> = Vec::new();
        for cpu in 0..self.consumed.len() {
            let number = |offset| self.rings.load(cpu * RING_BYTES + offset);
            // `done` is loaded first, so an event that begins between the two loads makes them differ.
            let idle = || Some(number(DONE)).filter(|done| *done == number(BEGUN));
            let Some(end) = (0..TRIES).find_map(|_| {
                idle().or_else(|| {
                    std::thread::yield_now();
                    None
                })
            }) else {
                continue;
            };
            let from = self.consumed[cpu].max(end.saturating_sub(self.capacity));
            copies.clear();
            copies.extend((from..end).map(|event| {
                let slot = cpu * self.capacity as usize + (event % self.capacity) as usize;
                self.events.copy(slot * EVENT_BYTES)
            }));
            // Events that began during the copying overwrote the oldest ones. Loads are not ordered before a later load that acquires, so
            // without the fence an Arm could load the number first.
            fence(Ordering::Acquire);
            let oldest = number(BEGUN).saturating_sub(self.capacity).clamp(from, end);
            copies.iter().skip((oldest - from) as usize).for_each(&mut sink);
            lost += oldest - self.consumed[cpu];
            self.consumed[cpu] = end;
        }
        lost
    }
}
