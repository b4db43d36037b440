//! What each instrument sees, as plain data.

mod java;
mod kernel_time;
mod network;
mod processes;
mod scheduling;

pub use java::{Collector, JavaWaits, JavaWaitsSide, Jvm, JvmSide, WaitPlace, Waits};
pub use kernel_time::{
    LockCaller, LockKind, Locks, MissedData, Profile, ProfiledSide, Routine, Shares, Waiter,
};
pub use network::{Tcp, TcpCounts};
pub use processes::{Pressure, SideCalls, Syscalls, ThreadGroup, Trace, UsageDetails, UsageSide, Yields};
pub use scheduling::{
    CostByLength, CostFit, CostRow, Decision, LengthCount, LengthMoment, Lengths, Runqueue, SideWakeups,
    Wakeups,
};

use serde::{Deserialize, Serialize};

/// Many values of one kind. Mean and count are exact; the rest is within a bucket of a histogram, at most a quarter of the
/// value wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// Number of values in the distribution.
    pub count: u64,
    /// Arithmetic mean of the values.
    pub mean: f64,
    /// Median: half of the values are below.
    pub p50: f64,
    /// 90 of 100 are below.
    pub p90: f64,
    /// 99 of 100 are below.
    pub p99: f64,
    /// The upper end of the highest bucket that holds one.
    pub max: f64,
}

/// A value for each side. `null` where a side could not be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sides<T> {
    /// The value of the server; `null` where it was not measured.
    pub server: Option<T>,
    /// The crowd; several crowds together; `null` where it was not measured.
    pub crowd: Option<T>,
}
