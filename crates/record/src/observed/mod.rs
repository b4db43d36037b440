//! The instruments by name, and what each sees, as plain data.

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

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::instead_of;

/// Names of all instruments.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InstrumentName {
    /// Migrations, faults, thread groups, pressure.
    Usage,
    /// Where CPU time goes.
    Profile,
    /// Where instructions are executed, by the CPU's own counter; in the lab by its exact counters.
    Instructions,
    /// Where the caches miss, by the CPU's own counter; in the lab those of a model.
    CacheMisses,
    /// Where the cycles of a modelled CPU go; only in the lab.
    ModelledCycles,
    /// Length of the run queue at each scheduling decision.
    Runqueue,
    /// Time of a scheduling decision by the length of the queue.
    Decision,
    /// From waking to running.
    Wakeups,
    /// Waiting for locks of the kernel.
    Locks,
    /// System calls, and what yields led to.
    Syscalls,
    /// Segments, retransmissions, full listen queues.
    Tcp,
    /// Garbage collection, safepoints, JIT, threads, heap.
    Jvm,
    /// Waits inside Java: monitors, pinned virtual threads.
    Jfr,
    /// The raw record of what the scheduler did.
    Trace,
}

impl InstrumentName {
    /// All of them, in the order in which they are listed.
    pub const ALL: [InstrumentName; 14] = crate::variants();

    /// As users write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Not the name of an instrument.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("no instrument is named {got}; {instead}", instead = instead_of(got, &InstrumentName::ALL.map(InstrumentName::name), "there are"))]
pub struct InstrumentNameError {
    got: String,
}

impl FromStr for InstrumentName {
    type Err = InstrumentNameError;

    fn from_str(text: &str) -> Result<InstrumentName, InstrumentNameError> {
        let named = InstrumentName::ALL.into_iter().find(|name| name.name() == text);
        named.ok_or_else(|| InstrumentNameError { got: text.to_owned() })
    }
}

/// What an instrument saw, by instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ObservationData {
    /// Of `usage`: see [`UsageDetails`].
    Usage(UsageDetails),
    /// Of `profile`: see [`Profile`].
    Profile(Profile),
    /// Of `instructions`: see [`Profile`].
    Instructions(Profile),
    /// Of `cache_misses`: see [`Profile`].
    CacheMisses(Profile),
    /// Of `modelled_cycles`: see [`Profile`]; each sample is a cycle.
    ModelledCycles(Profile),
    /// Of `runqueue`: see [`Runqueue`].
    Runqueue(Runqueue),
    /// Of `decision`: see [`Decision`].
    Decision(Decision),
    /// Of `wakeups`: see [`Wakeups`].
    Wakeups(Wakeups),
    /// Of `locks`: see [`Locks`].
    Locks(Locks),
    /// Of `syscalls`: see [`Syscalls`].
    Syscalls(Syscalls),
    /// Of `tcp`: see [`Tcp`].
    Tcp(Tcp),
    /// Of `jvm`: see [`Jvm`].
    Jvm(Jvm),
    /// Of `jfr`: see [`JavaWaits`].
    Jfr(JavaWaits),
    /// Of `trace`: see [`Trace`].
    Trace(Trace),
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instrument_has_one_name_everywhere() {
        for name in InstrumentName::ALL {
            assert_eq!(name.name().parse(), Ok(name));
            assert_eq!(serde_json::to_value(name).unwrap(), name.name());
        }
        let error = |name: &str| name.parse::<InstrumentName>().unwrap_err().to_string();
        assert_eq!(error("strace"), "no instrument is named strace; did you mean trace?");
        assert!(error("x").starts_with("no instrument is named x; there are usage, profile, "));
    }
}
