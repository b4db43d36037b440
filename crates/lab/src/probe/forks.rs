//! Processes that start and exit.

use std::process::{Command, Stdio};
use std::time::Instant;

use super::times::{Stopwatch, Times};
use super::{Done, ProbeError, system};

/// A program that exits at once; its output is discarded.
const SHORT_LIVED: [&str; 2] = ["/proc/self/exe", "--version"];

pub(super) fn run(tasks: u32, rounds: u32) -> Result<Done, ProbeError> {
    let (mut starts, mut lives) = (Times::new(), Times::new());
    let watch = Stopwatch::start();
    for _ in 0..rounds {
        let mut running = Vec::new();
        for _ in 0..tasks {
            let mut command = Command::new(SHORT_LIVED[0]);
            command.arg(SHORT_LIVED[1]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let started = Instant::now();
            running.push((command.spawn().map_err(system("start a process"))?, started));
            starts.since(started);
        }
        for (mut process, started) in running {
            process.wait().map_err(system("wait for a process"))?;
            lives.since(started);
        }
    }
    let steps = u64::from(tasks) * u64::from(rounds);
    Ok(Done::new("process", steps, watch.stop()).with("start", starts).with("start_to_exit", lives))
}
