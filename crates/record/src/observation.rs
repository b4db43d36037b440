//! The observation of a run by an instrument: how it could work, its cost and its data.

use serde::{Deserialize, Serialize};

use crate::observed::{InstrumentName, ObservationData};

/// The data of one instrument for one run, and its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Observation {
    /// Name of the instrument.
    pub instrument: InstrumentName,
    /// How it could work on this kernel.
    pub support: Support,
    /// Why it saw nothing although it should have been able to; `null` if it saw something.
    pub failure: Option<String>,
    /// The part of the run that was observed, in windows of 20 ms at random times, 0..=1. Counts and sums are scaled up to
    /// the whole run; distributions and the decisions of `runqueue` and `decision` are not. `null` for an instrument that observes the whole run.
    pub share_of_time: Option<f64>,
    /// Its cost; `null` where it does nothing while the run goes on.
    pub cost: Option<Cost>,
    /// What it saw; `null` where it could not work.
    pub data: Option<ObservationData>,
    /// Files with more of it, in the folder of the record.
    pub files: Vec<String>,
}

/// How an instrument can work on a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Support {
    /// It works without a loss.
    Usable {
        /// What it is based on.
        base: String,
    },
    /// Otherwise, with a loss.
    Fallback {
        /// What it is based on instead.
        base: String,
        /// What is missing, and what is lost by it.
        why: String,
        /// What would change it.
        remedy: String,
    },
    /// It cannot work on this kernel.
    NotAvailable {
        /// What the kernel or the machine lacks.
        why: String,
        /// What would change it.
        remedy: String,
    },
}

impl Support {
    /// Whether it can work.
    pub fn works(&self) -> bool {
        !matches!(self, Support::NotAvailable { .. })
    }
}

/// An instrument and how it can work here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Availability {
    /// Name of the instrument.
    pub instrument: InstrumentName,
    /// How it can work.
    #[serde(flatten)]
    pub support: Support,
}

/// Cost of observing: a lower bound, from the kernel's own run time statistics of the instrument's BPF programs. It counts in
/// windows of 20 ms, about one in 1.6 s, because counting costs too, and the result is scaled up. What
/// it leaves out (the tracepoints themselves, colder caches), only a comparison of runs with and without the instrument shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// CPU time of its programs while the run went on, seconds.
    pub cpu_s: f64,
    /// How often they ran.
    pub runs: u64,
    /// The CPU time as a share of what server and crowd used, 0..=1; `null` unless both were measured.
    pub share_of_cpu: Option<f64>,
    /// Kernel memory of its tables, bytes.
    pub memory_bytes: u64,
}
