//! The variables of the kernel, by address.

use std::ops::Range;

use crate::kernel_symbols::KernelSymbols;
use crate::places::Places;

/// Name of what the kernel has allocated for each CPU.
pub(crate) const PER_CPU_ALLOCATED: &str = "per CPU, allocated";
/// Room behind the variables of a CPU for what is allocated later, bytes.
const ROOM_BYTES: u64 = 64 << 10;

/// The variables of the kernel's own image: one for all, or one for each CPU.
#[derive(Default)]
pub(crate) struct Variables {
    image: Range<u64>,
    /// Link addresses and names of the variables that each CPU has.
    per_cpu: Vec<(u64, String)>,
    /// Their range, with what is allocated behind them.
    per_cpu_range: Range<u64>,
    /// What each CPU adds to a link address.
    offsets: Vec<u64>,
}

impl Variables {
    /// The variables among these symbols. Asks the kernel where each CPU has its own.
    pub(crate) fn detect(symbols: &KernelSymbols, places: Option<&Places>) -> Variables {
        let bounds = symbols.addresses(["_stext", "_end", "__per_cpu_start", "__per_cpu_end", "runqueues"]);
        let [Some(start), Some(end), Some(per_cpu_start), Some(per_cpu_end), Some(queue)] = bounds else {
            return Variables::default();
        };
        let per_cpu_range = per_cpu_start..per_cpu_end + ROOM_BYTES;
        let per_cpu = symbols.all().filter(|symbol| {
            let is_inside = (per_cpu_start..per_cpu_end).contains(&symbol.address);
            is_inside && symbol.is_in_image && !symbol.name.starts_with("__per_cpu_")
        });
        let mut per_cpu: Vec<_> = per_cpu.map(|symbol| (symbol.address, symbol.name.to_owned())).collect();
        per_cpu.sort_unstable();
        let queues = places.and_then(|places| places.run_queues().ok()).unwrap_or_default();
        Variables {
            image: start..end,
            per_cpu,
            per_cpu_range,
            offsets: queues.into_iter().map(|at| at.wrapping_sub(queue)).collect(),
        }
    }

    /// The variable at an address; of a page only that it has variables of a CPU.
    pub(crate) fn name(&self, address: u64, is_page: bool) -> Option<String> {
        if self.image.contains(&address) && !self.per_cpu_range.contains(&address) {
            return Some("variables of the kernel".to_owned());
        }
        let mut links = self.offsets.iter().map(|offset| address.wrapping_sub(*offset));
        let link = links.find(|link| self.per_cpu_range.contains(link))?;
        if is_page {
            return Some("per CPU".to_owned());
        }
        let after = self.per_cpu.partition_point(|(at, _)| *at <= link);
        let last_end = self.per_cpu_range.end - ROOM_BYTES;
        match after.checked_sub(1).filter(|_| link < last_end) {
            Some(last) => Some(format!("per CPU {}", self.per_cpu[last].1)),
            None => Some(PER_CPU_ALLOCATED.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_a_cpu_has_its_name_on_each_of_them() {
        let variables = Variables {
            image: 0x1000..0x9000,
            per_cpu: vec![(0x5000, "runqueues".to_owned()), (0x6000, "cpu_info".to_owned())],
            per_cpu_range: 0x5000..0x7000 + ROOM_BYTES,
            offsets: vec![0x10_0000, 0x20_0000],
        };
        assert_eq!(variables.name(0x1234, false).unwrap(), "variables of the kernel");
        assert_eq!(variables.name(0x20_5fff, false).unwrap(), "per CPU runqueues");
        assert_eq!(variables.name(0x10_6000, false).unwrap(), "per CPU cpu_info");
        assert_eq!(variables.name(0x10_7000, false).unwrap(), "per CPU, allocated");
        assert_eq!(variables.name(0x80_0000, false), None);
    }
}
