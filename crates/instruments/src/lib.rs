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
mod kernel_symbols;
mod lab_counts;
mod locks;
mod operation_counts;
mod perf_map;
mod places;
mod profile;
mod runqueue;
pub mod stop;
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

/// All instruments, in the order in which they are listed and started.
///
/// At a shared tracepoint, programs run in the order in which they were attached. So `decision` precedes the others at the
/// entry and at the switch, and does not time their work there.
static ALL: &[&dyn instrument::Instrument] = &[
    &usage::DetailedUsage,
    &profile::CPU_TIME,
    &profile::INSTRUCTIONS,
    &profile::CACHE_MISSES,
    &profile::MODELLED_CYCLES,
    &runqueue::RUNQUEUE_LENGTH,
    &decision::DECISION_COST,
    &wakeups::WAKEUP_LATENCY,
    &locks::LOCK_WAITS,
    &syscalls::SYSCALL_COUNTS,
    &tcp::TcpSegments,
    &jvm::JvmActivity,
    &jfr::JavaFlightRecorder,
    &trace::SchedulerTrace,
];
