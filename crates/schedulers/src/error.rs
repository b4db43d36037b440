//! Errors of loading and reading schedulers.

use thiserror::Error;

/// A scheduler that cannot be loaded or read.
#[derive(Debug, Error)]
pub enum SchedulerError {
    /// The kernel was built without sched_ext.
    #[error(
        "this kernel has no sched_ext (no /sys/kernel/sched_ext), so no scheduler can be loaded; boot one with \
         CONFIG_SCHED_CLASS_EXT=y (6.12 or newer), or run it in the lab"
    )]
    NoSchedExt,
    /// The catalogue has no scheduler with this name.
    #[error("there is no scheduler {name}; {instead}")]
    Unknown {
        /// The name in the command or study file.
        name: String,
        /// The scheduler that was meant, or all of them.
        instead: String,
    },
    /// The scheduler has no knob with this name.
    #[error("the scheduler {scheduler} has no knob {knob}; {instead}")]
    NoKnob {
        /// Name of the scheduler.
        scheduler: &'static str,
        /// The name in the command or study file.
        knob: String,
        /// The knob that was meant, or all of them.
        instead: String,
    },
    /// The value of a knob is not a number in its range.
    #[error("{knob} of the scheduler {scheduler} must be {min} to {max}, got {value}")]
    KnobValue {
        /// Name of the scheduler.
        scheduler: &'static str,
        /// Name of the knob.
        knob: String,
        /// Lowest value that can be set.
        min: u64,
        /// Highest value that can be set.
        max: u64,
        /// The value in the command or study file.
        value: String,
    },
    /// The machine has more CPUs than the tables of the scheduler can hold.
    #[error(
        "the scheduler {name} takes at most {max} CPUs, and this machine can have {cpus}; start the kernel with \
         nr_cpus={max}, or use the scheduler fifo"
    )]
    TooManyCpus {
        /// Name of the scheduler.
        name: &'static str,
        /// Size of its tables, CPUs.
        max: u32,
        /// Possible CPUs of the machine, including those that can be plugged in later.
        cpus: usize,
    },
    /// A command that is to load a scheduler has no words, or an open quote.
    #[error(
        "{text} names no program; write the program that loads the scheduler, such as `scx_lavd --performance`"
    )]
    NoCommand {
        /// What was written.
        text: String,
    },
    /// The program that is to load a scheduler does not exist.
    #[error(
        "there is no program {program} to load a scheduler; give its path, or install it where PATH leads"
    )]
    NoProgram {
        /// The program in the command or study file.
        program: String,
    },
    /// The program ended before its scheduler was in force.
    #[error("{program} ended before its scheduler was in force ({how}); it said: {words}")]
    Ended {
        /// The program.
        program: String,
        /// Its exit status in words.
        how: String,
        /// The last that it said.
        words: String,
    },
    /// The program runs, and no scheduler came into force.
    #[error("{program} loaded no scheduler in {seconds} s; it said: {words}")]
    NotLoaded {
        /// The program.
        program: String,
        /// The time limit, s.
        seconds: u64,
        /// The last that it said.
        words: String,
    },
    /// The program ended, and its scheduler stays: it went on in the background.
    #[error(
        "{program} went to the background, where it could not be stopped; start it so that it stays in the foreground"
    )]
    Background {
        /// The program.
        program: String,
    },
    /// Another sched_ext scheduler is loaded.
    #[error("the scheduler {name} is loaded already; stop the program that has loaded it, then try again")]
    Busy {
        /// Name of the scheduler.
        name: String,
    },
    /// The process lacks CAP_BPF or CAP_PERFMON.
    #[error("only root can load schedulers (or a user with CAP_BPF and CAP_PERFMON); run klatch as root")]
    NotRoot,
    /// The kernel or its verifier rejected the program.
    #[error("the kernel refuses the scheduler {name}: {source}{log}")]
    Refused {
        /// Name of the scheduler.
        name: &'static str,
        /// The error of libbpf.
        source: libbpf_rs::Error,
        /// The last messages of libbpf and the verifier, each after a newline.
        log: String,
    },
    /// The kernel's BTF describes sched_ext functions with wrong arguments.
    #[error(
        "the scheduler {name} cannot be loaded: this kernel's type information (BTF) gives functions of sched_ext other \
         arguments than programs call them with. Some builds of Linux 7.0 and newer do so by mistake: try another \
         build of the kernel{log}"
    )]
    WrongBtf {
        /// Name of the scheduler.
        name: &'static str,
        /// The last messages of libbpf and the verifier, each after a newline.
        log: String,
    },
    /// The kernel unloaded the scheduler immediately.
    #[error("the kernel unloaded the scheduler {name} immediately: {cause}")]
    Unloaded {
        /// Name of the scheduler.
        name: &'static str,
        /// Reason and message of the kernel.
        cause: String,
    },
    /// The BPF maps of the scheduler cannot be read.
    #[error("the statistics of the scheduler cannot be read: {0}")]
    Unreadable(libbpf_rs::Error),
}
