//! Pairs of threads that pass a byte back and forth through pipes.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::thread;
use std::time::Instant;

use super::{ProbeError, system, threads};

pub(super) fn run(pairs: u32, rounds: u32) -> Result<(u64, u64), ProbeError> {
    let mut work: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for _ in 0..pairs {
        let (there_out, there_in) = pipe().map_err(system("make a pipe"))?;
        let (back_out, back_in) = pipe().map_err(system("make a pipe"))?;
        work.push(Box::new(move || play(there_in, back_out, rounds, true)));
        work.push(Box::new(move || play(back_in, there_out, rounds, false)));
    }
    let started = Instant::now();
    thread::scope(|scope| threads(scope, work, &mut Vec::new()))?;
    Ok((2 * u64::from(pairs) * u64::from(rounds), started.elapsed().as_nanos() as u64))
}

fn play(mut to: PipeWriter, mut from: PipeReader, rounds: u32, serves: bool) {
    let mut ball = [0];
    for _ in 0..rounds {
        // The other thread has ended after an error, so this one ends too.
        let played = match serves {
            true => to.write_all(&ball).and_then(|()| from.read_exact(&mut ball)),
            false => from.read_exact(&mut ball).and_then(|()| to.write_all(&ball)),
        };
        if played.is_err() {
            return;
        }
    }
}
