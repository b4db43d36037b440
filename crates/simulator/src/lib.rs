//! A simulated machine with several CPUs under the schedulers of history and today's EEVDF.
//!
//! The policies' rules are the C headers that the BPF schedulers include, but those of EEVDF, which is in the kernel. The machine prices what they count: elements of a queue, CPUs
//! examined, locks and cache lines. All results are simulated; nothing here measures anything.

mod account;
mod cache;
mod costs;
mod counts;
mod cpu;
mod events;
mod hardware;
mod lock;
mod machine;
mod placement;
mod prices;
mod random;
mod run;
mod schedulers;
mod topology;
mod waits;
mod work;

pub use account::{Account, Accounts};
pub use costs::{Cost, CostError, Costs, Kind};
pub use counts::Counts;
pub use events::Cycles;
pub use hardware::Hardware;
pub use klatch_schedulers::policies::goodness::Version;
pub use klatch_schedulers::policies::o1::YieldTo;
pub use lock::LockCounts;
pub use machine::recorder::{ScheduleEvent, Scheduled};
pub use run::{Cell, Outcome, Recorded, simulate, simulate_recorded};
pub use schedulers::{
    EevdfKnobs, GoodnessKnobs, MultiqueueKnobs, O1Knobs, SchedulerSpec, ShardSize, SpecError,
};
pub use topology::{CPUS_MAX, DISTANCES, Distance, Topology, TopologyError};
pub use waits::Waits;
pub use work::hackbench::HackbenchSpec;
pub use work::locks::LocksSpec;
pub use work::requests::RequestsSpec;
pub use work::spec::{ChatSpec, WorkError, Workload};
