//! Carries out one plan: starts the servers and the crowd as processes, controls the crowd, and builds a record of each
//! run with its verdict and warnings.

mod audit;
mod brokerage;
mod carrier;
mod control;
mod cpu_sampler;
mod crowd_command;
mod description;
pub mod duet;
mod error;
mod execute;
mod folder;
mod guards;
mod joining;
mod noise;
mod observer;
mod plan;
mod preflight;
mod reach;
mod record;
mod remote;
mod resolved;
mod run_options;
mod running_crowd;
#[cfg(feature = "samples")]
pub mod samples;
mod scheduler;
mod self_monitor;
mod server_monitor;
mod session;
mod shard;
mod split;
mod steered_run;
mod training;
mod verdict;
mod visit;

pub use carrier::Endpoint;
pub use crowd_command::{shard_commands, shard_file};
pub use error::{RunError, after_restore};
pub use execute::{Event, Outcome, execute};
pub use folder::{make_folder, next_stem};
pub use guards::{describe_noise, guard_series};
pub use noise::{load_noise, noise_between_starts, save_noise};
pub use plan::{
    CrowdKind, Plan, PlatformPlan, Subject, Target, TargetError, TargetPlan, address, make_classic,
};
pub use preflight::check_plan;
pub use reach::{Reach, in_shell};
pub use remote::Remote;
pub use resolved::{CheckedPlan, ResolvedSubject};
pub use self_monitor::SelfMonitor;
pub use server_monitor::ServerMonitor;
pub use session::Session;
pub use shard::{ShardPlan, now, shard_record};
pub use split::split_parties;
pub use steered_run::SteeredRun;
pub use training::open_session;
pub use verdict::judge;
pub use visit::{Executor, Machine, VisitEvent, make_runs};
