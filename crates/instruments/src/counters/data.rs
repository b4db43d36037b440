//! Misses of data by the place of the line.

use crate::counters::channel::{Kind, read_rows};
use crate::counters::counts::{DataCounts, EVENTS, Event, Events, Place};
use crate::counters::error::CountersError;

/// Reads all places with misses, in the order of places.
pub(crate) fn read_data() -> Result<Vec<DataCounts>, CountersError> {
    let mut all: Vec<DataCounts> = read_rows::<56>(Kind::Data)?.iter().map(data_counts).collect();
    all.sort_by_key(|one| (one.place, one.process));
    Ok(all)
}

/// Marks the address of a whole page, as `WHOLE_PAGE` of `plugin/data.h`.
const WHOLE_PAGE: u64 = 1;

/// `struct data_row` of `plugin/data.h`.
fn data_counts(row: &[u8; 56]) -> DataCounts {
    let number = |at: usize| u64::from_le_bytes(row[8 * at..8 * at + 8].try_into().expect("eight bytes"));
    let mut events = Events([0; EVENTS]);
    for (at, event) in
        [(3, Event::L1dMisses), (4, Event::L2Misses), (5, Event::Transfers), (6, Event::Upgrades)]
    {
        events.0[event as usize] = number(at);
    }
    let place = match number(0) {
        0 => Place::User,
        1 => Place::UserStack,
        2 => Place::KernelStack,
        3 => Place::Lost,
        address if address & WHOLE_PAGE != 0 => Place::Page(address - WHOLE_PAGE),
        address => Place::Word(address),
    };
    DataCounts { process: number(2) as usize, place, physical: number(1), events }
}

/// Physical addresses of the `struct task_struct` of every thread that has run, sorted. Some may have ended.
pub(crate) fn read_tasks() -> Result<Vec<u64>, CountersError> {
    let mut all: Vec<u64> = read_rows::<8>(Kind::Tasks)?.into_iter().map(u64::from_le_bytes).collect();
    all.sort_unstable();
    Ok(all)
}
