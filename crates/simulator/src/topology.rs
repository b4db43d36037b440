//! Which CPUs share what: cores, last-level caches (LLCs) and nodes.

mod lscpu;

use std::fmt;
use std::str::FromStr;

/// Most CPUs that a simulated machine can have.
pub const CPUS_MAX: usize = 4096;

/// What two CPUs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Distance {
    /// They are the same.
    SameCpu,
    /// They are threads of a core.
    SameCore,
    /// They share a last-level cache.
    SameLlc,
    /// They share a node, with its memory.
    SameNode,
    /// They are on different nodes.
    Far,
}

impl Distance {
    /// Distances between different CPUs.
    pub const MOVES: [Self; 4] = [Self::SameCore, Self::SameLlc, Self::SameNode, Self::Far];

    /// Its name in the names of metrics.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How many distances there are.
pub const DISTANCES: usize = Distance::Far as usize + 1;

/// A symmetric machine: each level has the same number of parts everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    nodes: usize,
    llcs: usize,
    cores: usize,
    threads: usize,
}

/// Why a line is not a topology.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TopologyError {
    /// A part is not a number and a level, or levels are out of order.
    #[error("`{0}` is not a topology; write it like `2 nodes x 8 llcs x 16 cores x 2 threads`, or `8 cpus`")]
    Format(String),
    /// No CPU, or too many.
    #[error("`{0}` has no CPU, or more than {CPUS_MAX}")]
    Size(String),
    /// The output of `lscpu` cannot be used.
    #[error("the output of `lscpu -e -J` gives no topology: {0}")]
    Lscpu(String),
}

impl Topology {
    /// A machine whose CPUs share nothing but the node.
    pub const fn flat(cpus: usize) -> Self {
        Self { nodes: 1, llcs: cpus, cores: 1, threads: 1 }
    }

    /// Nodes with CPUs that share nothing else.
    pub const fn nodes(nodes: usize, cpus_per_node: usize) -> Self {
        Self { nodes, llcs: cpus_per_node, cores: 1, threads: 1 }
    }

    /// How many CPUs the machine has.
    pub const fn cpus(&self) -> usize {
        self.nodes * self.llcs * self.cores * self.threads
    }

    /// How many CPUs share a last-level cache.
    pub const fn cpus_per_llc(&self) -> usize {
        self.cores * self.threads
    }

    /// How many CPUs a node has.
    pub const fn cpus_per_node(&self) -> usize {
        self.llcs * self.cpus_per_llc()
    }

    /// How many parts each level has in one of the level above: nodes, LLCs, cores and threads.
    pub const fn levels(&self) -> [usize; 4] {
        [self.nodes, self.llcs, self.cores, self.threads]
    }

    /// What two CPUs share.
    pub fn distance(&self, a: usize, b: usize) -> Distance {
        let (core, llc, node) = (self.threads, self.cpus_per_llc(), self.cpus_per_node());
        if a == b {
            Distance::SameCpu
        } else if a / core == b / core {
            Distance::SameCore
        } else if a / llc == b / llc {
            Distance::SameLlc
        } else if a / node == b / node {
            Distance::SameNode
        } else {
            Distance::Far
        }
    }
}

impl FromStr for Topology {
    type Err = TopologyError;

    fn from_str(line: &str) -> Result<Self, TopologyError> {
        let format = || TopologyError::Format(line.to_owned());
        let mut topology = Self { nodes: 1, llcs: 1, cores: 1, threads: 1 };
        let mut reached = 0;
        for part in line.split(['x', '×']) {
            let (count, level) = part.trim().split_once(' ').ok_or_else(format)?;
            let count: usize = count.parse().map_err(|_| format())?;
            let (field, level) = match level.trim() {
                "node" | "nodes" => (&mut topology.nodes, 1),
                "llc" | "llcs" => (&mut topology.llcs, 2),
                "core" | "cores" => (&mut topology.cores, 3),
                "thread" | "threads" => (&mut topology.threads, 4),
                // CPUs that share nothing but the node.
                "cpu" | "cpus" if reached < 2 => (&mut topology.llcs, 4),
                _ => return Err(format()),
            };
            if level <= reached {
                return Err(format());
            }
            (*field, reached) = (count, level);
        }
        let cpus = topology.levels().iter().try_fold(1_usize, |product, &part| product.checked_mul(part));
        match cpus {
            Some(1..=CPUS_MAX) => Ok(topology),
            _ => Err(TopologyError::Size(line.to_owned())),
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels =
            [(self.nodes, "node"), (self.llcs, "llc"), (self.cores, "core"), (self.threads, "thread")];
        for (at, (count, level)) in levels.into_iter().enumerate() {
            let (separator, plural) = (if at == 0 { "" } else { " x " }, if count == 1 { "" } else { "s" });
            write!(f, "{separator}{count} {level}{plural}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_numbered_by_core_then_llc_then_node() {
        let topology: Topology = "2 nodes x 2 llcs x 4 cores x 2 threads".parse().unwrap();
        assert_eq!(topology.cpus(), 32);
        let distances = [0, 1, 2, 8, 16].map(|other| topology.distance(0, other));
        assert_eq!(
            distances,
            [Distance::SameCpu, Distance::SameCore, Distance::SameLlc, Distance::SameNode, Distance::Far]
        );
        assert_eq!(topology.to_string().parse(), Ok(topology));
    }

    #[test]
    fn a_plain_number_of_cpus_is_a_machine_without_shared_caches() {
        assert_eq!("8 cpus".parse(), Ok(Topology::flat(8)));
        assert_eq!("4 nodes x 4 cpus".parse(), Ok(Topology::nodes(4, 4)));
    }

    #[test]
    fn other_lines_are_refused() {
        for line in
            ["", "8", "8 apples", "2 cores x 2 nodes", "2 cpus x 2 cores", "0 cpus", "5000 cpus", "-1 cpus"]
        {
            assert!(line.parse::<Topology>().is_err(), "{line}");
        }
    }
}
