//! What is to be run.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use klatch_platforms::{Setting, Wish};
use klatch_record::{Build, InstrumentName, WireName, Workload};
use thiserror::Error;

use crate::remote::Remote;

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The platform, the Java that the user named, and what is set.
    pub wish: Wish,
    /// A server that somebody else started, instead of a platform.
    pub target: Option<Target>,
    /// Which crowd.
    pub crowd: CrowdKind,
    /// What is set about the crowd.
    pub crowd_settings: Vec<Setting>,
    /// What is set about the machine, and put back afterwards.
    pub sysctls: Vec<Setting>,
    /// The scheduler that is loaded for the time of a visit; without one it is the kernel's own.
    pub scheduler: Option<klatch_schedulers::Wish>,
    /// What the crowd does.
    pub workload: Workload,
    /// Crowd processes over which the rooms are spread; there is one for each server and each host at least.
    pub shards: u32,
    /// Server processes over which the rooms are spread.
    pub servers: u32,
    /// The address on which servers listen.
    pub listen: IpAddr,
    /// Other machines for the crowd.
    pub remote: Remote,
    /// What watches.
    pub instruments: Vec<InstrumentName>,
    /// Runs that do not count, first.
    pub warmups: u32,
    /// Runs that count.
    pub trials: u32,
    /// The folder under which results are written.
    pub out: PathBuf,
    /// How long a server may take until it is ready.
    pub ready_timeout: Duration,
    /// How long a run may go without a delivery.
    pub timeout: Duration,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// Event loops of the native crowd.
    pub crowd_loops: usize,
    /// Seed of the schedule under pacing `rate`.
    pub seed: u64,
    /// Which Klatch this is.
    pub build: Build,
}

/// The crowds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrowdKind {
    /// Event loops; the same for every server.
    Native,
    /// The same with two threads a user, as VolanoMark had them.
    NativeThreads,
    /// VolanoMark's in Java: two threads a user.
    Java,
}

impl CrowdKind {
    /// As records and study files name it.
    pub fn name(self) -> &'static str {
        match self {
            CrowdKind::Native => "native",
            CrowdKind::NativeThreads => "native-threads",
            CrowdKind::Java => "java",
        }
    }
}

/// The address of a server that somebody else started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The protocol it speaks.
    pub wire: WireName,
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// Not the address of a server.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("a target looks like irc://host:port (or redis://, nats://, mqtt://), got {0}")]
pub struct TargetError(String);

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        let wrong = || TargetError(text.to_owned());
        let (wire, address) = text.split_once("://").ok_or_else(wrong)?;
        let wire = wire.parse().map_err(|_| wrong())?;
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        // An IPv6 address stands in brackets.
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let port = port.parse().ok().filter(|&port| port > 0 && !host.is_empty()).ok_or_else(wrong)?;
        Ok(Target { wire, host: host.to_owned(), port })
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&address(&self.host, self.port))
    }
}

/// Host and port as one word; an IPv6 address stands in brackets.
pub(crate) fn address(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_a_host_and_a_port() {
        let (wire, host) = (WireName::Nats, "chat.example".to_owned());
        assert_eq!("nats://chat.example:4222".parse(), Ok(Target { wire, host, port: 4222 }));
        let v6: Target = "irc://[::1]:6667".parse().unwrap();
        assert_eq!((v6.host.as_str(), v6.to_string().as_str()), ("::1", "[::1]:6667"));
        for wrong in [
            "",
            "chat.example:6667",
            "irc://chat.example",
            "irc://:6667",
            "irc://x:0",
            "irc://x:99999",
            "fax://x:1",
        ] {
            assert_eq!(wrong.parse::<Target>(), Err(TargetError(wrong.to_owned())));
        }
    }
}
