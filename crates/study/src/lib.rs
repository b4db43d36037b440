//! From a plan to records on disk: starts the server, lets the crowd run under the run rules, watches, judges, writes.

mod assemble;
mod crowd;
mod execute;
mod folder;
mod plan;
mod verdict;

pub use execute::{Event, Outcome, RunError, execute};
pub use verdict::judge;
pub use plan::{CrowdKind, Plan, Target, TargetError};
