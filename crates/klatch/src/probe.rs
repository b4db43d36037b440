//! `klatch probe`: workloads for schedulers, used by lab studies.

use std::process::ExitCode;

use crate::output::print_line;
use clap::{Args, ValueEnum};
use klatch_lab::Probe as Work;

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
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// Threads that only yield: a run queue of known length
    Yield,
    /// Pairs of threads that exchange a byte: each step is a wake-up
    PingPong,
    /// Processes that start and exit
    Forks,
    /// Threads that share one lock: they try, yield, and finally block
    Locks,
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
            Name::Locks => Work::Locks { tasks, rounds },
            Name::Hotplug => Work::Hotplug { tasks, rounds },
        };
        print_line(serde_json::to_string(&work.run()?)?);
        Ok(ExitCode::SUCCESS)
    }
}
