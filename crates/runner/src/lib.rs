//! Carries a plan out: starts the servers and the crowd as processes, controls the crowd, and builds one record of each
//! run with its verdict and warnings.

mod assemble;
mod bench;
mod crowd;
mod error;
mod execute;
mod folder;
mod guards;
mod itself;
mod noise;
mod plan;
mod pulse;
mod remote;
mod scheduler;
mod shard;
mod spread;
mod steer;
mod verdict;
mod visit;
mod watcher;

pub use bench::{Bench, chosen};
pub use crowd::{shard_commands, shard_file};
pub use error::RunError;
pub use execute::{Event, Outcome, execute};
pub use folder::{make_folder, next_stem};
pub use guards::{describe_noise, guard_series};
pub use itself::OwnWatch;
pub use noise::{noise_of, save_noise};
pub use plan::{CrowdKind, Plan, Target, TargetError};
pub use remote::{Remote, from_shell, in_shell};
pub use shard::{ShardPlan, now, shard_record};
pub use spread::spread;
pub use verdict::judge;
pub use visit::{Executor, Machine, Visiting};
pub use watcher::Watcher;
