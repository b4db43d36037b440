//! What is observed beside the score: what processes used, where a run ran, and the instruments that watch it.

mod bpf;
mod decision;
mod environment;
mod frequency;
mod gc;
mod instrument;
mod java;
mod jfr;
mod jvm;
mod kernel;
mod locks;
mod machine_time;
mod profile;
mod runqueue;
mod symbols;
mod syscalls;
mod trace;
mod usage;
mod usage_details;
mod wakeups;
mod watch;

pub use environment::{clock_name, environment, host_name};
pub use frequency::CpuFrequency;
pub use instrument::{Files, InstrumentError, Targets};
pub use kernel::Kernel;
pub use machine_time::MachineTime;
pub use trace::{
    Recorder, TRACE_BYTES_MAX, TraceEvent, TraceFile, TraceFileError, TraceKind, perfetto, show, summary,
};
pub use usage::{Snapshot, WatchError, cpu_time_ns};
pub use watch::{Instruments, Watch, availability, shows};
