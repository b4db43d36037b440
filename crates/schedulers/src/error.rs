//! Why a scheduler cannot be had.

use thiserror::Error;

/// Why a scheduler cannot be loaded, or looked at.
#[derive(Debug, Error)]
pub enum SchedulerError {
    /// The kernel has no sched_ext.
    #[error(
        "this kernel has no sched_ext (no /sys/kernel/sched_ext), so no scheduler can be loaded; boot one with \
         CONFIG_SCHED_CLASS_EXT=y (6.12 or newer), or run it in the lab: klatch lab --help"
    )]
    NoSchedExt,
    /// There is no such scheduler.
    #[error("there is no scheduler {name}; there are {names}")]
    Unknown {
        /// As it was asked for.
        name: String,
        /// All of them.
        names: String,
    },
    /// There is no such knob.
    #[error("the scheduler {scheduler} has no knob {knob}; it has {knobs}")]
    NoKnob {
        /// Which scheduler.
        scheduler: &'static str,
        /// As it was asked for.
        knob: String,
        /// All of them.
        knobs: String,
    },
    /// A knob cannot have this value.
    #[error("{knob} of the scheduler {scheduler} must be {min}..={max}, got {value}")]
    KnobValue {
        /// Which scheduler.
        scheduler: &'static str,
        /// Which knob.
        knob: String,
        /// Least value.
        min: u64,
        /// Greatest value.
        max: u64,
        /// As it was asked for.
        value: String,
    },
    /// The machine has more CPUs than its tables hold.
    #[error(
        "the scheduler {name} takes at most {max} CPUs, and this machine can have {cpus}; start the kernel with \
         nr_cpus={max}, or use the scheduler fifo"
    )]
    TooManyCpus {
        /// Its name.
        name: &'static str,
        /// CPUs that its tables hold.
        max: u32,
        /// CPUs that the machine can have, those included that can be plugged in later.
        cpus: usize,
    },
    /// Somebody else's scheduler is there.
    #[error("the scheduler {name} is loaded already; stop the program that has loaded it, then try again")]
    Busy {
        /// Its name.
        name: String,
    },
    /// No rights.
    #[error("schedulers can be loaded by root only (or with CAP_BPF and CAP_PERFMON); run klatch as root")]
    NotRoot,
    /// The kernel refuses.
    #[error("the kernel refuses the scheduler {name}: {source}{words}")]
    Refused {
        /// Its name.
        name: &'static str,
        /// What it said.
        source: libbpf_rs::Error,
        /// The last lines of what was said on the way there, each on a line of its own.
        words: String,
    },
    /// The kernel's type information is not what programs are built for.
    #[error(
        "the scheduler {name} cannot be loaded: this kernel's type information (BTF) gives functions of sched_ext other \
         arguments than programs call them with. Some builds of Linux 7.0 and newer do so by mistake: try another \
         build of the kernel{words}"
    )]
    Misdescribed {
        /// Its name.
        name: &'static str,
        /// The last lines of what was said on the way there, each on a line of its own.
        words: String,
    },
    /// It was thrown out as soon as it was there.
    #[error("the kernel threw the scheduler {name} out at once: {why}")]
    ThrownOut {
        /// Its name.
        name: &'static str,
        /// Why.
        why: String,
    },
    /// What it counted cannot be read.
    #[error("the statistics of the scheduler cannot be read: {0}")]
    Unreadable(libbpf_rs::Error),
}
