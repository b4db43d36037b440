//! What a running Java virtual machine says of itself: its version, collectors, heap and options.

use klatch_record::VmInForce;

use crate::machine::jvm_counters::{JvmCounters, counter_file, maps_jvm};
use crate::machine::process_tree;

/// Longest text in the counters, in bytes (`PerfMaxStringConstLength`). HotSpot cuts longer ones.
const TEXT_BYTES_MAX: usize = 1024;

/// A heap is a multiple of this, in bytes.
const PAGE_BYTES: u64 = 4096;

/// Generations that HotSpot numbers.
const GENERATIONS: std::ops::Range<u32> = 0..4;

/// The virtual machine in process `pid`, or in the first of its descendants that is one: a script that starts a Java can stay its parent.
///
/// `None` if there is none, or it keeps no counters: another virtual machine than HotSpot, or `-XX:-UsePerfData`.
pub fn vm_in_force(pid: u32) -> Option<VmInForce> {
    let counters = |pid| JvmCounters::read(&counter_file(pid)?);
    process_tree(pid).into_iter().find_map(counters).map(|counters| describe(&counters))
}

/// The first of process `pid` and its descendants that is HotSpot, also without counters; `None` if none is.
pub fn hotspot_process(pid: u32) -> Option<u32> {
    process_tree(pid).into_iter().find(|pid| maps_jvm(*pid))
}

fn describe(counters: &JvmCounters) -> VmInForce {
    let property = |name: &str| counters.text(&format!("java.property.java.{name}")).map(str::to_owned);
    let version = [property("vm.name"), property("vm.version")];
    let collectors: Vec<String> = counters.texts("sun.gc.collector.", ".name").map(str::to_owned).collect();
    VmInForce {
        version: version.into_iter().flatten().collect::<Vec<_>>().join(" "),
        home: property("home"),
        mode: property("vm.info"),
        heap_max_bytes: heap_max_bytes(counters, &collectors),
        collectors,
        options: options(counters),
    }
}

/// The options of files, variables and the command line; `None` if they were cut.
fn options(counters: &JvmCounters) -> Option<String> {
    // A file of flags is read before everything else.
    let parts = ["java.rt.vmFlags", "java.rt.vmArgs"].map(|name| counters.text(name));
    // Without any option the counter is absent or empty.
    let whole = parts.iter().flatten().all(|text| text.len() < TEXT_BYTES_MAX - 1);
    whole.then(|| {
        let words = parts.iter().flatten().flat_map(|text| text.split_whitespace());
        words.collect::<Vec<_>>().join(" ")
    })
}

/// Serial and parallel collectors divide the heap into generations. For others each generation can have all of it.
fn heap_max_bytes(counters: &JvmCounters, collectors: &[String]) -> Option<u64> {
    let sizes: Vec<u64> = GENERATIONS
        .map(|number| counters.number(&format!("sun.gc.generation.{number}.maxCapacity")))
        .filter(|size| *size > 0)
        .collect();
    let divides = |name: &String| {
        ["Serial", "Parallel", "Copy", "MSC", "PS"].iter().any(|family| name.starts_with(family))
    };
    let divided = collectors.iter().any(divides);
    let size =
        if divided { sizes.into_iter().reduce(|sum, size| sum + size) } else { sizes.into_iter().max() };
    // Some collectors add a few bytes to sizes that would be 0.
    size.map(|size| if size < PAGE_BYTES { size } else { size / PAGE_BYTES * PAGE_BYTES })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::jvm_counters::tests::counters;

    #[test]
    fn a_heap_is_all_of_divided_generations_or_the_largest() {
        let sizes = [("sun.gc.generation.0.maxCapacity", 22), ("sun.gc.generation.1.maxCapacity", 42)];
        let with = |name: &str| describe(&counters(&sizes, &[("sun.gc.collector.0.name", name)]));
        assert_eq!(with("Serial young collection pauses").heap_max_bytes, Some(64));
        assert_eq!(with("G1 young collection pauses").heap_max_bytes, Some(42));
        let padded = counters(&[("sun.gc.generation.0.maxCapacity", (96 << 20) + 24)], &[]);
        assert_eq!(describe(&padded).heap_max_bytes, Some(96 << 20));
        assert_eq!(describe(&JvmCounters::default()).heap_max_bytes, None);
    }

    #[test]
    fn options_that_were_cut_are_unknown() {
        let with = |arguments: &str| {
            let texts = [("java.rt.vmArgs", arguments), ("java.rt.vmFlags", "-XX:+UseSerialGC")];
            describe(&counters(&[], &texts)).options
        };
        assert_eq!(with("-Xmx1g  -Xss1m ").as_deref(), Some("-XX:+UseSerialGC -Xmx1g -Xss1m"));
        assert_eq!(with(&"x".repeat(1023)), None);
    }

    #[test]
    fn a_native_process_has_no_virtual_machine() {
        assert_eq!(vm_in_force(std::process::id()), None);
    }
}
