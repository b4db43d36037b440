//! Why the sides of a duet cannot be counted.

use klatch_lab::LabError;
use klatch_platforms::{JavaError, PlatformError};
use klatch_record::{WorkloadError, WorkloadKind};
use thiserror::Error;

/// Why the sides of a duet cannot be counted in the lab.
#[derive(Debug, Error)]
pub enum ExactError {
    /// The lab cannot start it.
    #[error("an exact count starts both servers in the lab, and {target} runs elsewhere")]
    Target {
        /// Its address.
        target: String,
    },
    /// The lab has no database server and no disk.
    #[error("the lab cannot count {0}, which needs a {need}", need = if .0.has_database() { "database" } else { "disk" })]
    Workload(WorkloadKind),
    /// Its build would take hours there.
    #[error("{name} is built from its sources, which the lab has no tools for")]
    Built {
        /// Name of the platform.
        name: String,
    },
    /// They are in no command line.
    #[error("the lab cannot count requests with header fields whose values are not part of the workload")]
    HeaderValues,
    /// A platform cannot be started even here.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// There is no Java for a crowd.
    #[error(transparent)]
    Java(#[from] JavaError),
    /// The shortened workload is none.
    #[error(transparent)]
    Setting(#[from] WorkloadError),
    /// The machine cannot be prepared, or did not end well.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A run in the machine failed.
    #[error("{side} failed in the lab: {reason}")]
    Run {
        /// Name of the platform.
        side: String,
        /// What the run said last.
        reason: String,
    },
}
