//! From a plan to records on disk: starts the server, lets the crowd run under the run rules, watches, judges, writes.

mod assemble;
mod bench;
mod compare;
mod crowd;
mod error;
mod execute;
mod folder;
mod plan;
mod verdict;

pub use compare::{CompareError, Terms, compare};
pub use error::RunError;
pub use execute::{Event, Outcome, execute};
pub use plan::{CrowdKind, Plan, Target, TargetError};
pub use verdict::judge;
