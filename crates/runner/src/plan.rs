//! Plans: what to measure, and how.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use klatch_platforms::{
    ClassicCrowd, PlatformError, PlatformRequest, Setting, add_classic_yield, classic_test,
};
use klatch_record::{Build, InstrumentName, ProtocolName, RunOptions, Transport, Workload, WorkloadKind};
use klatch_schedulers::SchedulerSpec;
use thiserror::Error;

use crate::remote::Remote;

/// What is measured, a crowd, a workload and the number of runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is measured.
    pub subject: Subject,
    /// Load generator to use.
    pub crowd: CrowdKind,
    /// Knobs of the crowd.
    pub crowd_settings: Vec<Setting>,
    /// Settings of the whole machine, restored after the visit.
    pub sysctls: Vec<Setting>,
    /// Scheduler to load during a visit; `None` for the kernel's own.
    pub scheduler: Option<SchedulerSpec>,
    /// Rooms, users, messages and pacing.
    pub workload: Workload,
    /// Crowd processes among which the rooms are split; at least one for each server and host.
    pub shards: u32,
    /// Machines that run the crowd, if not this one.
    pub remote: Remote,
    /// Instruments of every run.
    pub instruments: Vec<InstrumentName>,
    /// Runs before the trials that do not count.
    pub warmups: u32,
    /// Number of runs that count.
    pub trials: u32,
    /// Folder that results are written below.
    pub out: PathBuf,
    /// Longest time without a delivery.
    pub timeout: Duration,
    /// Longest time to establish one connection.
    pub connect_timeout: Duration,
    /// Subprotocol to ask for at a WebSocket, or `none`; `None` for the default of the platform and its protocol.
    pub subprotocol: Option<String>,
    /// Event loops of each native crowd process.
    pub crowd_loops: usize,
    /// Seed of the schedule under pacing `rate`.
    pub seed: u64,
    /// Version and commit of this Klatch.
    pub build: Build,
}

/// The server of a plan, or the readers in its place.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A platform that Klatch starts.
    Platform(PlatformPlan),
    /// An external server, which runs already.
    Target(TargetPlan),
}

/// A platform to start.
#[derive(Clone, Debug)]
pub struct PlatformPlan {
    /// The platform with its knobs. A Java crowd runs on its Java.
    pub request: PlatformRequest,
    /// Server processes among which the rooms are split.
    pub servers: u32,
    /// The address on which servers listen.
    pub listen: IpAddr,
    /// Longest time until a server is ready.
    pub ready_timeout: Duration,
}

/// An external server.
#[derive(Clone, Debug)]
pub struct TargetPlan {
    /// Its address.
    pub target: Target,
    /// File with the authorities that may have signed its certificate; `None` for those of the system.
    pub ca: Option<PathBuf>,
    /// The Java of a Java crowd, if the user named one.
    pub java: Option<PathBuf>,
}

impl Plan {
    /// One trial of the default workload with the native crowd; limits and counts are the defaults of [`RunOptions`].
    pub fn new(subject: Subject, out: PathBuf, build: Build) -> Plan {
        let defaults = RunOptions::default();
        Plan {
            subject,
            crowd: CrowdKind::Native,
            crowd_settings: Vec::new(),
            sysctls: Vec::new(),
            scheduler: None,
            workload: Workload::default(),
            shards: defaults.shards,
            remote: Remote::default(),
            instruments: Vec::new(),
            warmups: 0,
            trials: 1,
            out,
            timeout: Duration::from_secs_f64(defaults.timeout_s),
            connect_timeout: Duration::from_secs_f64(defaults.connect_timeout_s),
            subprotocol: None,
            crowd_loops: defaults.crowd_loops as usize,
            seed: defaults.seed,
            build,
        }
    }

    /// Number of crowd processes: at least one for each server and each host.
    pub(crate) fn crowd_processes(&self) -> u32 {
        self.shards.max(self.subject.servers()).max(self.remote.hosts.len() as u32)
    }
}

impl Subject {
    /// The platform to start; `None` for an external server.
    pub fn platform(&self) -> Option<&PlatformPlan> {
        match self {
            Subject::Platform(platform) => Some(platform),
            Subject::Target(_) => None,
        }
    }

    /// The Java that the user named.
    pub(crate) fn java(&self) -> Option<&Path> {
        match self {
            Subject::Platform(platform) => platform.request.java.as_deref(),
            Subject::Target(target) => target.java.as_deref(),
        }
    }

    /// Number of server processes.
    pub(crate) fn servers(&self) -> u32 {
        self.platform().map_or(1, |platform| platform.servers)
    }
}

impl PlatformPlan {
    /// One server on loopback; the limit of its start is the default of [`RunOptions`].
    pub fn new(request: PlatformRequest) -> PlatformPlan {
        let defaults = RunOptions::default();
        PlatformPlan {
            request,
            servers: defaults.servers,
            listen: Ipv4Addr::LOCALHOST.into(),
            ready_timeout: Duration::from_secs_f64(defaults.ready_timeout_s),
        }
    }
}

/// Makes a platform and the knobs of its crowd those of the classic VolanoMark test: names the default platform if none is named, and sets
/// the yields at both ends where the settings do not mention them. Returns the crowd of the test.
///
/// # Errors
/// The platform does not exist, or is none of the classic test.
pub fn make_classic(
    platform: &mut PlatformRequest,
    crowd_settings: &mut Vec<Setting>,
) -> Result<CrowdKind, PlatformError> {
    let (name, crowd) = classic_test(platform)?;
    platform.name = Some(name);
    add_classic_yield(&mut platform.settings);
    add_classic_yield(crowd_settings);
    Ok(match crowd {
        ClassicCrowd::Java => CrowdKind::Java,
        ClassicCrowd::NativeThreads => CrowdKind::NativeThreads,
    })
}

/// Kinds of load generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrowdKind {
    /// Native, with event loops.
    Native,
    /// Native, with two threads per user as in VolanoMark.
    NativeThreads,
    /// Java, with two threads per user as in VolanoMark.
    Java,
}

impl CrowdKind {
    /// Its name in records and study files.
    pub fn name(self) -> &'static str {
        match self {
            CrowdKind::Native => "native",
            CrowdKind::NativeThreads => "native-threads",
            CrowdKind::Java => "java",
        }
    }
}

/// The address of a server that runs already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Protocol of the server.
    pub protocol: ProtocolName,
    /// What lies between the protocol and TCP.
    pub transport: Transport,
    /// Path of a WebSocket, or of a web application, beginning with `/`.
    pub path: String,
    /// Host name or IP address, without brackets.
    pub host: String,
    /// TCP port, not 0.
    pub port: u16,
}

/// A text that is not the address of a server.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "a target has the form irc://host:port (or ircs://, ws:// and wss:// with a path, redis://, nats://, mqtt://, echo://, http://, postgres://), got {0}"
)]
pub struct TargetError(String);

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        let wrong = || TargetError(text.to_owned());
        let (scheme, address) = text.split_once("://").ok_or_else(wrong)?;
        let (protocol, transport) = parse_scheme(scheme).ok_or_else(wrong)?;
        let has_path = transport.has_websocket() || protocol == ProtocolName::Http;
        let (address, path) = match address.find('/') {
            Some(at) if has_path => address.split_at(at),
            _ => (address, "/"),
        };
        if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong());
        }
        // Files have a path, and no server that listens.
        if protocol == ProtocolName::File {
            return Err(wrong());
        }
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        // An IPv6 address stands in brackets.
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let port = port.parse().ok().filter(|&port| port > 0 && !host.is_empty()).ok_or_else(wrong)?;
        Ok(Target { protocol, transport, path: path.to_owned(), host: host.to_owned(), port })
    }
}

impl Target {
    /// The address with its scheme and path, as users write it.
    pub fn url(&self) -> String {
        let path = if self.path == "/" { "" } else { &self.path };
        format!("{}://{self}{path}", self.transport.scheme(self.protocol))
    }

    /// Context root of the web application that it names, without a slash at its end; `None` for a whole server.
    pub fn context_root(&self) -> Option<String> {
        let root = self.path.trim_end_matches('/');
        (self.protocol == ProtocolName::Http && !root.is_empty()).then(|| root.to_owned())
    }
}

/// The protocol and the transport of an address, as [`Transport::scheme`] writes them.
fn parse_scheme(scheme: &str) -> Option<(ProtocolName, Transport)> {
    let every = Transport::ALL
        .into_iter()
        .flat_map(|transport| ProtocolName::ALL.into_iter().map(move |protocol| (protocol, transport)));
    every
        .filter(|(protocol, transport)| transport.is_plain() || protocol.carries(WorkloadKind::Chat))
        .find(|(protocol, transport)| transport.scheme(*protocol) == scheme)
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&address(&self.host, self.port))
    }
}

/// Host and port as one word, with brackets around an IPv6 address.
pub fn address(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_a_host_and_a_port() {
        let nats: Target = "nats://chat.example:4222".parse().unwrap();
        assert_eq!((nats.protocol, nats.transport), (ProtocolName::Nats, Transport::Plain));
        assert_eq!((nats.host.as_str(), nats.port), ("chat.example", 4222));
        let web: Target = "ws://[::1]:80/irc?a=b".parse().unwrap();
        assert_eq!(
            (web.protocol, web.transport, web.path.as_str()),
            (ProtocolName::Irc, Transport::Ws, "/irc?a=b")
        );
        let web: Target = "nats+ws://x:80".parse().unwrap();
        assert_eq!(
            (web.protocol, web.transport, web.path.as_str()),
            (ProtocolName::Nats, Transport::Ws, "/")
        );
        for url in ["nats://chat.example:4222", "wss://[::1]:80/irc?a=b", "http://x:9080/daytrader/"] {
            assert_eq!(url.parse::<Target>().unwrap().url(), url);
        }
        let root = |text: &str| text.parse::<Target>().unwrap().context_root();
        assert_eq!(root("http://x:9080/daytrader/"), Some("/daytrader".to_owned()));
        assert_eq!(
            (root("http://x:9080/"), root("http://x:9080"), root("ws://x:80/irc")),
            (None, None, None)
        );
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
            "file://x:1",
            "irc://x:1/path",
            "ws://x:1/a b",
            "http+ws://x:1",
        ] {
            assert_eq!(wrong.parse::<Target>(), Err(TargetError(wrong.to_owned())));
        }
    }
}
