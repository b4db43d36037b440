//! What is observed beside the score: what processes used, where a run ran, and the instruments that watch it.

mod bpf;
mod decision;
mod instrument;
mod java;
mod jfr;
mod jvm;
mod kernel;
mod locks;
mod profile;
mod runqueue;
mod symbols;
mod syscalls;
mod trace;
mod usage_details;
mod wakeups;
mod watch;

pub use instrument::{Files, InstrumentError, Targets};
pub use kernel::Kernel;
pub use trace::{
    Recorder, TRACE_BYTES_MAX, TraceEvent, TraceFile, TraceFileError, TraceKind, perfetto, show, summary,
};
pub use watch::{Instruments, Watch, availability, shows};
