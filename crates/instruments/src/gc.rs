//! How long a Java virtual machine stood still for garbage collection: from the file `/tmp/hsperfdata_<user>/<pid>` that
//! HotSpot keeps for `jstat`. To read it costs the JVM nothing. Its format is that of HotSpot's `perfMemory.hpp`, version 2.

/// How the file begins, before its byte order, its version, and whether it is ready.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const LITTLE_ENDIAN: u8 = 1;

/// How long process `pid` stood still for garbage collection since its start, seconds; `None` if it is no JVM that tells.
pub(crate) fn gc_s(pid: u32) -> Option<f64> {
    // The folder is named after the user whom the process belongs to.
    let folders = std::fs::read_dir("/tmp").ok()?.flatten();
    let named = folders.filter(|folder| folder.file_name().to_string_lossy().starts_with("hsperfdata_"));
    let file = named.map(|folder| folder.path().join(pid.to_string())).find(|file| file.is_file())?;
    parse(&std::fs::read(file).ok()?)
}

/// The time of all collectors; `None` if the bytes are something else, or not ready.
fn parse(bytes: &[u8]) -> Option<f64> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let ready = bytes.get(7) == Some(&1);
    if bytes.get(..4)? != MAGIC || bytes.get(4) != Some(&LITTLE_ENDIAN) || !ready {
        return None;
    }
    let (mut at, entries) = (word(24)?, word(28)?);
    let (mut ticks, mut frequency) = (0, None);
    for _ in 0..entries {
        // Of an entry: its length, where its name is, whether it is a vector, its type, where its value is.
        let (length, name_at, vector, value_at) = (word(at)?, word(at + 4)?, word(at + 8)?, word(at + 16)?);
        if vector == 0 && *bytes.get(at + 12)? == b'J' {
            let name = bytes.get(at + name_at..at + value_at)?.split(|byte| *byte == 0).next()?;
            let value = u64::from_le_bytes(*bytes.get(at + value_at..)?.first_chunk()?);
            match std::str::from_utf8(name).ok()? {
                "sun.os.hrt.frequency" => frequency = Some(value),
                name if name.starts_with("sun.gc.collector.") && name.ends_with(".time") => ticks += value,
                _ => {}
            }
        }
        at += length.max(1);
    }
    Some(ticks as f64 / frequency.filter(|frequency| *frequency > 0)? as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these numbers.
    fn file(numbers: &[(&str, u64)]) -> Vec<u8> {
        let mut bytes = [&MAGIC as &[u8], &[LITTLE_ENDIAN, 2, 0, 1], &[0; 16]].concat();
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
