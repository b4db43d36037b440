//! Workload `rr`: connections that send requests, and each request has one reply with the same bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WorkloadError, out_of, within};

/// Most bytes that a connection may have in flight. A server holds about as many before it closes a slow reader.
const IN_FLIGHT_BYTES_MAX: u32 = 1 << 20;
/// Longest time of a run, one day, seconds.
pub(super) const SECONDS_MAX: f64 = 86_400.0;

/// Connections, requests, and when they are sent. Definition: `docs/reference/benchmark.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RrWorkload {
    /// Number of connections, 1..=100000.
    pub connections: u32,
    /// Bytes of a request, and of its reply, 4..=65536.
    pub size_bytes: u32,
    /// Requests of a connection in flight, at least 1; their bytes at most 1 MiB.
    pub depth: u32,
    /// Time for which requests are sent, seconds. The run ends with the last reply.
    pub duration_s: f64,
    /// Number of the first connection, so that several crowds can share a server.
    pub start: u32,
    /// Requests/s of each connection on a schedule fixed in advance (open loop); `null`: a request follows a reply (closed loop).
    pub rate_per_connection_per_s: Option<f64>,
}

impl Default for RrWorkload {
    /// One connection with one request of 4 bytes in flight for 2 s, as in Netperf's TCP_RR.
    fn default() -> RrWorkload {
        RrWorkload {
            connections: 1,
            size_bytes: 4,
            depth: 1,
            duration_s: 2.0,
            start: 1,
            rate_per_connection_per_s: None,
        }
    }
}

impl RrWorkload {
    /// Checks every number against its range.
    ///
    /// # Errors
    /// The first number that is out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        within("connection count", 1, 100_000, self.connections)?;
        within("request size", 4, 65_536, self.size_bytes)?;
        within("depth", 1, IN_FLIGHT_BYTES_MAX / self.size_bytes, self.depth)?;
        within("first connection", 1, 1_000_000 - (self.connections - 1), self.start)?;
        let possible = self.duration_s > 0.0 && self.duration_s <= SECONDS_MAX;
        possible.then_some(()).ok_or_else(|| {
            out_of("duration", &format!("above 0 and at most {SECONDS_MAX} seconds"), self.duration_s)
        })?;
        let Some(rate) = self.rate_per_connection_per_s else { return Ok(()) };
        let possible = rate > 0.0 && rate <= 1e6;
        possible.then_some(()).ok_or_else(|| out_of("rate", "above 0 and at most 1000000 requests/s", rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let rr = RrWorkload::default();
        assert_eq!(rr.check(), Ok(()));
        let error = |workload: RrWorkload| workload.check().unwrap_err().to_string();
        assert_eq!(
            error(RrWorkload { connections: 0, ..rr.clone() }),
            "connection count must be 1..=100000, got 0"
        );
        assert_eq!(
            error(RrWorkload { size_bytes: 3, ..rr.clone() }),
            "request size must be 4..=65536, got 3"
        );
        let deep = RrWorkload { size_bytes: 65_536, depth: 17, ..rr.clone() };
        assert_eq!(error(deep), "depth must be 1..=16, got 17");
        assert_eq!(
            error(RrWorkload { duration_s: f64::NAN, ..rr.clone() }),
            "duration must be above 0 and at most 86400 seconds, got NaN"
        );
        assert_eq!(
            error(RrWorkload { rate_per_connection_per_s: Some(0.0), ..rr }),
            "rate must be above 0 and at most 1000000 requests/s, got 0"
        );
    }
}
