//! The same events for a scheduler here and for its BPF program, compiled as ordinary C by `crates/schedulers/replay`: each decision must
//! come at the same moment and choose the same task.
//!
//! One CPU, because the two differ on several by intent: in which idle CPU a wake-up takes, and in the balance of `o1`. `head` is left
//! out, because it differs in where tasks wait whose slice is used up. All times are whole ticks: below a tick, the kernel of today ends
//! slices at other moments.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use klatch_schedulers::policies::TaskId;
use klatch_schedulers::policies::goodness::{SAME_CPU_BONUS, Task as GoodnessTask, Terms, Version};
use klatch_schedulers::policies::o1::{Task as O1Task, YieldTo};

use super::*;
use crate::placement::Placement;
use crate::random::Random;

const TICK_NS: u64 = 10_000_000;
/// The clock of `replay.c` begins there.
const START_NS: u64 = 1000 * TICK_NS;
const SCENARIOS: u64 = 250;
const EVENTS: u64 = 120;

#[derive(Clone, Copy, Debug)]
enum Event {
    Wake(TaskId),
    Tick,
    Yield,
    Sleep,
}

/// A scheduler with its BPF program as a process.
struct Program {
    process: Child,
    events: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Program {
    fn compile(scheduler: &str, folder: &Path) -> PathBuf {
        let schedulers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schedulers");
        let program = folder.join("replay");
        let compiled = Command::new("cc")
            .args(["-O1", "-Wall", "-Werror", "-Wno-unused", "-D__bpf__", "-Dpreserve_access_index=unused"])
            .arg(format!("-DSCHEDULER_SOURCE=\"src/{scheduler}/{scheduler}.bpf.c\""))
            .args(["-I.", "-Ireplay", "-Isrc/bpf", "-Iinclude", "replay/replay.c", "-o"])
            .arg(&program)
            .current_dir(schedulers)
            .output()
            .unwrap_or_else(|error| panic!("cc: {error}; install it: scripts/setup.sh test"));
        assert!(compiled.status.success(), "{scheduler}: {}", String::from_utf8_lossy(&compiled.stderr));
        program
    }

    fn start(program: &Path, knobs: &[&str], nice: &[i16]) -> Self {
        let mut process = Command::new(program)
            .args(knobs)
            .arg("--")
            .args(nice.iter().map(i16::to_string))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (events, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { process, events, answers: BufReader::new(answers) }
    }

    /// The number of decisions after an event, and the task that runs.
    fn after(&mut self, event: Event) -> (u64, Option<TaskId>) {
        match event {
            Event::Wake(task) => writeln!(self.events, "wake {task}"),
            Event::Tick => writeln!(self.events, "tick"),
            Event::Yield => writeln!(self.events, "yield"),
            Event::Sleep => writeln!(self.events, "sleep"),
        }
        .unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let (decisions, task) = line.trim().split_once(' ').unwrap_or_else(|| panic!("{event:?}: {line:?}"));
        (decisions.parse().unwrap(), task.parse().ok())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It ends by itself when its input does; a test that failed does not wait for it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A scheduler of the simulator on one CPU.
struct Simulated<S> {
    scheduler: S,
    current: Option<TaskId>,
    now_ns: u64,
    decisions: u64,
}

impl<S: Scheduler> Simulated<S> {
    fn with_view<T>(&mut self, call: impl FnOnce(&mut S, Option<TaskId>, &View<'_>) -> T) -> T {
        let (current, idle) = ([self.current], [self.current.is_none()]);
        let idle_cpus = usize::from(idle[0]);
        let view =
            View { current: &current, idle: &idle, idle_cpus, idle_since_ns: &[0], now_ns: self.now_ns };
        call(&mut self.scheduler, self.current, &view)
    }

    fn decide(&mut self, cause: Cause) {
        self.decisions += 1;
        self.current =
            self.with_view(|scheduler, current, view| scheduler.decide(0, current, cause, view)).next;
    }

    fn after(&mut self, event: Event) -> (u64, Option<TaskId>) {
        match event {
            Event::Wake(task) => {
                if self.with_view(|scheduler, _, view| scheduler.wake(task, view)).kick.is_some() {
                    self.decide(Cause::Preemption);
                }
            }
            Event::Tick => {
                self.now_ns += TICK_NS;
                let ends = self.with_view(|scheduler, current, view| {
                    let used_up = current.is_some_and(|current| scheduler.charge(current, TICK_NS));
                    scheduler.tick(0, current, TICK_NS, view) || used_up
                });
                if ends {
                    self.decide(Cause::Preemption);
                }
            }
            Event::Yield => {
                let found = self.with_view(|scheduler, current, view| {
                    scheduler.yields(0, current.expect("a task yields"), view)
                });
                if found.decides {
                    self.decide(Cause::Yield);
                }
            }
            Event::Sleep => self.decide(Cause::Sleep),
        }
        (self.decisions, self.current)
    }
}

/// An event that is possible now.
fn next_event(random: &mut Random, current: Option<TaskId>, asleep: &mut Vec<TaskId>) -> Event {
    loop {
        match random.below(10) {
            0..4 => return Event::Tick,
            4..6 if !asleep.is_empty() => {
                let woken = asleep.swap_remove(random.below(asleep.len() as u64) as usize);
                return Event::Wake(woken);
            }
            6..8 => {
                if let Some(current) = current {
                    asleep.push(current);
                    return Event::Sleep;
                }
            }
            8.. if current.is_some() => return Event::Yield,
            _ => {}
        }
    }
}

/// Replays many scenarios, and compares after each event. `worth` of a task: a difference between two tasks of the same worth ends a
/// scenario, because queues differ in what waits where among equals; without it every difference fails. Returns the number of decisions
/// that were equal.
fn replay<S: Scheduler>(
    scheduler: &str,
    knobs: &[&str],
    new: impl Fn(&[i16]) -> S,
    worth: Option<fn(&S, TaskId) -> i32>,
) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::compile(scheduler, folder.path());
    let mut equal = 0;
    for seed in 0..SCENARIOS {
        let mut random = Random::new(seed);
        let tasks = 2 + random.below(6);
        let nice: Vec<i16> = (0..tasks).map(|_| random.below(40) as i16 - 20).collect();
        let mut kernel = Program::start(&program, knobs, &nice);
        let mut simulated =
            Simulated { scheduler: new(&nice), current: None, now_ns: START_NS, decisions: 0 };
        let (mut asleep, mut events) = (Vec::new(), Vec::new());
        for at in 0..EVENTS {
            // At first each task runs alone once, so that it has a last CPU; then all wake.
            let event = match at {
                _ if at < 2 * tasks && at % 2 == 1 => Event::Sleep,
                _ if at < 2 * tasks => Event::Wake((at / 2) as TaskId),
                _ if at < 3 * tasks => Event::Wake((at - 2 * tasks) as TaskId),
                _ => next_event(&mut random, simulated.current, &mut asleep),
            };
            events.push(event);
            let before = simulated.decisions;
            let (here, there) = (simulated.after(event), kernel.after(event));
            if here != there {
                let tie = |worth: fn(&S, TaskId) -> i32| {
                    let (here, there) = (here.1?, there.1?);
                    Some(worth(&simulated.scheduler, here) == worth(&simulated.scheduler, there))
                };
                let is_tie = here.0 == there.0 && worth.and_then(tie) == Some(true);
                assert!(
                    is_tie,
                    "{scheduler} {knobs:?}, scenario {seed}, nice {nice:?}, decisions and task: simulator {here:?}, BPF {there:?}, \
                     after {events:?}"
                );
                break;
            }
            equal += simulated.decisions - before;
        }
    }
    println!("{scheduler} {knobs:?}: {equal} equal decisions in {SCENARIOS} scenarios");
    equal
}

fn goodness_tasks(nice: &[i16], version: Version) -> Vec<GoodnessTask> {
    nice.iter().map(|&nice| GoodnessTask::new(nice, 1, version)).collect()
}

#[test]
fn goodness_decides_as_its_bpf_program() {
    let linux_2_4 = GoodnessKnobs { yield_to_tail: true, ..GoodnessKnobs::LINUX_2_4_14 };
    for (version, knobs) in [("version=23", GoodnessKnobs::LINUX_2_3), ("version=24", linux_2_4)] {
        let new = |nice: &[i16]| {
            let spaces = vec![1; nice.len()];
            let mut goodness = Goodness::new(knobs, Placement::new(1, &spaces, &[]), &spaces, 1);
            goodness.tasks = goodness_tasks(nice, knobs.version);
            goodness
        };
        let worth = |goodness: &Goodness, task| goodness.tasks[task as usize].goodness(goodness.terms(0, 1));
        let equal = replay("goodness", &[version, "same_cpu_bonus=0"], new, Some(worth));
        assert!(equal > 10_000, "{equal}");
    }
}

#[test]
fn multiqueue_decides_as_its_bpf_program() {
    let new = |nice: &[i16]| {
        let spaces = vec![1; nice.len()];
        let placement = Placement::new(1, &spaces, &[]);
        let mut multiqueue = Multiqueue::new(MultiqueueKnobs::PUBLISHED, placement, &spaces, 1);
        multiqueue.tasks = goodness_tasks(nice, Version::Linux2_4);
        multiqueue
    };
    let worth = |multiqueue: &Multiqueue, task| {
        let terms = Terms { cpu: 0, mm: 1, epoch: 0, version: Version::Linux2_4, bonus: SAME_CPU_BONUS };
        multiqueue.tasks[task as usize].goodness(terms)
    };
    let equal = replay("multiqueue", &[], new, Some(worth));
    assert!(equal > 10_000, "{equal}");
}

#[test]
fn o1_decides_as_its_bpf_program() {
    let policies =
        [("yield=1", YieldTo::BehindNext), ("yield=2", YieldTo::Tail), ("yield=3", YieldTo::Expired)];
    for (knob, yield_to) in policies {
        let new = |nice: &[i16]| {
            let spaces = vec![1; nice.len()];
            let knobs = O1Knobs { yield_to, ..O1Knobs::LINUX_2_5 };
            let mut o1 = O1::new(knobs, Placement::new(1, &spaces, &[]), nice.len(), 1);
            o1.tasks = nice.iter().map(|&nice| O1Task::new(nice.into())).collect();
            o1.tasks.iter_mut().for_each(|task| task.slept_at_ns = START_NS);
            o1
        };
        let equal = replay("o1", &[knob], new, None);
        assert!(equal > 10_000, "{equal}");
    }
}

#[test]
fn fifo_decides_as_its_bpf_program() {
    let new = |nice: &[i16]| Fifo::new(Placement::new(1, &vec![1; nice.len()], &[]), nice.len());
    let equal = replay("fifo", &["slice_ms=60"], new, None);
    assert!(equal > 10_000, "{equal}");
}

#[test]
fn sleepers_decides_as_its_bpf_program() {
    let new = |nice: &[i16]| Sleepers::new(15_000, Placement::new(1, &vec![1; nice.len()], &[]), nice.len());
    let equal = replay("sleepers", &["budget_us=15000"], new, None);
    assert!(equal > 10_000, "{equal}");
}
