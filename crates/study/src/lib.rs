//! From a plan to records on disk: starts the server, lets the crowd run under the run rules, watches, judges, writes.

mod assemble;
mod bench;
mod by_turns;
mod calibrate;
mod cell;
mod compare;
mod crowd;
mod engine;
mod error;
mod execute;
mod file;
mod floor;
mod folder;
mod guards;
mod itself;
mod noise;
mod plan;
mod pulse;
mod remote;
#[cfg(test)]
mod samples;
mod scheduler;
#[cfg(test)]
mod scripted;
mod series;
mod shard;
mod spread;
mod steer;
mod study;
mod verdict;
mod watch_cost;
mod watcher;

pub use calibrate::{CalibrateError, Calibration, calibrate};
pub use cell::{Cell, StudyPlan};
pub use compare::{CompareError, Terms, compare};
pub use crowd::{shard_commands, shard_file};
pub use engine::{Executor, Machine, Store, StudyEvent, Visiting, run_study};
pub use error::{RunError, StoreError};
pub use execute::{Event, Outcome, execute};
pub use file::{Shipped, StudyFileError, shipped, study_schema};
pub use floor::{FloorError, floor};
pub use guards::guard_series;
pub use itself::OwnWatch;
pub use plan::{CrowdKind, Plan, Target, TargetError};
pub use remote::{Remote, from_shell, in_shell};
pub use series::{Enough, Metric, Preset, Rules};
pub use shard::{ShardPlan, now, shard_record};
pub use spread::spread;
pub use study::{StudyError, load};
pub use verdict::judge;
pub use watch_cost::watch_cost;
