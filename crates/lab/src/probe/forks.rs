//! Processes that start and exit.

use std::process::{Command, Stdio};
use std::time::Instant;

use super::{ProbeError, system};

/// A program that exits at once; its output is discarded.
const SHORT_LIVED: [&str; 2] = ["/proc/self/exe", "--version"];

pub(super) fn run(tasks: u32, rounds: u32) -> Result<(u64, u64), ProbeError> {
    let started = Instant::now();
    for _ in 0..rounds {
        let mut running = Vec::new();
        for _ in 0..tasks {
            let mut command = Command::new(SHORT_LIVED[0]);
            command.arg(SHORT_LIVED[1]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            running.push(command.spawn().map_err(system("start a process"))?);
        }
        for mut process in running {
            process.wait().map_err(system("wait for a process"))?;
        }
    }
    Ok((u64::from(tasks) * u64::from(rounds), started.elapsed().as_nanos() as u64))
}
