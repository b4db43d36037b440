//! Names of the data that the lab's counters saw missed.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use klatch_counters::{Counts, DataCounts, Place, TaskStruct};

use crate::kernel::Kernel;
use crate::places::{run_queues, slab_caches};

const PAGE: u64 = 4096;
/// Stands for addresses of the kernel of which nothing is known.
const UNKNOWN: &str = "kernel, unknown";
/// At most this much behind the fields of a task: there Linux 6.16 and newer keep the registers of its FPU, bytes.
const FPU_BYTES: u64 = 4096;
const PER_CPU_DYNAMIC: &str = "per CPU, allocated";
/// Room behind the variables of a CPU for what is allocated later, bytes.
const PER_CPU_ALLOCATED: u64 = 64 << 10;

/// The means to name data. What this kernel does not tell stays unknown.
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
    pub(crate) fn new(counts: &'a Counts) -> DataNames<'a> {
        let kernel = Kernel::detect();
        let pages = counts.data.iter().filter_map(|one| match one.place {
            Place::Word(address) | Place::Page(address) => Some(address / PAGE * PAGE),
            _ => None,
        });
        let pages: Vec<u64> = pages.collect::<BTreeSet<u64>>().into_iter().collect();
        let allocations = std::fs::read_to_string("/proc/vmallocinfo").unwrap_or_default();
        let mut allocations: Vec<_> = allocations.lines().filter_map(allocation).collect();
        allocations.sort_by_key(|(range, _)| range.start);
        DataNames {
            slabs: slab_caches(&kernel, &pages).unwrap_or_default(),
            tasks: &counts.tasks,
            task_struct: TaskStruct::detect().unwrap_or_default(),
            variables: Variables::detect(&kernel),
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
            "pcpu_create_chunk" | "pcpu_get_vm_areas" => PER_CPU_DYNAMIC.to_owned(),
            "unpurged" => "vmalloc, freed".to_owned(),
            caller => format!("vmalloc {caller}"),
        })
    }

    /// By the flags of the page, of the kernel's documentation of `/proc/kpageflags`.
    fn kind_of_page(&self, physical: u64) -> &'static str {
        const LRU: u64 = 1 << 5;
        const MAPPED: u64 = 1 << 11;
        const ANONYMOUS: u64 = 1 << 12;
        const PAGE_TABLE: u64 = 1 << 26;
        let mut flags = [0; 8];
        let Some(file) = &self.page_flags else { return UNKNOWN };
        if file.read_exact_at(&mut flags, physical / PAGE * 8).is_err() {
            return UNKNOWN;
        }
        match u64::from_ne_bytes(flags) {
            flags if flags & PAGE_TABLE != 0 => "page tables",
            flags if flags & (ANONYMOUS | MAPPED) != 0 => "memory of programs",
            flags if flags & LRU != 0 => "page cache",
            _ => "other pages",
        }
    }
}

/// The variables of the kernel's own image: one for all, or one for each CPU.
#[derive(Default)]
struct Variables {
    image: Range<u64>,
    /// Link addresses and names of the variables that each CPU has.
    per_cpu: Vec<(u64, String)>,
    /// Their range, with what is allocated behind them.
    per_cpu_range: Range<u64>,
    /// What each CPU adds to a link address.
    offsets: Vec<u64>,
}

impl Variables {
    fn detect(kernel: &Kernel) -> Variables {
        let text = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        let mut symbols: Vec<(u64, &str)> = text.lines().filter_map(symbol).collect();
        let address = |wanted: &str| symbols.iter().find(|(_, name)| *name == wanted).map(|(at, _)| *at);
        let bounds = ["_stext", "_end", "__per_cpu_start", "__per_cpu_end", "runqueues"].map(address);
        let [Some(start), Some(end), Some(per_cpu_start), Some(per_cpu_end), Some(queue)] = bounds else {
            return Variables::default();
        };
        let per_cpu_range = per_cpu_start..per_cpu_end + PER_CPU_ALLOCATED;
        symbols.retain(|(at, name)| {
            (per_cpu_start..per_cpu_end).contains(at) && !name.starts_with("__per_cpu_")
        });
        symbols.sort_unstable();
        Variables {
            image: start..end,
            per_cpu: symbols.into_iter().map(|(at, name)| (at, name.to_owned())).collect(),
            per_cpu_range,
            offsets: run_queues(kernel)
                .unwrap_or_default()
                .into_iter()
                .map(|at| at.wrapping_sub(queue))
                .collect(),
        }
    }

    /// The variable at an address, or for a page that there are some.
    fn name(&self, address: u64, is_page: bool) -> Option<String> {
        if self.image.contains(&address) && !self.per_cpu_range.contains(&address) {
            return Some("variables of the kernel".to_owned());
        }
        let mut links = self.offsets.iter().map(|offset| address.wrapping_sub(*offset));
        let link = links.find(|link| self.per_cpu_range.contains(link))?;
        if is_page {
            return Some("per CPU".to_owned());
        }
        let after = self.per_cpu.partition_point(|(at, _)| *at <= link);
        let last_end = self.per_cpu_range.end - PER_CPU_ALLOCATED;
        match after.checked_sub(1).filter(|_| link < last_end) {
            Some(last) => Some(format!("per CPU {}", self.per_cpu[last].1)),
            None => Some(PER_CPU_DYNAMIC.to_owned()),
        }
    }
}

/// Address and name of a line of `/proc/kallsyms`, if it is of the kernel itself.
fn symbol(line: &str) -> Option<(u64, &str)> {
    let mut words = line.split_ascii_whitespace();
    let (address, _, name) = (words.next()?, words.next()?, words.next()?);
    words.next().is_none().then_some((u64::from_str_radix(address, 16).ok()?, name))
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
    fn lines_of_the_kernel_are_read() {
        let line =
            "0xffffc90000000000-0xffffc90000005000   20480 dup_task_struct+0x5f/0x400 pages=4 vmalloc N0=4";
        let (range, caller) = allocation(line).unwrap();
        assert_eq!((range.end - range.start, caller.as_str()), (20_480, "dup_task_struct"));
        assert_eq!(symbol("ffffffff82a00000 D runqueues"), Some((0xffff_ffff_82a0_0000, "runqueues")));
        assert_eq!(symbol("ffffffffc0001000 t x\t[module]"), None);
    }

    #[test]
    fn a_variable_of_a_cpu_has_its_name_on_each_of_them() {
        let variables = Variables {
            image: 0x1000..0x9000,
            per_cpu: vec![(0x5000, "runqueues".to_owned()), (0x6000, "cpu_info".to_owned())],
            per_cpu_range: 0x5000..0x7000 + PER_CPU_ALLOCATED,
            offsets: vec![0x10_0000, 0x20_0000],
        };
        assert_eq!(variables.name(0x1234, false).unwrap(), "variables of the kernel");
        assert_eq!(variables.name(0x20_5fff, false).unwrap(), "per CPU runqueues");
        assert_eq!(variables.name(0x10_6000, false).unwrap(), "per CPU cpu_info");
        assert_eq!(variables.name(0x10_7000, false).unwrap(), "per CPU, allocated");
        assert_eq!(variables.name(0x80_0000, false), None);
    }
}
