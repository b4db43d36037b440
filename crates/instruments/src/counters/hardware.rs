//! The modelled caches and what their misses cost.

use serde::{Deserialize, Serialize};

use crate::counters::error::HardwareError;

/// Name and text of each shipped description.
const PRESETS: [(&str, &str); 4] = [
    ("neoverse-n1", include_str!("../../hardware/neoverse-n1.toml")),
    ("pentium-ii-xeon-450", include_str!("../../hardware/pentium-ii-xeon-450.toml")),
    ("pentium-iii-xeon-700", include_str!("../../hardware/pentium-iii-xeon-700.toml")),
    ("zen3", include_str!("../../hardware/zen3.toml")),
];

/// Caches of a CPU, and cycles for their misses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// Name of the description.
    #[serde(default)]
    pub name: String,
    /// What it describes, and where the numbers are from.
    #[serde(default)]
    pub source: String,
    /// Bytes of a cache line.
    pub line_bytes: u32,
    /// First-level data cache of each CPU.
    pub l1d: Geometry,
    /// First-level instruction cache of each CPU.
    pub l1i: Geometry,
    /// Second-level cache, for data and instructions.
    pub l2: Geometry,
    /// Whether all CPUs share one second-level cache.
    #[serde(default)]
    pub l2_shared: bool,
    /// Price of each event.
    pub cycles: Cycles,
}

/// Size and associativity of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// Size, bytes; divided by the ways and the line it is a power of two.
    pub bytes: u64,
    /// Lines of a set.
    pub ways: u32,
}

/// Cycles that an event adds to one cycle per instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cycles {
    /// A first-level miss that the second level has.
    pub l2_hit: u32,
    /// A line from memory, or from the next level if there is one.
    pub memory: u32,
    /// A line that another CPU has changed.
    pub transfer: u32,
    /// A write to a line that other CPUs have too.
    pub upgrade: u32,
}

impl Hardware {
    /// Names of the presets.
    pub fn presets() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().map(|(name, _)| *name)
    }

    /// Loads a preset by name, or a TOML file by path.
    ///
    /// # Errors
    /// The description does not exist, cannot be read, or is not valid.
    pub fn load(name: &str) -> Result<Hardware, HardwareError> {
        if let Some((_, text)) = PRESETS.iter().find(|(preset, _)| *preset == name) {
            return Hardware::parse(name, text);
        }
        match std::fs::read_to_string(name) {
            Ok(text) => Hardware::parse(name, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let presets = Hardware::presets().collect::<Vec<_>>().join(", ");
                let what =
                    format!("there is no hardware {name}, and no such file; the presets are {presets}");
                Err(HardwareError(what))
            }
            Err(error) => Err(HardwareError(format!("cannot read {name}: {error}"))),
        }
    }

    fn parse(name: &str, text: &str) -> Result<Hardware, HardwareError> {
        let invalid = |cause: String| HardwareError(format!("{name}: {cause}"));
        let hardware: Hardware = toml::from_str(text).map_err(|error| invalid(error.to_string()))?;
        hardware.check().map_err(invalid)?;
        let stem = std::path::Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        // The name is an argument of QEMU, whose arguments end at commas.
        let stem: String = stem.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(40).collect();
        Ok(Hardware { name: stem, ..hardware })
    }

    fn check(&self) -> Result<(), String> {
        if !self.line_bytes.is_power_of_two() || !(8..=4096).contains(&self.line_bytes) {
            return Err(format!("line_bytes must be a power of two, 8 to 4096, got {}", self.line_bytes));
        }
        for (name, geometry) in [("l1d", self.l1d), ("l1i", self.l1i), ("l2", self.l2)] {
            let way = u64::from(geometry.ways) * u64::from(self.line_bytes);
            let is_whole = way > 0 && geometry.bytes % way == 0 && (geometry.bytes / way).is_power_of_two();
            if !is_whole || geometry.bytes > 1 << 30 {
                return Err(format!(
                    "{name}: {} bytes in {} ways of {} bytes are no power of two of sets, up to 1 GiB",
                    geometry.bytes, geometry.ways, self.line_bytes
                ));
            }
        }
        if !self.l2_shared && self.l2.bytes < self.l1d.bytes.max(self.l1i.bytes) {
            return Err("l2 contains what l1d and l1i contain, so it must not be smaller".to_owned());
        }
        Ok(())
    }

    /// The arguments of the plugin.
    pub fn arguments(&self) -> String {
        let Hardware { name, line_bytes, l1d, l1i, l2, cycles, .. } = self;
        let geometry = |one: &Geometry| format!("{}:{}", one.bytes, one.ways);
        format!(
            "name={name},line={line_bytes},l1d={},l1i={},l2={},l2_shared={},cycles_l2_hit={},cycles_memory={},\
             cycles_transfer={},cycles_upgrade={}",
            geometry(l1d),
            geometry(l1i),
            geometry(l2),
            if self.l2_shared { "on" } else { "off" },
            cycles.l2_hit,
            cycles.memory,
            cycles.transfer,
            cycles.upgrade
        )
    }

    /// The hardware that these arguments describe; `None` if they are not those of [`Hardware::arguments`].
    pub(crate) fn from_arguments(arguments: &str) -> Option<Hardware> {
        let value = |name: &str| {
            let mut all = arguments.split(',').filter_map(|argument| argument.split_once('='));
            all.find(|(given, _)| *given == name).map(|(_, value)| value)
        };
        let number = |name: &str| value(name)?.parse().ok();
        let geometry = |name: &str| {
            let (bytes, ways) = value(name)?.split_once(':')?;
            Some(Geometry { bytes: bytes.parse().ok()?, ways: ways.parse().ok()? })
        };
        Some(Hardware {
            name: value("name")?.to_owned(),
            source: String::new(),
            line_bytes: number("line")?,
            l1d: geometry("l1d")?,
            l1i: geometry("l1i")?,
            l2: geometry("l2")?,
            l2_shared: value("l2_shared")? == "on",
            cycles: Cycles {
                l2_hit: number("cycles_l2_hit")?,
                memory: number("cycles_memory")?,
                transfer: number("cycles_transfer")?,
                upgrade: number("cycles_upgrade")?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_and_survives_the_way_to_the_plugin() {
        for name in Hardware::presets() {
            let hardware = Hardware::load(name).unwrap();
            assert!(!hardware.source.is_empty(), "{name}");
            let read = Hardware::from_arguments(&hardware.arguments()).unwrap();
            assert_eq!(read, Hardware { source: String::new(), ..hardware });
        }
    }

    #[test]
    fn an_impossible_cache_is_refused_with_its_name() {
        let text = include_str!("../../hardware/pentium-ii-xeon-450.toml");
        let error =
            |from: &str, to: &str| Hardware::parse("x", &text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error("ways = 4", "ways = 3").contains("l1d: 16384 bytes in 3 ways"));
        assert!(error("line_bytes = 32", "line_bytes = 33").contains("power of two"));
        assert!(error("l1d", "l0d").contains("l0d"));
        assert!(Hardware::load("nothing").unwrap_err().to_string().contains("zen3"));
    }
}
