//! What TCP sent, again or in vain.
//!
//! The kernel keeps these counters for each network namespace, so the instrument only reads them before and after the run.

use std::path::Path;

use klatch_record::observed::{Sides, Tcp, TcpCounts};
use klatch_record::{InstrumentName, ObservationData, Support};

use crate::bpf::{Coverage, Windows};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Instrument, Output, RunningInstrument};
use crate::kernel::Kernel;
use crate::targets::Targets;

pub(crate) struct TcpSegments;

impl Instrument for TcpSegments {
    fn name(&self) -> InstrumentName {
        InstrumentName::Tcp
    }

    fn description(&self) -> &'static str {
        "segments and bytes sent, segments received, retransmissions, delayed acknowledgements, listen overflows"
    }

    fn probe(&self, _: &Kernel) -> Support {
        match Counters::read(std::process::id()) {
            Ok(_) => Support::Usable { base: "/proc/PID/net/snmp and netstat".to_owned() },
            Err(InstrumentError(why)) => Support::NotAvailable {
                why,
                remedy: "mount /proc, and boot a kernel with CONFIG_INET=y".to_owned(),
            },
        }
    }

    fn start(
        &self,
        _: &Kernel,
        targets: &Targets,
        _: &Files,
        _: &mut Windows,
    ) -> Result<Box<dyn RunningInstrument>, InstrumentError> {
        let server = targets.servers.first().copied();
        // The namespace of the server has the crowd's counts too, unless the crowd has its own.
        let crowd = targets
            .crowds
            .first()
            .copied()
            .filter(|&crowd| server.is_none_or(|server| !share_network(server, crowd)));
        let sides = Sides { server, crowd };
        let before = read_sides(&sides)?;
        Ok(Box::new(RunningTcp { sides, before, after: None }))
    }
}

struct RunningTcp {
    /// A process in each namespace.
    sides: Sides<u32>,
    before: Sides<Counters>,
    after: Option<Result<Sides<Counters>, InstrumentError>>,
}

impl RunningInstrument for RunningTcp {
    fn stop(&mut self) {
        self.after = Some(read_sides(&self.sides));
    }

    fn read(&mut self, _: &Files, _: &Coverage) -> Result<Output, InstrumentError> {
        let after = self.after.take().ok_or_else(|| InstrumentError("it was not stopped".to_owned()))??;
        let between = |before: &Option<Counters>, after: &Option<Counters>| {
            Some(after.as_ref()?.since(before.as_ref()?))
        };
        let sides = Sides {
            server: between(&self.before.server, &after.server),
            crowd: between(&self.before.crowd, &after.crowd),
        };
        Ok(Output {
            data: ObservationData::Tcp(Tcp { sides }),
            cost: None,
            share_of_time: None,
            files: Vec::new(),
        })
    }
}

/// Whether two processes are in one network namespace. If the kernel does not say, they are not taken to be.
fn share_network(one: u32, other: u32) -> bool {
    let namespace = |pid: u32| std::fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    namespace(one).is_some_and(|of_one| namespace(other) == Some(of_one))
}

fn read_sides(sides: &Sides<u32>) -> Result<Sides<Counters>, InstrumentError> {
    Ok(Sides {
        server: sides.server.map(Counters::read).transpose()?,
        crowd: sides.crowd.map(Counters::read).transpose()?,
    })
}

/// The counters of a namespace at one moment.
struct Counters(TcpCounts);

impl Counters {
    /// Reads those of the namespace of a process.
    fn read(pid: u32) -> Result<Counters, InstrumentError> {
        let folder = format!("/proc/{pid}/net");
        let read = |name: &str| {
            let path = Path::new(&folder).join(name);
            std::fs::read_to_string(&path)
                .map_err(|error| InstrumentError(format!("{} cannot be read: {error}", path.display())))
        };
        // Without extensions the counts of snmp remain. The file of IPv6 is there if the kernel has that.
        let [netstat, snmp6] = ["netstat", "snmp6"].map(|name| read(name).unwrap_or_default());
        Counters::parse(&read("snmp")?, &netstat, &snmp6)
    }

    fn parse(snmp: &str, netstat: &str, snmp6: &str) -> Result<Counters, InstrumentError> {
        let tcp = |name: &str| {
            number(snmp, "Tcp:", name)
                .ok_or_else(|| InstrumentError(format!("/proc/net/snmp has no number {name} of Tcp")))
        };
        let extension = |name: &str| number(netstat, "TcpExt:", name);
        let bytes = number(netstat, "IpExt:", "OutOctets");
        Ok(Counters(TcpCounts {
            segments_sent: tcp("OutSegs")?,
            segments_received: tcp("InSegs")?,
            segments_retransmitted: tcp("RetransSegs")?,
            segments_with_data: extension("TCPOrigDataSent"),
            acks_delayed: extension("DelayedACKs"),
            timeouts: extension("TCPTimeouts"),
            bytes_sent: bytes.map(|bytes| bytes + bytes_of_ipv6(snmp6)),
            listen_overflows: extension("ListenOverflows"),
        }))
    }

    fn since(&self, before: &Counters) -> TcpCounts {
        let (Counters(after), Counters(before)) = (self, before);
        let both = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
        TcpCounts {
            segments_sent: after.segments_sent.saturating_sub(before.segments_sent),
            segments_received: after.segments_received.saturating_sub(before.segments_received),
            segments_retransmitted: after
                .segments_retransmitted
                .saturating_sub(before.segments_retransmitted),
            segments_with_data: both(after.segments_with_data, before.segments_with_data),
            acks_delayed: both(after.acks_delayed, before.acks_delayed),
            timeouts: both(after.timeouts, before.timeouts),
            bytes_sent: both(after.bytes_sent, before.bytes_sent),
            listen_overflows: both(after.listen_overflows, before.listen_overflows),
        }
    }
}

/// The bytes of all packets of IPv6, whose file has a line for each count.
fn bytes_of_ipv6(snmp6: &str) -> u64 {
    let bytes = snmp6.lines().find_map(|line| line.strip_prefix("Ip6OutOctets"));
    bytes.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0)
}

/// A number from a pair of lines that begin with `group`: the first has the names, the second the numbers.
fn number(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group));
    let at = lines.next()?.split_whitespace().position(|found| found == name)?;
    lines.next()?.split_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNMP: &str = "Ip: Forwarding\nIp: 1\nTcp: MaxConn InSegs OutSegs RetransSegs\nTcp: -1 10 20 3\n";

    #[test]
    fn counts_are_found_by_their_names() {
        let netstat = "TcpExt: DelayedACKs Unknown ListenOverflows\nTcpExt: 5 6 7\nIpExt: InOctets OutOctets\nIpExt: 8 9\n";
        let Counters(counts) = Counters::parse(SNMP, netstat, "Ip6InOctets 1\nIp6OutOctets \t 20\n").unwrap();
        assert_eq!(
            (counts.segments_received, counts.segments_sent, counts.segments_retransmitted),
            (10, 20, 3)
        );
        assert_eq!((counts.acks_delayed, counts.listen_overflows), (Some(5), Some(7)));
        assert_eq!(counts.bytes_sent, Some(29));
        assert_eq!((counts.timeouts, counts.segments_with_data), (None, None), "not counted is not zero");
    }

    #[test]
    fn a_file_without_the_counts_is_an_error() {
        let error = Counters::parse("Ip: Forwarding\nIp: 1\n", "", "").err().unwrap();
        assert!(error.to_string().contains("no number OutSegs of Tcp"), "{error}");
    }
}
