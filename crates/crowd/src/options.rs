//! What a crowd is told.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use klatch_record::{Gate, ProtocolName, Workload, WorkloadError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thiserror::Error;

/// What a crowd is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// Host name or address of the server.
    pub host: String,
    /// Port of the server.
    pub port: u16,
    /// The protocol that the server speaks.
    pub protocol: ProtocolName,
    /// What it does.
    pub workload: Workload,
    /// The threads that it runs on.
    pub threads: Threads,
    /// How long nothing may come before the crowd gives up.
    pub timeout: Duration,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// Seed of the jitter under pacing `rate`.
    pub seed: u64,
    /// Wait at this gate for the other shards.
    pub gate: Option<Gate>,
    /// How long to wait there.
    pub gate_timeout: Duration,
    /// Wait for [`crate::Remote::go`] and [`crate::Remote::quit`].
    pub steered: bool,
}

/// The threads that a crowd runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// So many event loops, each with rooms of its own; at least 1.
    Loops(usize),
    /// VolanoMark's: each user has two threads.
    TwoPerUser,
}

/// Why a crowd cannot even try.
#[derive(Debug, Error)]
pub enum CrowdError {
    /// A number of the workload is out of range.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The host has no address.
    #[error("cannot find host {host}: {source}")]
    Host {
        /// As given.
        host: String,
        /// What the resolver said.
        source: std::io::Error,
    },
    /// More connections than files may be open.
    #[error(
        "{connections} connections need about {needed} open files, and the limit of this process is {limit}; \
         raise it with `ulimit -n {needed}` (as root, or in /etc/security/limits.conf)"
    )]
    OpenFiles {
        /// Wanted.
        connections: u64,
        /// Open files needed for them.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// The kernel gave no epoll or eventfd.
    #[error("cannot set up an event loop: {0}")]
    EventLoop(#[from] std::io::Error),
}

impl Options {
    /// Checks the workload and the limit of open files (which it raises as far as it may go).
    pub(crate) fn check(&self) -> Result<Vec<SocketAddr>, CrowdError> {
        self.workload.check()?;
        let connections = self.workload.connections();
        let of_loops = match self.threads {
            // epoll and eventfd.
            Threads::Loops(loops) => 2 * loops as u64,
            Threads::TwoPerUser => 0,
        };
        // Standard streams, and a few that come and go.
        let needed = connections + 8 + of_loops;
        let limit = raise_open_files();
        if needed > limit {
            return Err(CrowdError::OpenFiles { connections, needed, limit });
        }
        let unknown = |source| CrowdError::Host { host: self.host.clone(), source };
        Ok((self.host.as_str(), self.port).to_socket_addrs().map_err(unknown)?.collect())
    }
}

fn raise_open_files() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum.unwrap_or(u64::MAX),
        Err(_) => current.unwrap_or(u64::MAX),
    }
}
