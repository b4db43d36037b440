//! `klatch probe`: workloads for schedulers, used by studies of the lab.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use klatch_lab::{Block, LockTiers, Pattern, Probe as Work};

use crate::output::print_line;

/// Run a small workload that isolates one scheduler operation
///
/// Prints one line of JSON.
#[derive(Args)]
pub(crate) struct Probe {
    /// Scheduler operation to isolate
    #[arg(value_enum)]
    probe: Name,
    /// Number of threads, pairs of threads, or concurrent processes
    #[arg(long, default_value_t = 10, value_name = "N")]
    tasks: u32,
    /// Steps of each; for hotplug, how often each CPU goes offline
    #[arg(long, default_value_t = 100, value_name = "N")]
    rounds: u32,
    #[command(flatten)]
    locks: LockArgs,
    #[command(flatten)]
    memory: MemoryArgs,
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
    fn tiers(self) -> LockTiers {
        let LockArgs { locks, think_us, hold_us, sleep_us, spins, yields, block } = self;
        let block = match block {
            BlockName::Futex => Block::Futex,
            BlockName::Yield => Block::Yield,
        };
        LockTiers { locks, think_us, hold_us, sleep_us, spins, yields, block }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// Threads that only yield: a run queue of known length
    Yield,
    /// Pairs of threads that exchange a byte: each step is a wake-up
    PingPong,
    /// Processes that start and exit
    Forks,
    /// Threads that share locks: they spin, yield, and finally block
    Locks,
    /// Accesses to memory with known cache misses
    Memory,
    /// CPUs that go offline and online while threads yield (needs root)
    Hotplug,
}

impl Probe {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let (tasks, rounds) = (self.tasks, self.rounds);
        let work = match self.probe {
            Name::Yield => Work::Yield { tasks, rounds },
            Name::PingPong => Work::PingPong { pairs: tasks, rounds },
            Name::Forks => Work::Forks { tasks, rounds },
            Name::Locks => Work::Locks { tasks, rounds, tiers: self.locks.tiers() },
            Name::Memory => Work::Memory {
                pattern: self.memory.pattern.pattern(),
                elements: self.memory.elements,
                stride_bytes: self.memory.stride,
                rounds,
            },
            Name::Hotplug => Work::Hotplug { tasks, rounds },
        };
        print_line(serde_json::to_string(&work.run()?)?);
        Ok(ExitCode::SUCCESS)
    }
}
