//! The catalogue of schedulers, and the descriptions in their BPF objects.

use std::ffi::OsStr;

use klatch_record::similar_to;
use libbpf_rs::ObjectBuilder;

use crate::error::SchedulerError;

/// Embeds `<name>/<name>.bpf.c`, for the comment at its top, and the object that the build compiled from it. The build calls it for each
/// such folder.
macro_rules! scheduler {
    ($name:literal) => {
        Scheduler {
            name: $name,
            source: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/", $name, "/", $name, ".bpf.c")),
            object: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o")),
        }
    };
}

static ALL: &[Scheduler] = &include!(concat!(env!("OUT_DIR"), "/schedulers.rs"));

/// A scheduler of the catalogue, not loaded.
#[derive(Debug)]
pub struct Scheduler {
    /// Name in the catalogue, and of its folder: `o1`.
    pub name: &'static str,
    source: &'static str,
    pub(crate) object: &'static [u8],
}

/// A parameter of a scheduler, fixed while it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Unique within the scheduler, at most 15 bytes.
    pub name: String,
    /// Effect of the knob, in English, with the unit.
    pub what: String,
    /// The value if users set none.
    pub default: u64,
    /// Lowest value that can be set.
    pub min: u64,
    /// Highest value that can be set.
    pub max: u64,
}

/// A statistic of a scheduler, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Unique within the scheduler, at most 23 bytes.
    pub name: String,
    /// The events that it counts, in English.
    pub what: String,
}

/// Names of the kernel's own scheduler.
const KERNELS_OWN: [&str; 4] = ["cfs", "eevdf", "none", "default"];

/// Every scheduler, in the order of names.
pub fn all() -> &'static [Scheduler] {
    ALL
}

/// The scheduler with this name.
///
/// # Errors
/// [`SchedulerError::Unknown`], which lists all names.
pub fn find(name: &str) -> Result<&'static Scheduler, SchedulerError> {
    let names: Vec<&str> = ALL.iter().map(|one| one.name).collect();
    let instead = || match (KERNELS_OWN.contains(&name), similar_to(name, &names)) {
        (true, _) => format!(
            "it is the kernel's own, which runs unless another is named; Klatch has {}",
            names.join(", ")
        ),
        (false, Some(meant)) => format!("did you mean {meant}?"),
        (false, None) => format!(
            "there are {}; a program that loads one is named by its path, or as scx_{name}",
            names.join(", ")
        ),
    };
    let scheduler = ALL.iter().find(|one| one.name == name);
    scheduler.ok_or_else(|| SchedulerError::Unknown { name: name.to_owned(), instead: instead() })
}

impl Scheduler {
    /// One line for lists of schedulers.
    pub fn summary(&self) -> &'static str {
        let line = self.source.lines().next().unwrap_or_default().trim_start_matches("/* ");
        line.split_once(": ").map_or(line, |(_, rest)| rest)
    }

    /// The policy, and its differences from the original: the comment at the top of the source.
    pub fn description(&self) -> String {
        let comment = self.source.split("*/").next().unwrap_or_default();
        let lines = comment.lines().map(|line| line.trim_start_matches("/*").trim_start_matches(" *").trim());
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    /// Name in the kernel's list of schedulers. Some kernels append a version.
    pub fn kernel_name(&self) -> String {
        format!("klatch_{}", self.name)
    }

    /// Its knobs, in the order of its BPF program.
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

    /// Its statistics, in the order of its BPF program.
    pub fn stats(&self) -> Vec<Stat> {
        let stat = |row: &[u8]| Stat { name: text(&row[..24]), what: text(&row[24..128]) };
        self.section(".rodata.stats").chunks_exact(128).map(stat).collect()
    }

    /// Highest number of CPUs that its tables can hold; `None` if it has no per-CPU table.
    pub fn cpus_max(&self) -> Option<u32> {
        libbpf_rs::set_print(None);
        let open = ObjectBuilder::default().open_memory(self.object).expect("the build made a BPF object");
        open.maps().find(|map| map.name() == "cpus").map(|map| map.max_entries())
    }

    fn section(&self, name: &str) -> Vec<u8> {
        libbpf_rs::set_print(None);
        let open = ObjectBuilder::default().open_memory(self.object).expect("the build made a BPF object");
        let map = open.maps().find(|map| map.name() == OsStr::new(name));
        map.and_then(|map| map.initial_value().map(<[u8]>::to_vec)).unwrap_or_default()
    }
}

/// Size of `struct knob` in klatch.bpf.h.
pub(crate) const KNOB_BYTES: usize = 152;
/// Offset of the value in `struct knob`.
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
    fn every_scheduler_describes_its_policy_its_knobs_and_its_statistics() {
        for one in all() {
            assert!(one.source.starts_with(&format!("/* {}: ", one.name)), "{}", one.name);
            assert!(
                one.description().len() > 200 && one.summary().len() < 110,
                "{}: {}",
                one.name,
                one.summary()
            );
            assert!(one.knobs().iter().all(|knob| (knob.min..=knob.max).contains(&knob.default)));
            let stats = one.stats();
            assert!(stats.len() >= 2 && stats.iter().all(|stat| !stat.what.is_empty()), "{stats:?}");
        }
        assert_eq!(find("goodness").unwrap().knobs()[0].default, 23);
    }

    #[test]
    fn an_unknown_scheduler_is_refused_with_all_names() {
        let error = find("cfs").unwrap_err().to_string();
        let names: Vec<&str> = all().iter().map(|one| one.name).collect();
        assert!(names.len() > 5 && error.contains("cfs") && error.contains(&names.join(", ")), "{error}");
    }
}
