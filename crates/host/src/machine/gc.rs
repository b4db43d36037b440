//! Time that a Java virtual machine stood still for garbage collection, from the counters that it keeps for `jstat`.

use crate::machine::jvm_counters::{JvmCounters, counter_file};

/// Times of a JVM since its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GcTime {
    /// Time of all its collectors, s. Shenandoah adds the time in which it works beside the program.
    collectors_s: f64,
    /// Time in which all threads were stopped, for whatever reason, s.
    stopped_s: f64,
}

impl GcTime {
    /// Times of process `pid`; `None` if it is no JVM with counters.
    pub(crate) fn of_process(pid: u32) -> Option<GcTime> {
        GcTime::new(&JvmCounters::read(&counter_file(pid)?)?)
    }

    /// Times by these counters; `None` if they lack the frequency of the clock.
    pub fn new(counters: &JvmCounters) -> Option<GcTime> {
        (counters.number("sun.os.hrt.frequency") > 0).then(|| GcTime {
            collectors_s: counters.seconds(counters.sum("sun.gc.collector.", ".time")),
            stopped_s: counters.seconds(counters.number("sun.rt.safepointTime")),
        })
    }

    /// Time since `earlier` in which the JVM stood still for its collectors, s. A collector that counts its work beside the program
    /// cannot have stopped it for longer than it stood still at all.
    pub fn paused_s_since(&self, earlier: &GcTime) -> f64 {
        (self.collectors_s - earlier.collectors_s).min(self.stopped_s - earlier.stopped_s).max(0.0)
    }
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
            ("sun.gc.collector.2.time", 500),
            ("sun.rt.safepointTime", 2_500),
        ]);
        let parse = |bytes: &[u8]| GcTime::new(&JvmCounters::parse(bytes)?);
        let time = parse(&file).unwrap();
        assert_eq!(time, GcTime { collectors_s: 2.0, stopped_s: 2.5 });
        for length in 0..file.len() {
            assert_eq!(parse(&file[..length]), None, "cut at {length}");
        }
        let not_ready = [&file[..7], &[0], &file[8..]].concat();
        assert_eq!(parse(&not_ready), None);
    }

    #[test]
    fn work_beside_the_program_is_no_pause() {
        let at = |collectors_s, stopped_s| GcTime { collectors_s, stopped_s };
        // Shenandoah, then a collector that stops the program, with other stops.
        assert_eq!(at(9.0, 1.5).paused_s_since(&at(1.0, 1.25)), 0.25);
        assert_eq!(at(1.5, 9.0).paused_s_since(&at(1.0, 1.0)), 0.5);
    }

    #[test]
    fn a_native_process_has_no_gc_time() {
        assert_eq!(GcTime::of_process(std::process::id()), None);
    }

    #[test]
    fn a_counter_file_that_anybody_made_is_not_that_of_a_native_process() {
        // Files of such names are HotSpot's, whoever makes them.
        let folder = tempfile::Builder::new().prefix("hsperfdata_").tempdir_in("/tmp").unwrap();
        let counters = file(&[("sun.gc.collector.0.time", 1_500), ("sun.os.hrt.frequency", 1_000)]);
        std::fs::write(folder.path().join(std::process::id().to_string()), counters).unwrap();
        assert_eq!(GcTime::of_process(std::process::id()), None);
    }
}
