//! Accesses to memory whose cache misses are known, to check counters.
//!
//! Each pattern is a routine of its own, which the counters show by its name, and prepares its memory elsewhere.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::times::{Elapsed, Stopwatch};
use super::{Done, ProbeError, threads, within};

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Loads that depend on each other: element after element of a ring.
    Chase,
    /// Loads of 8 bytes, one for each element, in order.
    Stride,
    /// All bytes of the elements, read and written elsewhere.
    Copy,
    /// Two threads that hand one word back and forth.
    Share,
}

/// Largest memory of a pattern, bytes.
const BYTES_MAX: u64 = 256 << 20;
/// Alignment of the memory, so that the sets of a cache are filled evenly.
const ALIGNED: usize = 1 << 16;
const WORD: usize = 8;
/// Name of an operation.
const ACCESS: &str = "access";

/// Accesses `elements` at a distance of `stride_bytes`, `rounds` times.
pub(super) fn run(
    pattern: Pattern,
    elements: u32,
    stride_bytes: u32,
    rounds: u32,
) -> Result<Done, ProbeError> {
    within("elements", elements, 1 << 24)?;
    within("stride", stride_bytes, 1 << 20)?;
    let bytes = u64::from(elements) * u64::from(stride_bytes).next_multiple_of(WORD as u64);
    within("elements times stride", u32::try_from(bytes).unwrap_or(u32::MAX), BYTES_MAX as u32)?;
    let (count, step) = (elements as usize, (stride_bytes as usize).div_ceil(WORD));
    let steps = u64::from(elements) * u64::from(rounds);
    let mut room = vec![0_u64; count * step + ALIGNED / WORD];
    let start = room.as_ptr().align_offset(ALIGNED).min(ALIGNED / WORD);
    let memory = &mut room[start..start + count * step];
    for element in 0..count {
        memory[element * step] = ((element + 1) % count * step) as u64;
    }
    let elapsed = match pattern {
        Pattern::Chase => timed(|| chase(memory, steps)),
        Pattern::Stride => timed(|| strides(memory, step, rounds)),
        Pattern::Copy => {
            let mut target = vec![1_u64; count * step];
            timed(|| (0..rounds).for_each(|_| copy(memory, &mut target)))
        }
        Pattern::Share => return share(rounds),
    };
    Ok(Done::new(ACCESS, steps, elapsed))
}

/// Times the work. Its result is made, although nothing needs it.
fn timed<T>(work: impl FnOnce() -> T) -> Elapsed {
    let watch = Stopwatch::start();
    black_box(work());
    watch.stop()
}

#[inline(never)]
fn chase(memory: &[u64], steps: u64) -> u64 {
    let mut at = 0;
    for _ in 0..steps {
        at = memory[at as usize];
    }
    at
}

#[inline(never)]
fn strides(memory: &[u64], step: usize, rounds: u32) -> u64 {
    let mut sum = 0_u64;
    for _ in 0..rounds {
        for word in memory.iter().step_by(step) {
            // Else the compiler would add several at once, or leave rounds out.
            sum = black_box(sum.wrapping_add(*word));
        }
    }
    sum
}

#[inline(never)]
fn copy(from: &[u64], to: &mut [u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = black_box(*from);
    }
}

/// Two threads wait in turn for an odd and an even number in one word, and write the next one.
fn share(rounds: u32) -> Result<Done, ProbeError> {
    let word = AtomicU64::new(0);
    let last = 2 * u64::from(rounds);
    let play = |first: u64| {
        let word = &word;
        move || hand_over(word, first, last)
    };
    let work: Vec<Box<dyn FnOnce() + Send + '_>> = vec![Box::new(play(0)), Box::new(play(1))];
    let watch = Stopwatch::start();
    thread::scope(|scope| threads(scope, work, &mut Vec::new()))?;
    Ok(Done::new(ACCESS, last, watch.stop()))
}

#[inline(never)]
fn hand_over(word: &AtomicU64, first: u64, last: u64) {
    let mut next = first;
    while next < last {
        while word.load(Ordering::Acquire) != next {
            spin_loop();
        }
        word.store(next + 1, Ordering::Release);
        next += 2;
    }
}
