//! What it costs to connect the crowd.

use serde::{Deserialize, Serialize};

/// The time from the start of the crowd's processes to the opening of the gate: connecting, the handshakes of a transport, registration, joining.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Joining {
    /// Connections of the crowd.
    pub connections: u64,
    /// Connections that joined per second, from the first connect to the last join.
    pub connections_per_s: f64,
    /// CPU time of the servers for each connection, µs; `null` if they were not measured.
    pub server_cpu_us_per_connection: Option<f64>,
    /// CPU time of the crowd for each connection, µs, with the start of its processes; `null` if it was not measured.
    pub crowd_cpu_us_per_connection: Option<f64>,
    /// Growth of the servers' resident memory for each connection, bytes, without the kernel's buffers; `null` if it was not measured. In a later run
    /// of the same start the server already has the memory, so only the first run shows what a connection takes.
    pub server_memory_bytes_per_connection: Option<f64>,
}
