//! What one process of a platform or crowd needs of the machine.

use serde::Deserialize;

use crate::setting::Setting;

/// The resources that a process needs of the machine, as measured. A need of 0 is not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Needs {
    /// Threads for each connection.
    pub threads_per_connection: u64,
    /// Memory maps for each thread: its stack and guard pages.
    pub maps_per_thread: u64,
    /// Resident memory without connections, MiB.
    pub memory_mib: u64,
    /// Resident memory for each connection, KiB.
    pub memory_per_connection_kib: u64,
}

impl Needs {
    /// Adds the heap that is set for a Java: all of it may become resident.
    pub(crate) fn with_heap(self, settings: &[Setting]) -> Needs {
        Needs { memory_mib: self.memory_mib + heap_mib(settings).unwrap_or(0), ..self }
    }
}

/// The heap that is set for a Java, MiB.
pub(crate) fn heap_mib(settings: &[Setting]) -> Option<u64> {
    mib(&settings.iter().find(|setting| setting.name == "heap")?.value)
}

/// Parses a size as Java does (`512k`, `64m`, `2g`, or bytes), in MiB.
fn mib(size: &str) -> Option<u64> {
    let (number, unit) =
        size.split_at(size.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(size.len()));
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return None,
    };
    Some(number.parse::<u64>().ok()?.checked_mul(unit)? >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heap_adds_to_the_memory_need() {
        let with = |heap: &str| {
            let settings = [Setting { name: "heap".into(), value: heap.into() }];
            Needs { memory_mib: 50, ..Needs::default() }.with_heap(&settings).memory_mib
        };
        assert_eq!([with("2g"), with("64M"), with("4096k"), with("odd")], [2098, 114, 54, 50]);
    }
}
