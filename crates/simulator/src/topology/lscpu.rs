//! The topology of a real machine, as `lscpu -e -J` prints it.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{CPUS_MAX, Topology, TopologyError};

#[derive(Deserialize)]
struct Listing {
    cpus: Vec<Row>,
}

/// A logical CPU. Columns that a machine does not have are absent, `null` or `-`, and so are most of a CPU that is offline. Older
/// versions of lscpu print numbers as text, and `yes` or `no`.
#[derive(Deserialize)]
struct Row {
    #[serde(default, deserialize_with = "number")]
    node: Option<u32>,
    #[serde(default, deserialize_with = "number")]
    core: Option<u32>,
    #[serde(default = "yes", deserialize_with = "is_yes")]
    online: bool,
    /// The cache column; its name lists the caches that the machine has.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

fn yes() -> bool {
    true
}

/// A number, or a number as text; `None` for `null` and `-`.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let wrong = |value: &Value| D::Error::custom(format!("{value} is no number of a core or a node"));
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) if text == "-" => Ok(None),
        Value::String(text) => text.parse().map(Some).map_err(|_| wrong(&Value::String(text))),
        value => value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .map(Some)
            .ok_or_else(|| wrong(&value)),
    }
}

fn is_yes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(true),
        Value::Bool(online) => Ok(online),
        Value::String(text) if text == "yes" => Ok(true),
        Value::String(text) if text == "no" => Ok(false),
        value => Err(D::Error::custom(format!("online is {value}, neither yes nor no"))),
    }
}

impl Row {
    /// The number of its core.
    fn core(&self) -> Result<u32, TopologyError> {
        self.core.ok_or_else(|| TopologyError::Lscpu("a CPU that is online has no core".to_owned()))
    }

    /// The number of its last-level cache, the last one that is listed. A CPU without one shares it with nobody but its core.
    fn llc(&self) -> Result<String, TopologyError> {
        let core = self.core()?;
        let caches = self.others.iter().find(|(name, _)| name.starts_with("l1"));
        let last = caches.and_then(|(_, value)| value.as_str()?.rsplit(':').next());
        Ok(last.filter(|number| *number != "-").map_or_else(|| format!("core {core}"), str::to_owned))
    }
}

impl Topology {
    /// Reads the output of `lscpu -e -J`. CPUs that are offline do not count.
    ///
    /// # Errors
    /// It is something else, or its levels are not of the same size everywhere, which a simulated machine cannot have.
    pub fn from_lscpu(json: &str) -> Result<Self, TopologyError> {
        let listing: Listing =
            serde_json::from_str(json).map_err(|error| TopologyError::Lscpu(error.to_string()))?;
        let online: Vec<&Row> = listing.cpus.iter().filter(|row| row.online).collect();
        // Parts of a level, by the part of the level above that each is in.
        let mut llcs: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        let mut cores: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut threads: BTreeMap<u32, usize> = BTreeMap::new();
        for row in &online {
            add(llcs.entry(row.node.unwrap_or(0)).or_default(), row.llc()?);
            add(cores.entry(row.llc()?).or_default(), row.core()?);
            *threads.entry(row.core()?).or_default() += 1;
        }
        let topology = Self {
            nodes: llcs.len(),
            llcs: same("last-level caches in a node", llcs.values().map(Vec::len))?,
            cores: same("cores of a last-level cache", cores.values().map(Vec::len))?,
            threads: same("threads of a core", threads.values().copied())?,
        };
        if topology.cpus() != online.len() || topology.cpus() > CPUS_MAX {
            return Err(TopologyError::Lscpu(format!("{} CPUs are not {topology}", online.len())));
        }
        Ok(topology)
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The number that all parts of a level have.
fn same(what: &str, mut counts: impl Iterator<Item = usize>) -> Result<usize, TopologyError> {
    let first = counts.next().ok_or_else(|| TopologyError::Lscpu("it lists no CPU".to_owned()))?;
    match counts.find(|count| *count != first) {
        None => Ok(first),
        Some(other) => Err(TopologyError::Lscpu(format!(
            "the number of {what} is not the same everywhere: {first} and {other}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of CPUs as (node, core, cache column).
    fn listing(rows: &[(u32, u32, &str)]) -> String {
        let row = |(cpu, (node, core, caches)): (usize, &(u32, u32, &str))| {
            format!(
                r#"{{"cpu":{cpu},"node":{node},"socket":{node},"core":{core},"l1d:l1i:l2:l3":"{caches}","online":true}}"#
            )
        };
        let rows: Vec<String> = rows.iter().enumerate().map(row).collect();
        format!(r#"{{"cpus":[{}]}}"#, rows.join(","))
    }

    #[test]
    fn a_machine_of_two_nodes_is_read_from_lscpu() {
        let rows = [
            (0, 0, "0:0:0:0"),
            (0, 1, "1:1:1:0"),
            (1, 2, "2:2:2:1"),
            (1, 3, "3:3:3:1"),
            (0, 0, "0:0:0:0"),
            (0, 1, "1:1:1:0"),
            (1, 2, "2:2:2:1"),
            (1, 3, "3:3:3:1"),
        ];
        let topology = Topology::from_lscpu(&listing(&rows)).unwrap();
        assert_eq!(topology.to_string(), "2 nodes x 1 llc x 2 cores x 2 threads");
    }

    #[test]
    fn a_virtual_machine_without_nodes_and_caches_has_separate_cpus() {
        let json = r#"{"cpus":[{"cpu":0,"socket":0,"core":0},{"cpu":1,"socket":0,"core":1},
            {"cpu":2,"socket":0,"core":2,"online":false}]}"#;
        assert_eq!(Topology::from_lscpu(json), Ok(Topology::flat(2)));
    }

    #[test]
    fn rows_of_other_versions_of_lscpu_are_read() {
        // util-linux 2.34 prints text; a CPU that is offline has no core.
        let text = r#"{"cpus":[{"cpu":"0","node":"0","socket":"0","core":"0","l1d:l1i:l2:l3":"0:0:0:0","online":"yes"},
            {"cpu":"1","node":"0","socket":"0","core":"0","l1d:l1i:l2:l3":"0:0:0:0","online":"yes"},
            {"cpu":"2","node":"-","socket":"-","core":"-","l1d:l1i:l2:l3":"-","online":"no"},
            {"cpu":3,"node":null,"socket":null,"core":null,"l1d:l1i:l2:l3":null,"online":false}]}"#;
        assert_eq!(Topology::from_lscpu(text).unwrap().to_string(), "1 node x 1 llc x 1 core x 2 threads");
        let wrong =
            |from: &str, to: &str| Topology::from_lscpu(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(wrong(r#""core":"0""#, r#""core":"x""#).contains("is no number of a core"));
        assert!(wrong(r#""core":"0""#, r#""core":"-""#).contains("online has no core"));
        assert!(wrong(r#""online":"yes""#, r#""online":"perhaps""#).contains("neither yes nor no"));
    }

    #[test]
    fn an_uneven_machine_and_other_files_are_refused_with_the_reason() {
        let rows = [(0, 0, "0:0:0:0"), (0, 0, "0:0:0:0"), (0, 1, "1:1:1:0")];
        let error = Topology::from_lscpu(&listing(&rows)).unwrap_err().to_string();
        assert!(error.contains("threads of a core is not the same everywhere: 2 and 1"), "{error}");
        let error = Topology::from_lscpu("{}").unwrap_err().to_string();
        assert!(error.contains("missing field `cpus`"), "{error}");
        assert!(Topology::from_lscpu(r#"{"cpus":[]}"#).unwrap_err().to_string().contains("no CPU"));
    }
}
