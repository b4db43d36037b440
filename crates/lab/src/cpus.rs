//! The CPUs of the emulated machine, and what they share.

use klatch_simulator::Topology;

use crate::architecture::Architecture;
use crate::error::LabError;

/// Most CPUs of a machine.
pub const CPUS_MAX: u32 = 64;

/// The CPUs of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpus {
    /// So many cores of one socket.
    Number(u32),
    /// Nodes, last-level caches (LLCs), cores and threads. Each LLC is a socket, as QEMU gives CPUs of AMD one LLC a socket.
    Topology(Topology),
}

impl Cpus {
    /// How many they are.
    pub fn number(self) -> u32 {
        match self {
            Cpus::Number(number) => number,
            Cpus::Topology(topology) => u32::try_from(topology.cpus()).unwrap_or(u32::MAX),
        }
    }

    /// Checks that the lab has such a machine.
    ///
    /// # Errors
    /// There are too many CPUs, several nodes in a machine with counters, which find addresses in one block of memory, or a topology on arm64.
    pub fn check(self, architecture: Architecture, counts: bool) -> Result<(), LabError> {
        let wrong = |cause: String| Err(LabError::Machine { cause });
        match self {
            _ if !(1..=CPUS_MAX).contains(&self.number()) => {
                wrong(format!("has 1 to {CPUS_MAX} CPUs, got {}", self.number()))
            }
            Cpus::Topology(_) if architecture == Architecture::Arm64 => {
                wrong("of arm64 has CPUs without a topology, since QEMU describes no caches there; give their number".to_owned())
            }
            Cpus::Topology(topology) if counts && topology.levels()[0] > 1 => {
                wrong("has one node if its instructions are counted; leave out the nodes".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Arguments of QEMU for them and for the memory, which nodes share evenly.
    pub(crate) fn arguments(self, memory_mb: u32) -> Vec<String> {
        let mut all = Vec::new();
        let mut add = |option: &str, value: String| all.extend([option.to_owned(), value]);
        let topology = match self {
            Cpus::Number(number) => {
                add("-smp", number.to_string());
                add("-m", format!("{memory_mb}M"));
                return all;
            }
            Cpus::Topology(topology) => topology,
        };
        let [nodes, llcs, cores, threads] = topology.levels();
        let node_mb = memory_mb / nodes as u32;
        add("-smp", format!("{},sockets={},cores={cores},threads={threads}", topology.cpus(), nodes * llcs));
        add("-m", format!("{}M", node_mb * nodes as u32));
        if nodes == 1 {
            return all;
        }
        for node in 0..nodes {
            add("-object", format!("memory-backend-ram,id=node{node},size={node_mb}M"));
            add("-numa", format!("node,nodeid={node},memdev=node{node}"));
            for socket in node * llcs..(node + 1) * llcs {
                add("-numa", format!("cpu,node-id={node},socket-id={socket}"));
            }
        }
        // QEMU wants all nodes before the first distance.
        for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
            if from != to {
                add("-numa", format!("dist,src={from},dst={to},val={DISTANCE}"));
            }
        }
        all
    }
}

/// Distance of two nodes in the machine's tables, where a node's own is 10.
const DISTANCE: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_llc_is_a_socket_of_its_node() {
        let topology = Cpus::Topology("2 nodes x 2 llcs x 4 cores x 2 threads".parse().unwrap());
        let arguments = topology.arguments(1024).join(" ");
        assert!(arguments.starts_with("-smp 32,sockets=4,cores=4,threads=2 -m 1024M "), "{arguments}");
        assert!(arguments.contains("-numa cpu,node-id=1,socket-id=2 -numa cpu,node-id=1,socket-id=3"));
        assert!(arguments.contains("-object memory-backend-ram,id=node1,size=512M"), "{arguments}");
        assert_eq!(Cpus::Number(4).arguments(512).join(" "), "-smp 4 -m 512M");
        let flat = Cpus::Topology("4 cpus".parse().unwrap()).arguments(512).join(" ");
        assert_eq!(flat, "-smp 4,sockets=4,cores=1,threads=1 -m 512M");
    }

    #[test]
    fn machines_that_the_lab_does_not_have_are_refused() {
        let check_on = |architecture, text: &str, counts| {
            Cpus::Topology(text.parse().unwrap()).check(architecture, counts)
        };
        let check = |text: &str, counts| check_on(Architecture::Amd64, text, counts);
        assert!(check("2 nodes x 2 cores", false).is_ok() && check("2 llcs x 2 cores", true).is_ok());
        assert!(check("65 cpus", false).unwrap_err().to_string().contains("1 to 64 CPUs, got 65"));
        assert!(check("2 nodes x 2 cores", true).unwrap_err().to_string().contains("one node"));
        let arm64 = check_on(Architecture::Arm64, "2 cores", false).unwrap_err().to_string();
        assert!(arm64.contains("give their number"), "{arm64}");
        assert!(Cpus::Number(2).check(Architecture::Arm64, true).is_ok());
    }
}
