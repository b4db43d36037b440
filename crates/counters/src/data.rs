//! Misses of data by the place of the line.

use crate::channel::{Kind, read_rows};
use crate::counts::{EVENTS, Event, Events};
use crate::error::CountersError;

/// Misses of a process at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataCounts {
    /// The process that missed, an index of [`crate::Counts::processes`].
    pub process: usize,
    /// Where the data was.
    pub place: Place,
    /// Physical address of the last access to it.
    pub physical: u64,
    /// Misses of data, transfers and upgrades; all other kinds are 0.
    pub events: Events,
}

/// Where data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Memory of the process, but not the stack of the current thread.
    User,
    /// The stack of the current thread in user mode.
    UserStack,
    /// The stack of the current thread in the kernel.
    KernelStack,
    /// One of the places for which there was no room.
    Lost,
    /// The word at this address of the kernel.
    Word(u64),
    /// The page at this address of the kernel, because there were too many words.
    Page(u64),
}

/// Reads all places with misses, in the order of places.
pub(crate) fn read_data() -> Result<Vec<DataCounts>, CountersError> {
    let mut all: Vec<DataCounts> = read_rows::<56>(Kind::Data)?.iter().map(data_counts).collect();
    all.sort_by_key(|one| (one.place, one.process));
    Ok(all)
}

/// `WHOLE_PAGE` of `plugin/data.h`.
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
