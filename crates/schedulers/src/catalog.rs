//! Which schedulers there are, and what each tells about itself.

use std::ffi::OsStr;

use libbpf_rs::ObjectBuilder;

use crate::error::SchedulerError;

/// The object that the build made of `<name>/<name>.bpf.c`, and the comment at the top of that file.
macro_rules! scheduler {
    ($name:literal) => {
        Scheduler {
            name: $name,
            source: include_str!(concat!($name, "/", $name, ".bpf.c")),
            code: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o")),
        }
    };
}

static ALL: [Scheduler; 5] = [
    scheduler!("fifo"),
    scheduler!("goodness"),
    scheduler!("head"),
    scheduler!("multiqueue"),
    scheduler!("o1"),
];

/// A scheduler that can be loaded.
#[derive(Debug)]
pub struct Scheduler {
    /// Its name.
    pub name: &'static str,
    source: &'static str,
    pub(crate) code: &'static [u8],
}

/// Something that can be set about a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Its name.
    pub name: String,
    /// What it does.
    pub what: String,
    /// What it is unless it is set.
    pub default: u64,
    /// Least value.
    pub min: u64,
    /// Greatest value.
    pub max: u64,
}

/// Something that a scheduler counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Its name.
    pub name: String,
    /// What it counts.
    pub what: String,
}

/// All of them.
pub fn all() -> &'static [Scheduler] {
    &ALL
}

/// The one of that name.
///
/// # Errors
/// There is none.
pub fn find(name: &str) -> Result<&'static Scheduler, SchedulerError> {
    let names = || ALL.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
    let found = ALL.iter().find(|one| one.name == name);
    found.ok_or_else(|| SchedulerError::Unknown { name: name.to_owned(), names: names() })
}

impl Scheduler {
    /// What it does, in a line.
    pub fn shows(&self) -> &'static str {
        let line = self.source.lines().next().unwrap_or_default().trim_start_matches("/* ");
        line.split_once(": ").map_or(line, |(_, rest)| rest)
    }

    /// The policy, and what is not as it was in the original.
    pub fn about(&self) -> String {
        let comment = self.source.split("*/").next().unwrap_or_default();
        let lines = comment.lines().map(|line| line.trim_start_matches("/*").trim_start_matches(" *").trim());
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    /// The name by which the kernel calls it.
    pub fn kernel_name(&self) -> String {
        format!("klatch_{}", self.name)
    }

    /// What can be set.
    pub fn knobs(&self) -> Vec<Knob> {
        let rows = self.section(".rodata.knobs");
        let knob = |row: &[u8]| Knob {
            name: text(&row[..16]),
            what: text(&row[16..128]),
            default: number(&row[128..136]),
            min: number(&row[136..144]),
            max: number(&row[144..152]),
        };
        rows.chunks_exact(KNOB_BYTES).map(knob).collect()
    }

    /// What it counts.
    pub fn stats(&self) -> Vec<Stat> {
        let stat = |row: &[u8]| Stat { name: text(&row[..24]), what: text(&row[24..128]) };
        self.section(".rodata.stats").chunks_exact(128).map(stat).collect()
    }

    /// How many CPUs its tables hold; `None` if it keeps nothing of each CPU.
    pub fn cpus_max(&self) -> Option<u32> {
        libbpf_rs::set_print(None);
        let open = ObjectBuilder::default().open_memory(self.code).expect("the build made a BPF object");
        open.maps().find(|map| map.name() == "cpus").map(|map| map.max_entries())
    }

    fn section(&self, name: &str) -> Vec<u8> {
        libbpf_rs::set_print(None);
        let open = ObjectBuilder::default().open_memory(self.code).expect("the build made a BPF object");
        let found = open.maps().find(|map| map.name() == OsStr::new(name));
        found.and_then(|map| map.initial_value().map(<[u8]>::to_vec)).unwrap_or_default()
    }
}

/// `struct knob` of klatch.bpf.h.
pub(crate) const KNOB_BYTES: usize = 152;
/// Where its value is.
pub(crate) const KNOB_VALUE: usize = 128;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheduler_tells_its_policy_its_knobs_and_its_statistics() {
        for one in all() {
            assert!(one.source.starts_with(&format!("/* {}: ", one.name)), "{}", one.name);
            assert!(one.about().len() > 200 && one.shows().len() < 110, "{}: {}", one.name, one.shows());
            assert!(one.knobs().iter().all(|knob| (knob.min..=knob.max).contains(&knob.default)));
            let stats = one.stats();
            assert!(stats.len() >= 2 && stats.iter().all(|stat| !stat.what.is_empty()), "{stats:?}");
        }
        assert_eq!(find("goodness").unwrap().knobs()[0].default, 23);
    }

    #[test]
    fn an_unknown_scheduler_is_told_of_the_known() {
        let told = find("cfs").unwrap_err().to_string();
        assert!(told.contains("cfs") && told.contains("fifo, goodness, head, multiqueue, o1"), "{told}");
    }
}
