//! Message threads that wake workers, as in schbench: each request sleeps, as if for the network, and computes in a cache footprint.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::times::{SharedTimes, Stopwatch, Times};
use super::{Done, ProbeError, STACK_BYTES, system, within};

/// The settings of schbench.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schbench {
    /// Threads that wake workers, 1 to 1,000.
    pub message_threads: u32,
    /// Workers of each, 1 to 10,000.
    pub workers: u32,
    /// Requests of each worker, 1 to 100,000,000.
    pub requests: u32,
    /// Time after which no request begins, s; `None` for no limit.
    pub runtime_s: Option<f64>,
    /// Size of the three matrices of a request together, 1 to 65,536 KiB.
    pub cache_footprint_kib: u32,
    /// Multiplications of matrices of a request; 0 for none.
    pub operations: u32,
    /// Sleep of a request before it computes, µs.
    pub sleep_us: u32,
}

/// A worker as its message thread sees it.
#[derive(Default)]
struct Worker {
    thread: OnceLock<Thread>,
    is_woken: AtomicBool,
    /// When it was woken, ns since the start.
    woken_ns: AtomicU64,
}

/// A message thread with its workers.
struct Team {
    workers: Vec<Worker>,
    /// Workers that wait for a message.
    waiting: Mutex<Vec<usize>>,
    messenger: OnceLock<Thread>,
    /// Workers that have not ended.
    running: AtomicU32,
}

pub(super) fn run(settings: Schbench) -> Result<Done, ProbeError> {
    let Schbench { message_threads, workers, requests, cache_footprint_kib, operations, sleep_us, .. } =
        settings;
    within("message-threads", message_threads, 1_000)?;
    within("threads", workers, 10_000)?;
    within("requests", requests, 100_000_000)?;
    within("cache-footprint", cache_footprint_kib, 65_536)?;
    let team = |_| Team {
        workers: (0..workers).map(|_| Worker::default()).collect(),
        waiting: Mutex::new(Vec::with_capacity(workers as usize)),
        messenger: OnceLock::new(),
        running: AtomicU32::new(workers),
    };
    let teams: Vec<Team> = (0..message_threads).map(team).collect();
    let all = Shared {
        settings,
        wakeups: SharedTimes::new(),
        requests: SharedTimes::new(),
        done: AtomicU64::new(0),
        started: Instant::now(),
    };
    let watch = Stopwatch::start();
    thread::scope(|scope| -> Result<(), ProbeError> {
        let start = || thread::Builder::new().stack_size(STACK_BYTES);
        let mut failure = None;
        for team in &teams {
            for number in 0..team.workers.len() {
                let all = &all;
                // Without all workers the message thread would wait for ever.
                if failure.is_none()
                    && let Err(error) = start().spawn_scoped(scope, move || team.work(number, all))
                {
                    failure = Some(error);
                }
                if failure.is_some() {
                    team.running.fetch_sub(1, Ordering::AcqRel);
                }
            }
            let messenger = start().spawn_scoped(scope, || team.wake_workers(&all));
            if let Err(error) = messenger {
                // The workers wait for one.
                team.wake_workers(&all);
                failure = Some(error);
            }
            if failure.is_some() {
                break;
            }
        }
        failure.map_or(Ok(()), |error| Err(system("start a thread")(error)))
    })?;
    let elapsed = watch.stop();
    let done = Done::new("request", all.done.into_inner(), elapsed)
        .with("wakeup", all.wakeups.take())
        .with("request", all.requests.take());
    let numbers = [
        ("message_threads", message_threads),
        ("threads", workers),
        ("requests", requests),
        ("cache_footprint_kib", cache_footprint_kib),
        ("operations", operations),
        ("sleep_us", sleep_us),
    ];
    Ok(numbers.into_iter().fold(done, |done, (name, value)| done.set(name, value)))
}

/// What all threads have.
struct Shared {
    settings: Schbench,
    wakeups: SharedTimes,
    requests: SharedTimes,
    done: AtomicU64,
    started: Instant,
}

impl Shared {
    fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    fn is_over(&self) -> bool {
        self.settings.runtime_s.is_some_and(|limit| self.started.elapsed().as_secs_f64() >= limit)
    }
}

impl Team {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<usize>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The message thread: wakes whoever waits, until all workers have ended.
    fn wake_workers(&self, all: &Shared) {
        let _ = self.messenger.set(thread::current());
        let mut batch = Vec::new();
        while self.running.load(Ordering::Acquire) > 0 {
            std::mem::swap(&mut *self.waiting(), &mut batch);
            if batch.is_empty() {
                // Short, for a worker that came before this thread had a name.
                thread::park_timeout(Duration::from_millis(10));
            }
            for number in batch.drain(..) {
                let worker = &self.workers[number];
                worker.woken_ns.store(all.now_ns(), Ordering::Relaxed);
                worker.is_woken.store(true, Ordering::Release);
                worker.thread.get().into_iter().for_each(Thread::unpark);
            }
        }
    }

    fn notify(&self) {
        self.messenger.get().into_iter().for_each(Thread::unpark);
    }

    fn work(&self, number: usize, all: &Shared) {
        let worker = &self.workers[number];
        let _ = worker.thread.set(thread::current());
        let (mut wakeups, mut requests) = (Times::new(), Times::new());
        let mut matrices = Matrices::new(all.settings.cache_footprint_kib);
        for _ in 0..all.settings.requests {
            if all.is_over() {
                break;
            }
            self.waiting().push(number);
            self.notify();
            while !worker.is_woken.swap(false, Ordering::Acquire) {
                thread::park();
            }
            wakeups.add(all.now_ns().saturating_sub(worker.woken_ns.load(Ordering::Relaxed)));
            let started = Instant::now();
            if all.settings.sleep_us > 0 {
                thread::sleep(Duration::from_micros(all.settings.sleep_us.into()));
            }
            (0..all.settings.operations).for_each(|_| matrices.multiply());
            requests.since(started);
            all.done.fetch_add(1, Ordering::Relaxed);
        }
        all.wakeups.add(&wakeups);
        all.requests.add(&requests);
        self.running.fetch_sub(1, Ordering::AcqRel);
        self.notify();
    }
}

/// Two square matrices and their product.
struct Matrices {
    size: usize,
    words: Vec<u64>,
}

impl Matrices {
    /// Three matrices that fill so many KiB together.
    fn new(kib: u32) -> Matrices {
        let size = ((f64::from(kib) * 1024.0 / 3.0 / 8.0).sqrt() as usize).max(1);
        Matrices { size, words: (0..3 * size * size).map(|word| word as u64).collect() }
    }

    fn multiply(&mut self) {
        let size = self.size;
        let (factors, product) = self.words.split_at_mut(2 * size * size);
        let (left, right) = factors.split_at(size * size);
        for row in 0..size {
            for column in 0..size {
                let terms = (0..size).map(|at| left[row * size + at].wrapping_mul(right[at * size + column]));
                product[row * size + column] = terms.fold(0, u64::wrapping_add);
            }
        }
        black_box(product);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_one_wake_up_and_takes_its_sleep() {
        let settings = Schbench {
            message_threads: 2,
            workers: 3,
            requests: 10,
            runtime_s: None,
            cache_footprint_kib: 4,
            operations: 1,
            sleep_us: 200,
        };
        let done = run(settings).unwrap();
        let count = |name: &str| done.times[name].counts().iter().map(|(_, count)| *count).sum::<u64>();
        assert_eq!((done.steps, count("wakeup"), count("request")), (60, 60, 60));
        let shortest = done.times["request"].counts()[0].0;
        assert!(shortest >= 198_000, "{shortest} ns");
    }

    #[test]
    fn no_request_begins_after_the_time() {
        let settings = Schbench {
            message_threads: 1,
            workers: 2,
            requests: 100_000_000,
            runtime_s: Some(0.02),
            cache_footprint_kib: 1,
            operations: 0,
            sleep_us: 1_000,
        };
        let done = run(settings).unwrap();
        assert!((1..=60).contains(&done.steps), "{}", done.steps);
    }

    #[test]
    fn the_product_is_that_of_the_matrices() {
        let mut matrices = Matrices { size: 2, words: vec![1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0] };
        matrices.multiply();
        assert_eq!(matrices.words[8..], [19, 22, 43, 50]);
        assert_eq!(Matrices::new(256).size, 104);
    }
}
