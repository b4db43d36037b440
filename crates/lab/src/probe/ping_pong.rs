//! Pairs of threads that pass a byte back and forth, or wake each other.

use std::io::{Read, Write, pipe};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use rustix::thread::futex;

use super::times::{SharedTimes, Stopwatch, Times};
use super::{Done, ProbeError, system, threads};

/// What the two threads of a pair have between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Two pipes.
    Pipe,
    /// A pair of stream sockets of the Unix domain.
    Socket,
    /// A word of memory; they wait for it by futex.
    Futex,
}

impl Channel {
    /// Its name, as on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Channel::Pipe => "pipe",
            Channel::Socket => "socket",
            Channel::Futex => "futex",
        }
    }
}

pub(super) fn run(pairs: u32, rounds: u32, channel: Channel) -> Result<Done, ProbeError> {
    let trips = SharedTimes::new();
    let words: Vec<AtomicU32> = (0..pairs).map(|_| AtomicU32::new(0)).collect();
    let mut work: Vec<Box<dyn FnOnce() + Send + '_>> = Vec::new();
    for word in &words {
        let trips = &trips;
        match channel {
            Channel::Pipe => {
                let (there_out, there_in) = pipe().map_err(system("make a pipe"))?;
                let (back_out, back_in) = pipe().map_err(system("make a pipe"))?;
                work.push(Box::new(move || serve(End { from: back_out, to: there_in }, rounds, trips)));
                work.push(Box::new(move || answer(End { from: there_out, to: back_in }, rounds)));
            }
            Channel::Socket => {
                let (here, there) = UnixStream::pair().map_err(system("make a pair of sockets"))?;
                let end = |stream: UnixStream| {
                    stream.try_clone().map(|from| End { from, to: stream }).map_err(system("copy a socket"))
                };
                let (here, there) = (end(here)?, end(there)?);
                work.push(Box::new(move || serve(here, rounds, trips)));
                work.push(Box::new(move || answer(there, rounds)));
            }
            Channel::Futex => {
                work.push(Box::new(move || wake_and_wait(word, 0, rounds, Some(trips))));
                work.push(Box::new(move || wake_and_wait(word, 1, rounds, None)));
            }
        }
    }
    let watch = Stopwatch::start();
    thread::scope(|scope| threads(scope, work, &mut Vec::new()))?;
    let elapsed = watch.stop();
    let steps = 2 * u64::from(pairs) * u64::from(rounds);
    Ok(Done::new("wake-up", steps, elapsed).with("round_trip", trips.take()).set("through", channel.name()))
}

/// One thread's side of a channel.
struct End<R, W> {
    from: R,
    to: W,
}

fn serve<R: Read, W: Write>(mut end: End<R, W>, rounds: u32, trips: &SharedTimes) {
    let (mut times, mut at) = (Times::new(), Instant::now());
    let mut ball = [0];
    for _ in 0..rounds {
        // The other thread has ended after an error, so this one ends too.
        if end.to.write_all(&ball).and_then(|()| end.from.read_exact(&mut ball)).is_err() {
            break;
        }
        at = times.since(at);
    }
    trips.add(&times);
}

fn answer<R: Read, W: Write>(mut end: End<R, W>, rounds: u32) {
    let mut ball = [0];
    for _ in 0..rounds {
        if end.from.read_exact(&mut ball).and_then(|()| end.to.write_all(&ball)).is_err() {
            break;
        }
    }
}

/// Waits until the word is even or odd, as `turn` is, makes it the next number, and wakes the other thread.
fn wake_and_wait(word: &AtomicU32, turn: u32, rounds: u32, trips: Option<&SharedTimes>) {
    let (mut times, mut at) = (Times::new(), Instant::now());
    for round in 0..rounds {
        let mine = 2 * round + turn;
        loop {
            let now = word.load(Ordering::Acquire);
            if now == mine {
                break;
            }
            // An error means that the word has changed, or a signal has come.
            let _ = futex::wait(word, futex::Flags::PRIVATE, now, None);
        }
        word.store(mine + 1, Ordering::Release);
        let _ = futex::wake(word, futex::Flags::PRIVATE, 1);
        if trips.is_some() {
            at = times.since(at);
        }
    }
    trips.into_iter().for_each(|trips| trips.add(&times));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_passes_each_ball_both_ways() {
        for channel in [Channel::Pipe, Channel::Socket, Channel::Futex] {
            let done = run(2, 30, channel).unwrap();
            let trips: u64 = done.times["round_trip"].counts().iter().map(|(_, count)| count).sum();
            assert_eq!((done.steps, trips), (120, 60), "{channel:?}");
        }
    }
}
