//! Options of a crowd.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use klatch_record::{
    ChatWorkload, CrowdEvent, Gate, Login, MergeError, ProtocolName, RequestParts, Transport, Workload,
    WorkloadError, WorkloadKind,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thiserror::Error;

use crate::channel::ClientEndpoint;
use crate::http_command::HttpError;
use crate::ledger_file::LedgerError;
use crate::post_log::PostLogError;
use crate::read_error::ReadError;

/// The caller's part in a run: what it does with each event.
///
/// A trait object, because a generic parameter would move the code of every event loop into the calling crate, and so to that
/// crate's optimisation level.
pub type OnEvent<'a> = &'a mut dyn FnMut(&CrowdEvent);

/// Everything that a crowd needs to run, apart from its server.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the crowd does.
    pub workload: Workload,
    /// Event loops, or two threads a user.
    pub threads: Threads,
    /// Longest time without a delivery before the crowd gives up.
    pub timeout: Duration,
    /// Longest time to establish one connection.
    pub connect_timeout: Duration,
    /// Seed of the jitter under pacing `rate`.
    pub seed: u64,
    /// The gate at which this crowd waits for the other shards.
    pub gate: Option<Gate>,
    /// Longest time to wait at the gate.
    pub gate_timeout: Duration,
    /// Workloads `trade` and `orders`: the file with the ledgers of earlier runs on the same database, which is replaced at the end.
    pub ledger: Option<PathBuf>,
    /// What users say of themselves to a chat server before they join, and connections to PostgreSQL.
    pub login: Option<Arc<Login>>,
    /// What requests for URLs are made of; `None` for requests without one.
    pub request: Option<RequestParts>,
    /// Wait for [`crate::ControlSender::go`] and [`crate::ControlSender::quit`].
    pub steered: bool,
}

/// The threading model of a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Number of event loops, at least 1. Each owns whole rooms.
    Loops(usize),
    /// Two threads a user, as in VolanoMark's crowd.
    TwoPerUser {
        /// Yield the CPU after each packet received and each batch sent, as VolanoMark did.
        yields: bool,
    },
}

impl Threads {
    /// Whether each user has threads of its own.
    pub fn is_two_per_user(self) -> bool {
        matches!(self, Threads::TwoPerUser { .. })
    }
}

/// Reasons why a crowd cannot start.
#[derive(Debug, Error)]
pub enum CrowdError {
    /// A number of the workload is out of range.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A protocol does not carry the workload.
    #[error("the protocol {protocol} does not carry the workload {workload}")]
    Protocol {
        /// Kind of the workload.
        workload: WorkloadKind,
        /// Protocol of the server.
        protocol: ProtocolName,
    },
    /// Requests for URLs in another protocol than HTTP.
    #[error("requests for a URL need a server of HTTP, not of {0}")]
    Url(ProtocolName),
    /// Requests for URLs by two threads a user.
    #[error("event loops make requests for a URL, two threads a user do not")]
    UrlThreads,
    /// HTTP/2 has no such request.
    #[error("HTTP/2 cannot ask for {url}: {source}")]
    Request {
        /// Method and path.
        url: String,
        /// What is wrong with it.
        source: http::Error,
    },
    /// The server does not answer the first request for a URL.
    #[error("no first reply of {url}: {source}")]
    FirstReply {
        /// Method and path.
        url: String,
        /// Why there is none.
        source: HttpError,
    },
    /// The transport does not carry the workload.
    #[error("the transport {transport} does not carry the workload {workload} with the protocol {protocol}")]
    Transport {
        /// The transport of the options.
        transport: Transport,
        /// Kind of the workload.
        workload: WorkloadKind,
        /// Protocol of the server.
        protocol: ProtocolName,
    },
    /// Clients of the protocol do not log in.
    #[error("clients of {0} do not log in: leave out user and password")]
    Login(ProtocolName),
    /// Settings of MQTT for a server of another protocol.
    #[error("quality of service and client identifiers need a server of MQTT, not of {0}")]
    OfMqtt(ProtocolName),
    /// Two threads a user do not carry the workload.
    #[error("event loops carry the workload {workload}, two threads a user do not")]
    Threads {
        /// Kind of the workload.
        workload: WorkloadKind,
    },
    /// With two threads a user nobody leaves during a run.
    #[error("event loops carry churn, two threads a user do not")]
    Churn,
    /// The server does not make its post log anew.
    #[error(
        "cannot reset the post log of the server: {0}; a server without the dynamic half needs the setting static_only"
    )]
    PostLog(PostLogError),
    /// The server accepts connections and does not answer.
    #[error("the first request failed: {0}")]
    NoAnswer(HttpError),
    /// The ledgers of a workload with a database cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A file of workload `files` cannot be used.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The name of the host cannot be resolved.
    #[error("cannot find host {host}: {source}")]
    Host {
        /// The host of the options.
        host: String,
        /// The error that the resolver returned.
        source: std::io::Error,
    },
    /// The limit of open files is too low for the connections.
    #[error(
        "{connections} connections or files need about {needed} open files, and the limit of this process is {limit}; \
         raise it with `ulimit -n {needed}` (as root, or in /etc/security/limits.conf)"
    )]
    OpenFiles {
        /// Connections of the workload, or files of its readers.
        connections: u64,
        /// Open files needed for them.
        needed: u64,
        /// The hard limit of this process.
        limit: u64,
    },
    /// The counts of workers cannot be added.
    #[error(transparent)]
    Results(#[from] MergeError),
    /// A thread of the crowd panicked, which is a fault of Klatch.
    #[error(
        "a thread of the crowd ended by a fault of Klatch itself; standard error has the place: please report it"
    )]
    Thread,
    /// The kernel refused an epoll or eventfd descriptor.
    #[error("cannot set up an event loop: {0}")]
    EventLoop(#[from] std::io::Error),
}

impl Options {
    /// Checks the workload and raises the limit of open files to its maximum. Returns the addresses of the server.
    pub(crate) fn check(&self, server: &ClientEndpoint) -> Result<Vec<SocketAddr>, CrowdError> {
        self.workload.check()?;
        let (transport, protocol, workload) = (server.transport(), server.protocol, self.workload.kind());
        if !transport.carries(protocol, workload) {
            return Err(CrowdError::Transport { transport, workload, protocol });
        }
        if self.login.is_some() && !protocol.has_login() {
            return Err(CrowdError::Login(protocol));
        }
        let is_of_mqtt = self.workload.chat().is_some_and(|chat| !chat.mqtt.is_usual());
        if is_of_mqtt && protocol != ProtocolName::Mqtt {
            return Err(CrowdError::OfMqtt(protocol));
        }
        let churns = self.workload.chat().is_some_and(ChatWorkload::has_churn);
        if churns && self.threads.is_two_per_user() {
            return Err(CrowdError::Churn);
        }
        let connections = self.workload.connections();
        let of_loops = match self.threads {
            // One epoll and one eventfd descriptor each.
            Threads::Loops(loops) => 2 * loops as u64,
            Threads::TwoPerUser { .. } => 0,
        };
        // Standard streams, and a few temporary files.
        let needed = connections + 8 + of_loops;
        let limit = raise_open_files();
        if needed > limit {
            return Err(CrowdError::OpenFiles { connections, needed, limit });
        }
        let unknown = |source| CrowdError::Host { host: server.host.clone(), source };
        Ok((server.host.as_str(), server.port).to_socket_addrs().map_err(unknown)?.collect())
    }
}

pub(crate) fn raise_open_files() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum.unwrap_or(u64::MAX),
        Err(_) => current.unwrap_or(u64::MAX),
    }
}
