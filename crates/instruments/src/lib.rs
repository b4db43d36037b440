//! The instruments that observe a run beside its score.

mod bpf;
mod bpf_instrument;
pub mod counters;
mod data_names;
mod decision;
mod error;
mod files;
mod instrument;
mod instruments;
mod jdk;
mod jfr;
mod jvm;
mod kernel;
mod lab_counts;
mod locks;
mod operation_counts;
mod perf_map;
mod places;
mod profile;
mod runqueue;
mod symbols;
mod syscalls;
mod targets;
mod tcp;
mod trace;
mod usable_cpus;
mod usage;
mod variables;
mod wakeups;

pub use error::InstrumentError;
pub use files::Files;
pub use instruments::{Instruments, RunningInstruments, availability, availability_of, description};
pub use kernel::Kernel;
pub use lab_counts::lab_counts;
pub use operation_counts::{COUNT_OPERATIONS, OperationCounts};
pub use profile::{PairSampler, Places, SampledSide};
pub use targets::Targets;
pub use trace::{
    PerfError, PerfScript, QueueWaits, Recorder, TRACE_BYTES_MAX, ThreadSummary, TraceEvent, TraceFile,
    TraceFileError, TraceKind, TraceSummary, WaitsBy, event_line, queue_waits, read_perf_script, replay,
    summary, write_perfetto,
};
