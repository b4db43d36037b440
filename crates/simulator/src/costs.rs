//! What operations cost, each number with its source.

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// The costs of a Pentium III of 2001 under Linux 2.4.
const PENTIUM_III: &str = include_str!("../costs/pentium-iii.toml");
/// The costs of a present server under a present kernel.
const EPYC_MILAN: &str = include_str!("../costs/epyc-milan.toml");
const LAB: &str = include_str!("../costs/lab.toml");
const LAB_EEVDF: &str = include_str!("../costs/lab-eevdf.toml");

/// How a number came about.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The source measured it.
    Measured,
    /// Fitted so that the simulation meets one published result.
    Calibrated,
    /// Counted in the lab, whose caches are a model.
    Modelled,
    /// Plausible, and no more.
    Assumed,
}

/// A cost with its range and its source.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Cost {
    /// The value, in `unit`.
    pub value: f64,
    /// `cycles`, `lines`, `bytes`, `messages`, `times` or `share`.
    pub unit: String,
    /// The lowest and the highest plausible value.
    pub range: [f64; 2],
    /// How the number came about.
    pub kind: Kind,
    /// The published result that a calibrated number is fitted to.
    pub point: Option<String>,
    /// Where the number is from.
    pub source: String,
}

/// A cost as a file has it, before its parts are compared with each other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    value: f64,
    unit: String,
    range: [f64; 2],
    kind: Kind,
    point: Option<String>,
    source: String,
}

impl TryFrom<Fields> for Cost {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        let Fields { value, unit, range, kind, point, source } = fields;
        if source.trim().is_empty() {
            Err("the source is missing")
        } else if !(0.0 <= range[0] && range[0] <= value && value <= range[1] && range[1].is_finite()) {
            Err("the value is outside its range, or the range is not one of positive numbers")
        } else if (kind == Kind::Calibrated) != point.is_some() {
            Err("a calibrated cost names the point that it is fitted to, and no other cost does")
        } else {
            Ok(Self { value, unit, range, kind, point, source })
        }
    }
}

/// Why costs cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
    /// The file is not TOML, or a cost is missing, unknown or contradictory. The source has line and column.
    #[error("the costs cannot be read")]
    Format(#[source] Box<toml::de::Error>),
}

/// Declares the costs and their names together, so that a file with a missing or unknown one is refused.
macro_rules! costs {
    ($($name:ident)*) => {
        /// All costs of a machine and its software.
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Costs {
            $(pub(crate) $name: Cost,)*
        }

        impl Costs {
            /// The costs with their names.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Cost)> {
                [$((stringify!($name), &self.$name)),*].into_iter()
            }

            /// The cost with this name.
            ///
            /// # Panics
            /// There is no such cost.
            #[must_use]
            pub fn get(&self, name: &str) -> &Cost {
                match name {
                    $(stringify!($name) => &self.$name,)*
                    _ => panic!("there is no cost `{name}`"),
                }
            }

            /// The cost with this name.
            pub fn get_mut(&mut self, name: &str) -> Option<&mut Cost> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

costs! {
    clock cache line timer
    element decision decision_o1 wake cpu_read hand_over hand_over_waiter switch address_space
    line_from_memory line_from_cpu core_factor llc_factor far_factor smp_factor
    system_call tcp_send tcp_receive signal_send signal_receive interrupt cold_kernel_factor
    user_message user_message_2000 jitter lines_per_message collector_share collector_interval
    monitor_spin monitor_yields footprint remote_refill_factor
}

impl Costs {
    /// The costs of the machine on which the papers' results were measured.
    ///
    /// # Panics
    /// They cannot be read, which a test excludes.
    pub fn pentium_iii() -> Self {
        Self::parse(PENTIUM_III).expect("the program's costs can be read")
    }

    /// The names of the costs that the program contains.
    pub const NAMES: [&str; 4] = ["pentium-iii", "epyc-milan", "lab", "lab-eevdf"];

    /// The text of the costs with this name, with comments; `None` if the program contains none.
    pub fn text(name: &str) -> Option<&'static str> {
        let [pentium_iii, epyc_milan, lab, lab_eevdf] = Self::NAMES;
        [(pentium_iii, PENTIUM_III), (epyc_milan, EPYC_MILAN), (lab, LAB), (lab_eevdf, LAB_EEVDF)]
            .into_iter()
            .find_map(|(known, text)| (known == name).then_some(text))
    }

    /// Reads costs in TOML.
    ///
    /// # Errors
    /// A cost is missing, unknown, without source, or outside its own range.
    pub fn parse(text: &str) -> Result<Self, CostError> {
        toml::from_str(text).map_err(|error| CostError::Format(Box::new(error)))
    }

    /// The same costs with another value for one of them, for calibration and sensitivity. The range is not checked.
    ///
    /// # Panics
    /// There is no such cost.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.get_mut(name).unwrap_or_else(|| panic!("there is no cost `{name}`")).value = value;
        self
    }

    /// Puts these values into `text`, a file of costs, and keeps the rest of it.
    pub fn write_into(&self, text: &str) -> String {
        let mut section = None;
        let mut written = String::with_capacity(text.len());
        for line in text.lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = self.iter().find(|(known, _)| *known == name).map(|(_, cost)| cost.value);
            }
            match section.filter(|_| line.starts_with("value = ")) {
                Some(value) => written.push_str(&format!("value = {value}\n")),
                None => written.extend([line, "\n"]),
            }
        }
        written
    }

    /// SHA-256 of names and values, in hexadecimal.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (name, cost) in self.iter() {
            hash.update(format!("{name}={}\n", cost.value));
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole chain of the error after one change of the program's costs.
    fn refusal(from: &str, to: &str) -> String {
        assert!(PENTIUM_III.contains(from), "{from}");
        match Costs::parse(&PENTIUM_III.replacen(from, to, 1)) {
            Err(CostError::Format(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_programs_costs_can_be_read() {
        let clocks = Costs::NAMES.map(|name| Costs::parse(Costs::text(name).unwrap()).unwrap().clock.value);
        assert_eq!(clocks, [700.0, 2650.0, 1000.0, 1000.0]);
    }

    /// Both price a line from memory and from another CPU, of the same two machines.
    #[test]
    fn the_labs_counters_have_the_same_prices() {
        let costs = |name: &str| Costs::parse(Costs::text(name).unwrap()).unwrap();
        let cycles = |name: &str| klatch_instruments::counters::Hardware::load(name).unwrap().cycles;
        let (costs_2001, cycles_2001) = (costs("pentium-iii"), cycles("pentium-iii-xeon-700"));
        assert_eq!(costs_2001.line_from_cpu.value, f64::from(cycles_2001.transfer));
        // The counters know no two misses at a time, so they have the price of one by itself.
        assert_eq!(costs_2001.line_from_memory.range[1], f64::from(cycles_2001.memory));
        let (today, cycles_today) = (costs("epyc-milan"), cycles("zen3"));
        assert_eq!(today.line_from_memory.value, f64::from(cycles_today.memory));
        // Of a CPU with the same last-level cache, at the clock of each.
        let [simulated_ns, counted_ns] = [
            today.line_from_cpu.value * today.llc_factor.value / 2.650,
            f64::from(cycles_today.transfer) / 3.400,
        ];
        assert!((simulated_ns / counted_ns - 1.0).abs() < 0.02, "{simulated_ns} and {counted_ns} ns");
    }

    #[test]
    fn a_written_file_has_the_new_values_and_the_old_sources() {
        let changed = Costs::pentium_iii().with("element", 116.0);
        let written = changed.write_into(PENTIUM_III);
        assert_eq!(Costs::parse(&written).unwrap().hash(), changed.hash());
        assert_eq!(Costs::pentium_iii().write_into(&written), PENTIUM_III);
    }

    #[test]
    fn wrong_costs_are_refused_with_line_and_column() {
        let missing_source = refusal("source = \"as tcp_send\"", "source = \" \"");
        assert!(
            missing_source.contains("the source is missing") && missing_source.contains("line "),
            "{missing_source}"
        );
        assert!(refusal("value = 115", "value = 1150").contains("outside its range"));
        assert!(refusal("value = 115", "value = nan").contains("outside its range"));
        assert!(refusal("[switch]", "[swich]").contains("unknown field `swich`"));
        assert!(refusal("kind = \"calibrated\"", "kind = \"assumed\"").contains("no other cost does"));
        assert!(refusal("unit = \"cycles\"", "units = \"cycles\"").contains("line "));
    }
}
