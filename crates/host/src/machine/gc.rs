//! Time that a Java virtual machine paused for garbage collection, from the counters that it keeps for `jstat`.

use crate::machine::jvm_counters::{JvmCounters, counter_file};

/// Time that process `pid` paused for garbage collection since its start, in seconds; `None` if it is no JVM with counters.
pub(crate) fn gc_s(pid: u32) -> Option<f64> {
    gc_of(&JvmCounters::read(&counter_file(pid)?)?)
}

/// Sum over all collectors; `None` if the counters lack the frequency of the clock.
fn gc_of(counters: &JvmCounters) -> Option<f64> {
    let ticks = counters.sum("sun.gc.collector.", ".time");
    (counters.number("sun.os.hrt.frequency") > 0).then(|| counters.seconds(ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter file with these numbers.
    fn file(numbers: &[(&str, u64)]) -> Vec<u8> {
        let mut bytes = [&[0xca_u8, 0xfe, 0xc0, 0xc0] as &[u8], &[1, 2, 0, 1], &[0; 16]].concat();
        bytes.extend([32, numbers.len() as u32].iter().flat_map(|word| word.to_le_bytes()));
        for (name, value) in numbers {
            let name = [name.as_bytes(), b"\0"].concat();
            let value_at = 20 + name.len() as u32;
            bytes.extend([value_at + 8, 20, 0].iter().flat_map(|word| word.to_le_bytes()));
            bytes.extend([b'J', 0, 0, 0]);
            bytes.extend(value_at.to_le_bytes());
            bytes.extend([name, value.to_le_bytes().to_vec()].concat());
        }
        bytes
    }

    #[test]
    fn only_the_times_of_collectors_are_added() {
        let file = file(&[
            ("sun.gc.collector.0.time", 1_500),
            ("sun.gc.collector.0.invocations", 7),
            ("sun.os.hrt.frequency", 1_000),
            ("sun.gc.collector.1.time", 500),
        ]);
        let parse = |bytes: &[u8]| gc_of(&JvmCounters::parse(bytes)?);
        assert_eq!(parse(&file), Some(2.0));
        for length in 0..file.len() {
            assert_eq!(parse(&file[..length]), None, "cut at {length}");
        }
        let not_ready = [&file[..7], &[0], &file[8..]].concat();
        assert_eq!(parse(&not_ready), None);
    }

    #[test]
    fn a_native_process_has_no_gc_time() {
        assert_eq!(gc_s(std::process::id()), None);
    }

    #[test]
    fn a_counter_file_that_anybody_made_is_not_that_of_a_native_process() {
        // Files of such names are HotSpot's, whoever makes them.
        let folder = tempfile::Builder::new().prefix("hsperfdata_").tempdir_in("/tmp").unwrap();
        let counters = file(&[("sun.gc.collector.0.time", 1_500), ("sun.os.hrt.frequency", 1_000)]);
        std::fs::write(folder.path().join(std::process::id().to_string()), counters).unwrap();
        assert_eq!(gc_s(std::process::id()), None);
    }
}
