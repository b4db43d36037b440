//! `klatch probe`: workloads for schedulers, used by studies of the lab.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use klatch_lab::{
    Block, Channel, Hackbench, LockTiers, Passage, Pattern, Probe as Work, ProbeError, Schbench,
};

use crate::INTERRUPTED;
use crate::interrupt::{NOTHING_KEPT, end_without_thread, flag_on_interrupt};
use crate::output::{print_error, print_line, print_text};
use crate::quantity::{Time, whole};

/// Run a small workload that isolates one scheduler operation
///
/// Prints how long each step took: count, mean, percentiles and maximum.
#[derive(Args)]
pub(crate) struct Probe {
    #[command(subcommand)]
    probe: Name,
}

#[derive(Subcommand)]
enum Name {
    /// Threads that only yield: a run queue of known length
    Yield(Steps),
    /// Pairs of threads that exchange a byte: each step is a wake-up
    PingPong {
        /// What the threads of a pair have between them
        #[arg(long, value_enum, default_value_t = ChannelName::Pipe)]
        through: ChannelName,
        #[command(flatten)]
        steps: Steps,
    },
    /// Processes that start and exit
    Forks(Steps),
    /// Threads that share locks: they spin, yield, and finally block
    Locks {
        #[command(flatten)]
        steps: Steps,
        #[command(flatten)]
        locks: LockArgs,
    },
    /// Accesses to memory with known cache misses
    Memory {
        #[command(flatten)]
        memory: MemoryArgs,
        /// How often all elements are accessed
        #[arg(long, default_value_t = 100, value_name = "N")]
        rounds: u32,
        #[command(flatten)]
        output: Output,
    },
    /// Groups of senders and receivers that pass messages, as in hackbench
    Hackbench(HackbenchArgs),
    /// Message threads that wake workers for requests, as in schbench
    Schbench(SchbenchArgs),
    /// CPUs that go offline and online while threads yield (needs root)
    Hotplug(Steps),
}

#[derive(Args)]
struct Output {
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Steps {
    /// Number of threads, pairs of threads, or concurrent processes
    #[arg(long, default_value_t = 10, value_name = "N")]
    tasks: u32,
    /// Steps of each; for hotplug, how often each CPU goes offline
    #[arg(long, default_value_t = 100, value_name = "N")]
    rounds: u32,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum ChannelName {
    /// Two pipes
    Pipe,
    /// A pair of Unix sockets
    Socket,
    /// A word of memory, for which they wait by futex
    Futex,
}

impl ChannelName {
    fn channel(self) -> Channel {
        match self {
            ChannelName::Pipe => Channel::Pipe,
            ChannelName::Socket => Channel::Socket,
            ChannelName::Futex => Channel::Futex,
        }
    }
}

#[derive(Args)]
struct HackbenchArgs {
    /// Number of groups
    #[arg(short, long, default_value_t = 10, value_name = "N")]
    groups: u32,
    /// Senders of a group, and as many receivers
    #[arg(short, long, default_value_t = 20, value_name = "N")]
    fds: u32,
    /// Messages of each sender to each receiver of its group
    #[arg(short, long, default_value_t = 100, value_name = "N")]
    loops: u32,
    /// Size of a message
    #[arg(short = 's', long, default_value_t = 100, value_name = "BYTES")]
    datasize: u32,
    /// Pass messages through pipes instead of Unix sockets
    #[arg(short, long)]
    pipe: bool,
    /// Make each task a thread instead of a process
    #[arg(short = 'T', long)]
    threads: bool,
    #[command(flatten)]
    output: Output,
}

impl HackbenchArgs {
    fn work(&self) -> Work {
        let HackbenchArgs { groups, fds, loops, datasize, pipe, threads, .. } = *self;
        let through = if pipe { Passage::Pipe } else { Passage::Socket };
        Work::Hackbench(Hackbench { groups, fds, loops, datasize, through, processes: !threads })
    }
}

#[derive(Args)]
struct SchbenchArgs {
    /// Threads that wake workers
    #[arg(short, long, default_value_t = 1, value_name = "N")]
    message_threads: u32,
    /// Workers of each message thread
    #[arg(short, long, default_value_t = 16, value_name = "N")]
    threads: u32,
    /// Requests of each worker
    #[arg(short = 'R', long, default_value_t = 100, value_name = "N")]
    requests: u32,
    /// Begin no request after this time; without --requests, end only then
    #[arg(short, long, value_name = "TIME")]
    runtime: Option<Time>,
    /// Size of the matrices of a request
    #[arg(short = 'F', long, default_value_t = 256, value_name = "KIB")]
    cache_footprint: u32,
    /// Matrix multiplications of a request
    #[arg(short = 'n', long, default_value_t = 5, value_name = "N", value_parser = whole::<0, 1_000_000>)]
    operations: u32,
    /// Sleep of a request before it computes, as if for the network
    #[arg(short, long, default_value_t = 100, value_name = "US", value_parser = whole::<0, 10_000_000>)]
    sleep_us: u32,
    #[command(flatten)]
    output: Output,
}

impl SchbenchArgs {
    fn work(&self) -> Work {
        let SchbenchArgs {
            message_threads, threads, requests, cache_footprint, operations, sleep_us, ..
        } = *self;
        Work::Schbench(Schbench {
            message_threads,
            workers: threads,
            requests,
            runtime_s: self.runtime.map(|time| time.0.as_secs_f64()),
            cache_footprint_kib: cache_footprint,
            operations,
            sleep_us,
        })
    }
}

#[derive(Args)]
#[command(next_help_heading = "Options of memory")]
struct MemoryArgs {
    /// Order of the accesses
    #[arg(long, value_enum, default_value_t = PatternName::Chase)]
    pattern: PatternName,
    /// Number of elements of memory
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    elements: u32,
    /// Distance between two elements
    #[arg(long, default_value_t = 64, value_name = "BYTES")]
    stride: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum PatternName {
    /// Loads that depend on each other
    Chase,
    /// Independent loads, in order
    Stride,
    /// Reads and writes of all bytes
    Copy,
    /// Two threads that write one word in turn
    Share,
}

impl PatternName {
    fn pattern(self) -> Pattern {
        match self {
            PatternName::Chase => Pattern::Chase,
            PatternName::Stride => Pattern::Stride,
            PatternName::Copy => Pattern::Copy,
            PatternName::Share => Pattern::Share,
        }
    }
}

#[derive(Args)]
#[command(next_help_heading = "Options of locks")]
struct LockArgs {
    /// Locks, each as likely as the others
    #[arg(long, default_value_t = 1, value_name = "N")]
    locks: u32,
    /// CPU time of a thread between two sections
    #[arg(long, default_value_t = 40, value_name = "US")]
    think_us: u32,
    /// CPU time in a section
    #[arg(long, default_value_t = 4, value_name = "US")]
    hold_us: u32,
    /// Sleep in a section, as if for a disk
    #[arg(long, default_value_t = 200, value_name = "US")]
    sleep_us: u32,
    /// First tier: tries in a row before a thread yields
    #[arg(long, default_value_t = 0, value_name = "N")]
    spins: u32,
    /// Second tier: yields, each followed by a try, before a thread blocks
    #[arg(long, default_value_t = 40, value_name = "N")]
    yields: u32,
    /// Third tier: block in a futex, or go on yielding
    #[arg(long, value_enum, default_value_t = BlockName::Futex)]
    block: BlockName,
}

#[derive(Clone, Copy, ValueEnum)]
enum BlockName {
    Futex,
    Yield,
}

impl LockArgs {
    fn tiers(&self) -> LockTiers {
        let LockArgs { locks, think_us, hold_us, sleep_us, spins, yields, block } = *self;
        let block = match block {
            BlockName::Futex => Block::Futex,
            BlockName::Yield => Block::Yield,
        };
        LockTiers { locks, think_us, hold_us, sleep_us, spins, yields, block }
    }
}

impl Name {
    /// The probe, and whether it prints JSON.
    fn work(&self) -> (Work, bool) {
        let with =
            |steps: &Steps, work: fn(u32, u32) -> Work| (work(steps.tasks, steps.rounds), steps.output.json);
        match self {
            Name::Yield(steps) => with(steps, |tasks, rounds| Work::Yield { tasks, rounds }),
            Name::Forks(steps) => with(steps, |tasks, rounds| Work::Forks { tasks, rounds }),
            Name::Hotplug(steps) => with(steps, |tasks, rounds| Work::Hotplug { tasks, rounds }),
            Name::PingPong { through, steps: Steps { tasks, rounds, output } } => {
                let channel = through.channel();
                (Work::PingPong { pairs: *tasks, rounds: *rounds, channel }, output.json)
            }
            Name::Locks { steps: Steps { tasks, rounds, output }, locks } => {
                (Work::Locks { tasks: *tasks, rounds: *rounds, tiers: locks.tiers() }, output.json)
            }
            Name::Memory { memory, rounds, output } => {
                let work = Work::Memory {
                    pattern: memory.pattern.pattern(),
                    elements: memory.elements,
                    stride_bytes: memory.stride,
                    rounds: *rounds,
                };
                (work, output.json)
            }
            Name::Hackbench(arguments) => (arguments.work(), arguments.output.json),
            Name::Schbench(arguments) => (arguments.work(), arguments.output.json),
        }
    }
}

impl Probe {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let (work, json) = self.probe.work();
        let interrupted = match work {
            // CPUs that it took offline come back first.
            Work::Hotplug { .. } => flag_on_interrupt()?,
            _ => {
                end_without_thread()?;
                Arc::default()
            }
        };
        let result = match work.run(&interrupted) {
            Err(ProbeError::Interrupted) => {
                print_error(NOTHING_KEPT);
                return Ok(ExitCode::from(INTERRUPTED));
            }
            result => result?,
        };
        match json {
            true => print_line(serde_json::to_string(&result)?),
            false => print_text(klatch_report::probe(&result)),
        }
        Ok(ExitCode::SUCCESS)
    }
}
