//! What a crowd is told.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use klatch_record::{Gate, WireName, Workload, WorkloadError};
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
    pub wire: WireName,
    /// What it does.
    pub workload: Workload,
    /// Event loops (threads), each with its own rooms; at least 1.
    pub loops: usize,
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
        // Standard streams, and epoll and eventfd of each loop.
        let needed = connections + 8 + 2 * self.loops as u64;
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
