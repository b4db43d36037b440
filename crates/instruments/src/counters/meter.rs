//! The counters as a process of the machine sees them.

use std::collections::HashMap;

use crate::counters::channel::{Kind, ask, read_rows, send_all};
use crate::counters::counts::{Counts, EVENTS, Events, Node, Process};
use crate::counters::data::{read_data, read_tasks};
use crate::counters::error::CountersError;
use crate::counters::hardware::Hardware;
use crate::counters::kernel::{KernelDescription, kernel_routines};
use crate::kernel_symbols::{FILE, KernelSymbols};

/// The counters of this machine.
///
/// There is one set for the whole machine. A process that opens them is their owner until another one opens them.
#[derive(Clone, Debug)]
pub struct Counters {
    hardware: Option<Hardware>,
}

impl Counters {
    /// The counters of this machine, if it is emulated with the plugin.
    pub fn detect() -> Option<Counters> {
        let answer = ask(Kind::Hello, 0, &[]).ok()??;
        let arguments = String::from_utf8_lossy(&answer.data).into_owned();
        Some(Counters { hardware: Hardware::from_arguments(&arguments) })
    }

    /// The modelled caches; `None` if only instructions are counted.
    pub fn hardware(&self) -> Option<&Hardware> {
        self.hardware.as_ref()
    }

    /// Follows tasks and their calls from now on. To be called once, before the processes of interest start.
    ///
    /// # Errors
    /// The kernel does not describe what is needed.
    pub fn track(&self) -> Result<(), CountersError> {
        let symbols =
            KernelSymbols::read().map_err(|source| CountersError::Read { path: FILE.into(), source })?;
        let kernel = KernelDescription::detect(&symbols)?;
        let routines: Vec<u8> =
            kernel_routines(&symbols)?.iter().flat_map(|address| address.to_le_bytes()).collect();
        send_all(Kind::Routines, &routines)?;
        ask(Kind::Track, 0, &kernel.bytes())?;
        Ok(())
    }

    /// Counts from zero, with empty caches. No effect if this process counts already.
    ///
    /// # Errors
    /// The plugin refused.
    pub fn open(&self) -> Result<(), CountersError> {
        ask(Kind::Open, owner(), &[])?;
        Ok(())
    }

    /// Stops counting, unless another process has opened the counters since. Returns whether this one was the owner.
    ///
    /// # Errors
    /// The plugin refused.
    pub fn close(&self) -> Result<bool, CountersError> {
        Ok(ask(Kind::Close, owner(), &[])?.is_some_and(|answer| answer.arguments[0] != 0))
    }

    /// What was counted between opening and closing.
    ///
    /// # Errors
    /// The plugin refused.
    pub fn read(&self) -> Result<Counts, CountersError> {
        let processes = read_rows::<20>(Kind::Processes)?;
        let process = |row: &[u8; 20]| Process {
            tgid: u32::from_le_bytes(row[..4].try_into().expect("four bytes")),
            name: name_of(&row[4..]),
        };
        let mut counts = Counts {
            processes: processes.iter().map(process).collect(),
            data: read_data()?,
            tasks: read_tasks()?,
            ..Counts::default()
        };
        let mut index_of = HashMap::new();
        for row in read_rows::<{ 24 + 8 * EVENTS }>(Kind::Nodes)? {
            let number =
                |at: usize| u64::from_le_bytes(row[8 * at..8 * at + 8].try_into().expect("eight bytes"));
            let (id, parent) = (number(0) & 0xffff_ffff, number(0) >> 32);
            index_of.insert(id, counts.nodes.len());
            counts.nodes.push(Node {
                parent: index_of.get(&parent).copied(),
                process: number(1) as usize,
                routine: number(2),
                events: Events(std::array::from_fn::<u64, EVENTS, _>(|event| number(3 + event))),
            });
        }
        let totals = ask(Kind::Totals, 0, &[])?.map(|answer| answer.data).unwrap_or_default();
        let totals: Vec<u64> = totals
            .chunks_exact(8)
            .map(|number| u64::from_le_bytes(number.try_into().expect("eight bytes")))
            .collect();
        if let Some((lost, instructions)) = totals.split_last() {
            counts.lost = *lost;
            let cpus = instructions.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
            counts.instructions = instructions[..cpus].to_vec();
        }
        Ok(counts)
    }
}

/// This process, as an owner of the counters.
fn owner() -> u64 {
    u64::from(std::process::id())
}

/// The name of a task. What is behind its end may be the rest of a longer one.
fn name_of(field: &[u8]) -> String {
    String::from_utf8_lossy(field.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 5.10 leaves the rest of `kworker/0` behind the name of the program that the thread has started.
    #[test]
    fn a_name_ends_at_its_end() {
        assert_eq!(name_of(b"klatch\0/0\0\0\0\0\0\0\0"), "klatch");
        assert_eq!(name_of(b"sixteen-letters-"), "sixteen-letters-");
    }
}
