//! Large pages, which a Java goes without when it does not get them, and says so only in passing. So they are looked for.

use std::fs::read_to_string;

use crate::knobs::{KnobError, Setting};
use crate::needs::heap_mib;

const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// What a mapping of large pages without a file is called in `/proc/PID/maps`.
const MAPPING: &str = "/anon_hugepage";

/// What a value of a knob needs to be in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pages {
    /// Large pages that were set aside (`vm.nr_hugepages`), for the heap at least.
    Large,
    /// Transparent huge pages that are not off on the system.
    Transparent,
}

/// A setting that is in force only with large pages.
#[derive(Clone, Debug)]
pub(crate) struct LargePages {
    setting: String,
    heap_mib: u64,
}

/// Makes sure that `setting` can have its `pages`. What comes back is to be looked at again when the process runs.
pub(crate) fn wanted(
    setting: &Setting,
    pages: Pages,
    settings: &[Setting],
) -> Result<Option<LargePages>, KnobError> {
    let refused = |why| Err(KnobError::Refused { setting: setting.to_string(), why });
    if pages == Pages::Transparent {
        let off = read_to_string(TRANSPARENT).map_or(true, |text| text.contains("[never]"));
        let why = "transparent huge pages are off on this system; --allow-sysctl --sysctl thp=madvise sets them for the run";
        return if off { refused(why.to_owned()) } else { Ok(None) };
    }
    let wanted = LargePages { setting: setting.to_string(), heap_mib: heap_mib(settings).unwrap_or(1) };
    let (free_mib, page_mib) = free(&read_to_string("/proc/meminfo").unwrap_or_default());
    if free_mib < wanted.heap_mib {
        let pages = wanted.heap_mib.div_ceil(page_mib);
        return refused(format!(
            "the heap needs {} MiB of large pages, and {free_mib} MiB are free; \
             --allow-sysctl --sysctl vm.nr_hugepages={pages} sets them aside for the run",
            wanted.heap_mib
        ));
    }
    Ok(Some(wanted))
}

/// Large pages that nobody has or has reserved, and the size of one, in MiB.
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
    /// Whether the running process has them.
    pub(crate) fn in_force(&self, pid: u32) -> Result<(), KnobError> {
        let maps = read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let found_mib = mapped_mib(&maps);
        if found_mib >= self.heap_mib {
            return Ok(());
        }
        let why = format!(
            "the process has {found_mib} MiB of large pages, and its heap needs {}; set more aside with \
             --allow-sysctl --sysctl vm.nr_hugepages=N, and set the heap (heap=1g)",
            self.heap_mib
        );
        Err(KnobError::Refused { setting: self.setting.clone(), why })
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
    fn what_is_reserved_is_not_free() {
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
