//! A simulated machine with several CPUs under the schedulers of history.
//!
//! The policies are the C headers that the BPF schedulers include. The machine prices what they count: elements of a queue, CPUs
//! examined, locks and cache lines. All results are simulated; nothing here measures anything.

mod account;
mod cache;
mod calibrate;
mod costs;
mod counts;
mod cpu;
mod events;
mod lock;
mod machine;
mod papers;
mod placement;
mod prices;
mod random;
mod run;
mod scaling;
mod schedulers;
mod topology;
mod work;

pub use account::{Account, Accounts};
pub use calibrate::{Fit, calibrate};
pub use costs::{Cost, CostError, Costs, Kind};
pub use counts::Counts;
pub use events::Cycles;
pub use klatch_policies::goodness::Version;
pub use klatch_policies::o1::YieldTo;
pub use lock::LockCounts;
pub use machine::Hardware;
pub use papers::{Role, Row, Verdict, papers};
pub use run::{Cell, ChatSpec, Outcome, Workload, simulate};
pub use scaling::{ScalingRow, scaling};
pub use schedulers::{GoodnessKnobs, MultiqueueKnobs, O1Knobs, SchedulerSpec, SpecError};

pub use topology::{CPUS_MAX, DISTANCES, Distance, Topology, TopologyError};
pub use work::locks::LocksSpec;
