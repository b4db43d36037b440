//! How long a Java virtual machine stood still for garbage collection, from the counters that it keeps for `jstat`.

use crate::jvm::counters::{Counters, file_of};

/// How long process `pid` stood still for garbage collection since its start, seconds; `None` if it is no JVM that tells.
pub(crate) fn gc_s(pid: u32) -> Option<f64> {
    parse(&std::fs::read(file_of(pid)?).ok()?)
}

/// The time of all collectors; `None` if the bytes are something else, or not ready.
fn parse(bytes: &[u8]) -> Option<f64> {
    let counters = Counters::parse(bytes)?;
    let ticks = counters.sum("sun.gc.collector.", ".time");
    (counters.number("sun.os.hrt.frequency") > 0).then(|| counters.seconds(ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these numbers.
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
    fn the_times_of_all_collectors_are_added_and_nothing_else_is() {
        let file = file(&[
            ("sun.gc.collector.0.time", 1_500),
            ("sun.gc.collector.0.invocations", 7),
            ("sun.os.hrt.frequency", 1_000),
            ("sun.gc.collector.1.time", 500),
        ]);
        assert_eq!(parse(&file), Some(2.0));
        for length in 0..file.len() {
            assert_eq!(parse(&file[..length]), None, "cut at {length}");
        }
        let not_ready = [&file[..7], &[0], &file[8..]].concat();
        assert_eq!(parse(&not_ready), None);
    }

    #[test]
    fn a_process_that_is_no_jvm_has_none() {
        assert_eq!(gc_s(std::process::id()), None);
    }
}
