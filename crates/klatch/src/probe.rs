//! `klatch probe`.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use klatch_lab::Probe as Work;

/// Small workloads that ask one thing of a scheduler; prints one line of JSON.
#[derive(Args)]
pub(crate) struct Probe {
    /// Which
    #[arg(value_enum)]
    probe: Name,
    /// Threads, pairs of threads, or processes at a time
    #[arg(long, default_value_t = 10, value_name = "N")]
    tasks: u32,
    /// Steps of each; how often each CPU goes and comes
    #[arg(long, default_value_t = 100, value_name = "N")]
    rounds: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// Threads that do nothing but yield: a run queue of known length
    Yield,
    /// Pairs of threads that send a byte to and fro: each step is a wake-up
    PingPong,
    /// Processes that start and end
    Forks,
    /// Threads that work, and take one lock: they try, yield, and block when that does not help
    Locks,
    /// CPUs that go and come while threads yield (root)
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
        println!("{}", serde_json::to_string(&work.run()?)?);
        Ok(ExitCode::SUCCESS)
    }
}
