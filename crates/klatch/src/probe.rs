//! `klatch probe`: workloads for schedulers, used by studies of the lab.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use klatch_lab::{
    Block, Channel, Hackbench, LockTiers, Passage, Pattern, Probe as Work, ProbeError, ProbeResult, Schbench,
};
use klatch_record::{Latency, grouped};
use klatch_report::{Column, TextTable, three_digits};

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
            false => print_text(text_of(&result)),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The result as text: what was done, and a row for each distribution.
fn text_of(result: &ProbeResult) -> String {
    let ProbeResult { probe, tasks, rounds, operation, steps, .. } = result;
    let named = |(name, value): (&String, &String)| format!(", {} {value}", name.replace('_', " "));
    let settings: String = match result.settings.is_empty() {
        true => format!(", tasks {tasks}, rounds {rounds}"),
        false => result.settings.iter().map(named).collect(),
    };
    let seconds = result.elapsed_ns as f64 / 1e9;
    let rate = *steps as f64 / seconds.max(1e-9);
    let plural = match operation.as_str() {
        "process" | "access" => "es",
        _ => "s",
    };
    let (steps, rate) = (grouped(*steps), grouped(rate.round() as u64));
    let mut text = format!("{probe}: {steps} {operation}{plural} in {seconds:.3} s, {rate}/s{settings}\n");
    if let Some(locks) = &result.acquisitions {
        let [at_once, spinning, yielding, blocking, yields] =
            [locks.at_once, locks.by_spinning, locks.by_yielding, locks.by_blocking, locks.yields]
                .map(grouped);
        text += &format!(
            "locks acquired at once {at_once}, by spinning {spinning}, by yielding {yielding}, by blocking {blocking}; yields {yields}\n"
        );
    }
    if result.times.is_empty() {
        return text;
    }
    let numbers = ["count", "mean", "p50", "p90", "p99", "p99.9", "max"];
    let heads = numbers.into_iter().map(Column::number);
    let mut table = TextTable::new(std::iter::once(Column::name("time, µs")).chain(heads));
    for (name, all) in &result.times {
        let Latency { count, mean_us, p50_us, p90_us, p99_us, p999_us, max_us, .. } = all;
        let times = [mean_us, p50_us, p90_us, p99_us, p999_us, max_us].map(|us| three_digits(*us));
        table.row([name.replace('_', " "), grouped(*count)].into_iter().chain(times));
    }
    text + &format!("\n{table}\n")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use klatch_lab::Acquisitions;

    use super::*;
    use crate::golden::at_widths;

    #[test]
    fn the_text_has_a_row_for_each_distribution() {
        let result = Work::PingPong { pairs: 2, rounds: 10, channel: Channel::Futex }
            .run(&AtomicBool::new(false))
            .unwrap();
        let text = text_of(&result);
        assert!(text.starts_with("ping-pong: 40 wake-ups in "), "{text}");
        assert!(text.contains(", through futex\n") && text.contains("p99.9"), "{text}");
        let row = text.lines().last().unwrap();
        assert!(row.starts_with("round trip") && row.split_whitespace().nth(2) == Some("20"), "{text}");
        let memory = Work::Memory { pattern: Pattern::Chase, elements: 8, stride_bytes: 8, rounds: 2 };
        let text = text_of(&memory.run(&AtomicBool::new(false)).unwrap());
        assert!(text.starts_with("memory: 16 accesses in ") && text.lines().count() == 1, "{text}");
    }

    #[test]
    fn results_are_as_they_were_at_three_widths() {
        let times = |ns: u64| {
            let counts = (1..=1_000).map(|step| (ns * step, 1));
            Latency::from_counts_ns(&counts.collect::<Vec<_>>()).unwrap().unwrap()
        };
        let settings = [
            ("groups", "10"),
            ("fds", "20"),
            ("loops", "100"),
            ("datasize", "100"),
            ("through", "socket"),
            ("tasks_are", "processes"),
        ];
        let hackbench = ProbeResult {
            probe: "hackbench".to_owned(),
            tasks: 400,
            rounds: 100,
            settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            operation: "message".to_owned(),
            steps: 400_000,
            elapsed_ns: 1_234_567_890,
            times: [("message".to_owned(), times(3_210)), ("start".to_owned(), times(98))].into(),
            acquisitions: None,
        };
        let locks = ProbeResult {
            probe: "locks".to_owned(),
            settings: [].into(),
            operation: "acquisition".to_owned(),
            times: [("wait".to_owned(), times(41))].into(),
            acquisitions: Some(Acquisitions {
                at_once: 390_000,
                by_spinning: 6_000,
                by_yielding: 3_000,
                by_blocking: 1_000,
                yields: 12_345,
            }),
            ..hackbench.clone()
        };
        insta::assert_snapshot!(at_widths(|| text_of(&hackbench) + &text_of(&locks)));
    }
}
