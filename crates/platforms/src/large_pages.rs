//! Verifies large pages. A Java that gets none goes on without them and prints only a warning.

use std::fs::read_to_string;

use crate::catalog::Pages;
use crate::needs::heap_mib;
use crate::setting::{KnobError, Setting};

const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// The name of an anonymous mapping of large pages in `/proc/PID/maps`.
const MAPPING: &str = "/anon_hugepage";

/// A setting that needs large pages, to be verified in the running process.
#[derive(Clone, Debug)]
pub(crate) struct LargePages {
    setting: String,
    heap_mib: u64,
}

/// Checks that the machine can provide the `pages` of `setting`. What it returns must be verified in the running process.
pub(crate) fn check_available(
    setting: &Setting,
    pages: Pages,
    settings: &[Setting],
) -> Result<Option<LargePages>, KnobError> {
    let refused = |reason| Err(KnobError::Refused { setting: setting.to_string(), reason });
    if pages == Pages::Transparent {
        let off = read_to_string(TRANSPARENT).map_or(true, |text| text.contains("[never]"));
        let reason =
            "transparent huge pages are off on this system; the sysctl thp=madvise turns them on for the run";
        return if off { refused(reason.to_owned()) } else { Ok(None) };
    }
    let needed = LargePages { setting: setting.to_string(), heap_mib: heap_mib(settings).unwrap_or(1) };
    let (free_mib, page_mib) = free(&read_to_string("/proc/meminfo").unwrap_or_default());
    if free_mib < needed.heap_mib {
        let pages = needed.heap_mib.div_ceil(page_mib);
        return refused(format!(
            "the heap needs {} MiB of large pages, and {free_mib} MiB are free; \
             the sysctl vm.nr_hugepages={pages} sets them aside for the run",
            needed.heap_mib
        ));
    }
    Ok(Some(needed))
}

/// Large pages that are neither used nor reserved, and the size of one page, both in MiB.
fn free(meminfo: &str) -> (u64, u64) {
    let number = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let page_mib = number("Hugepagesize:").map_or(2, |kib| kib.div_ceil(1024));
    let reserved = number("HugePages_Rsvd:").unwrap_or(0);
    (number("HugePages_Free:").unwrap_or(0).saturating_sub(reserved) * page_mib, page_mib)
}

impl LargePages {
    /// Verifies that the process has mapped enough large pages.
    pub(crate) fn in_force(&self, pid: u32) -> Result<(), KnobError> {
        let maps = read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let mapped = mapped_mib(&maps);
        if mapped >= self.heap_mib {
            return Ok(());
        }
        let reason = format!(
            "the process has {mapped} MiB of large pages, and its heap needs {}; set more aside with \
             the sysctl vm.nr_hugepages, and set the heap (heap=1g)",
            self.heap_mib
        );
        Err(KnobError::Refused { setting: self.setting.clone(), reason })
    }
}

fn mapped_mib(maps: &str) -> u64 {
    let size = |line: &str| {
        let (first, end) = line.split_whitespace().next()?.split_once('-')?;
        Some(u64::from_str_radix(end, 16).ok()? - u64::from_str_radix(first, 16).ok()?)
    };
    maps.lines().filter(|line| line.contains(MAPPING)).filter_map(size).sum::<u64>() >> 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_pages_are_not_free() {
        let meminfo = "HugePages_Total:      64\nHugePages_Free:       40\nHugePages_Rsvd:       10\n\
                       Hugepagesize:       2048 kB\n";
        assert_eq!(free(meminfo), (60, 2));
        assert_eq!(free(""), (0, 2));
    }

    #[test]
    fn only_mappings_of_large_pages_count() {
        let maps = "fc000000-100000000 rw-p 00000000 00:10 6 /anon_hugepage (deleted)\n\
                    7f0000000000-7f0000400000 r-xp 00000000 fe:00 1 /usr/lib/libjvm.so\n\
                    7f1000000000-7f1000200000 rw-p 00000000 00:10 7 /anon_hugepage (deleted)\n";
        assert_eq!(mapped_mib(maps), 66);
    }
}
