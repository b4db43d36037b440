//! Names of the data that the lab's counters saw missed.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::counters::{Counts, DataCounts, Place, TaskStruct};

use crate::kernel::Kernel;
use crate::kernel_symbols::KernelSymbols;
use crate::places::Places;
use crate::variables::{PER_CPU_ALLOCATED, Variables};

const PAGE: u64 = 4096;
/// Stands for addresses of the kernel of which nothing is known.
const UNKNOWN: &str = "kernel, unknown";
/// At most this much behind the fields of a task: there the lab's kernels keep the registers of its FPU, bytes.
const FPU_BYTES: u64 = 4096;

/// Names data by what this kernel says of it, else [`UNKNOWN`].
pub(crate) struct DataNames<'a> {
    /// Names of slab caches by page.
    slabs: HashMap<u64, String>,
    /// Physical addresses of all tasks, sorted.
    tasks: &'a [u64],
    task_struct: TaskStruct,
    variables: Variables,
    /// Of `/proc/vmallocinfo`: ranges, sorted, and who allocated them.
    allocations: Vec<(Range<u64>, String)>,
    page_flags: Option<File>,
}

impl<'a> DataNames<'a> {
    /// Asks the kernel about every place of `counts`.
    pub(crate) fn new(counts: &'a Counts, symbols: &KernelSymbols) -> DataNames<'a> {
        // A kernel that cannot be asked leaves slabs without names; kind_of_page() sees that.
        let places = Places::load(&Kernel::detect()).ok();
        let pages = counts.data.iter().filter_map(|one| match one.place {
            Place::Word(address) | Place::Page(address) => Some(address / PAGE * PAGE),
            _ => None,
        });
        let pages: Vec<u64> = pages.collect::<BTreeSet<u64>>().into_iter().collect();
        let allocations = std::fs::read_to_string("/proc/vmallocinfo").unwrap_or_default();
        let mut allocations: Vec<_> = allocations.lines().filter_map(allocation).collect();
        allocations.sort_by_key(|(range, _)| range.start);
        DataNames {
            slabs: places.as_ref().and_then(|places| places.slab_caches(&pages).ok()).unwrap_or_default(),
            tasks: &counts.tasks,
            task_struct: TaskStruct::detect().unwrap_or_default(),
            variables: Variables::detect(symbols, places.as_ref()),
            allocations,
            page_flags: File::open("/proc/kpageflags").ok(),
        }
    }

    /// What lies at this place.
    pub(crate) fn name(&self, data: &DataCounts) -> String {
        let address = match data.place {
            Place::User => return "memory of programs".to_owned(),
            Place::UserStack => return "stacks of programs".to_owned(),
            Place::KernelStack => return "kernel stacks".to_owned(),
            Place::Lost => return "others".to_owned(),
            Place::Word(address) | Place::Page(address) => address,
        };
        let slab = self.slabs.get(&(address / PAGE * PAGE));
        match slab.map(String::as_str) {
            Some("task_struct") => self.field_of_task(data.physical),
            Some(slab) => format!("slab {slab}"),
            None => self
                .variables
                .name(address, matches!(data.place, Place::Page(_)))
                .or_else(|| self.allocated_by(address))
                .unwrap_or_else(|| self.kind_of_page(data.physical).to_owned()),
        }
    }

    fn field_of_task(&self, physical: u64) -> String {
        let after = self.tasks.partition_point(|task| *task <= physical);
        let offset = after.checked_sub(1).map(|last| physical - self.tasks[last]);
        match offset {
            Some(offset) if offset < self.task_struct.bytes => {
                format!("task_struct.{}", self.task_struct.field_at(offset))
            }
            Some(offset) if offset < self.task_struct.bytes + FPU_BYTES => {
                "task_struct, FPU registers".to_owned()
            }
            _ => "slab task_struct".to_owned(),
        }
    }

    fn allocated_by(&self, address: u64) -> Option<String> {
        let after = self.allocations.partition_point(|(range, _)| range.start <= address);
        let (range, caller) = &self.allocations[after.checked_sub(1)?];
        range.contains(&address).then(|| match caller.as_str() {
            "dup_task_struct" => "kernel stacks".to_owned(),
            "pcpu_create_chunk" | "pcpu_get_vm_areas" => PER_CPU_ALLOCATED.to_owned(),
            "unpurged" => "vmalloc, freed".to_owned(),
            caller => format!("vmalloc {caller}"),
        })
    }

    /// By the flags of the page, of the kernel's documentation of `/proc/kpageflags`.
    fn kind_of_page(&self, physical: u64) -> &'static str {
        const LRU: u64 = 1 << 5;
        const SLAB: u64 = 1 << 7;
        const MAPPED: u64 = 1 << 11;
        const ANONYMOUS: u64 = 1 << 12;
        const PAGE_TABLE: u64 = 1 << 26;
        const RESERVED: u64 = 1 << 32;
        let mut flags = [0; 8];
        let Some(file) = &self.page_flags else { return UNKNOWN };
        if file.read_exact_at(&mut flags, physical / PAGE * 8).is_err() {
            return UNKNOWN;
        }
        match u64::from_ne_bytes(flags) {
            flags if flags & SLAB != 0 => UNKNOWN,
            flags if flags & RESERVED != 0 => "reserved at boot",
            flags if flags & PAGE_TABLE != 0 => "page tables",
            flags if flags & (ANONYMOUS | MAPPED) != 0 => "memory of programs",
            flags if flags & LRU != 0 => "page cache",
            _ => "other pages",
        }
    }
}

/// Range and caller of a line of `/proc/vmallocinfo`.
fn allocation(line: &str) -> Option<(Range<u64>, String)> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let caller = words.nth(1)?.split('+').next()?;
    Some((number(start)?..number(end)?, caller.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_allocation_is_named_by_its_caller() {
        let line =
            "0xffffc90000000000-0xffffc90000005000   20480 dup_task_struct+0x5f/0x400 pages=4 vmalloc N0=4";
        let (range, caller) = allocation(line).unwrap();
        assert_eq!((range.end - range.start, caller.as_str()), (20_480, "dup_task_struct"));
    }
}
