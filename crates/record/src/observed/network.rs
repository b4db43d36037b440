//! What TCP did.

use serde::{Deserialize, Serialize};

use super::Sides;

/// Counts of TCP while the users sent, of each network namespace: everything in it, other programs included. Server and crowd share one
/// unless one of them was started in another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tcp {
    /// Of the server's namespace, and of the crowd's if that is another.
    pub sides: Sides<TcpCounts>,
}

/// Counts of TCP in a network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TcpCounts {
    /// Segments sent, those without data included.
    pub segments_sent: u64,
    /// Segments received.
    pub segments_received: u64,
    /// Segments sent once more.
    pub segments_retransmitted: u64,
    /// Segments with data that were sent for the first time; `null` before Linux 3.15.
    pub segments_with_data: Option<u64>,
    /// Acknowledgements that waited for data to go with, and went alone after all; `null` where the kernel does not count them.
    pub acks_delayed: Option<u64>,
    /// Times that a sender waited in vain for an acknowledgement; `null` where the kernel does not count them.
    pub timeouts: Option<u64>,
    /// Bytes of all IP packets sent, with their headers; `null` where the kernel does not count them.
    pub bytes_sent: Option<u64>,
    /// Connections that found the queue of a listening socket full; `null` where the kernel does not count them.
    pub listen_overflows: Option<u64>,
}
