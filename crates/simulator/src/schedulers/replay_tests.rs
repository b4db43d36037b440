//! The same events for a scheduler here and for its BPF program, compiled as ordinary C by `crates/schedulers/replay`: each decision must
//! come at the same moment and choose the same task.
//!
//! All times are whole ticks: below a tick, the kernel of today ends slices at other moments.

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

/// `Yield` and `Sleep` are of a task that runs.
#[derive(Clone, Copy, Debug)]
enum Event {
    Wake(TaskId),
    Tick,
    Yield(TaskId),
    Sleep(TaskId),
}

/// The decisions that an event caused, each with its CPU and the next task, and then the task of each CPU.
type Answer = (Vec<(usize, Option<TaskId>)>, Vec<Option<TaskId>>);

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

    fn start(program: &Path, knobs: &[&str], cpus: usize, nice: &[i16]) -> Self {
        let mut process = Command::new(program)
            .args(knobs)
            .args([&cpus.to_string(), "--"])
            .args(nice.iter().map(i16::to_string))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (events, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { process, events, answers: BufReader::new(answers) }
    }

    fn after(&mut self, event: Event) -> Answer {
        match event {
            Event::Wake(task) => writeln!(self.events, "wake {task}"),
            Event::Tick => writeln!(self.events, "tick"),
            Event::Yield(task) => writeln!(self.events, "yield {task}"),
            Event::Sleep(task) => writeln!(self.events, "sleep {task}"),
        }
        .unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let mut words = line.split_whitespace().map(|word| word.parse::<i64>().expect("a number"));
        let mut next = || words.next().unwrap_or_else(|| panic!("{event:?}: {line:?}"));
        let decisions = (0..next()).map(|_| (next() as usize, next().try_into().ok())).collect();
        (decisions, words.map(|task| task.try_into().ok()).collect())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It ends by itself when its input does; a test that failed does not wait for it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A scheduler of the simulator. A decision takes no time, and follows its cause at once.
struct Simulated<S> {
    scheduler: S,
    current: Vec<Option<TaskId>>,
    idle_since_ns: Vec<u64>,
    now_ns: u64,
    /// Those of the current event.
    decisions: Vec<(usize, Option<TaskId>)>,
    /// Whether what comes next does not depend on the order of a queue.
    is_orderless: fn(&S) -> bool,
    /// Decisions of the current event after which it does.
    orderless: Option<usize>,
}

impl<S: Scheduler> Simulated<S> {
    fn new(scheduler: S, cpus: usize, is_orderless: fn(&S) -> bool) -> Self {
        Self {
            scheduler,
            is_orderless,
            orderless: None,
            current: vec![None; cpus],
            idle_since_ns: vec![0; cpus],
            now_ns: START_NS,
            decisions: Vec::new(),
        }
    }

    fn with_view<T>(&mut self, call: impl FnOnce(&mut S, &View<'_>) -> T) -> T {
        let idle: Vec<bool> = self.current.iter().map(Option::is_none).collect();
        let idle_cpus = idle.iter().filter(|idle| **idle).count();
        let (current, idle_since_ns) = (&self.current, &self.idle_since_ns);
        let view = View { current, idle: &idle, idle_cpus, idle_since_ns, now_ns: self.now_ns };
        call(&mut self.scheduler, &view)
    }

    fn decide(&mut self, cpu: usize, cause: Cause) {
        let previous = self.current[cpu];
        let decision = self.with_view(|scheduler, view| scheduler.decide(cpu, previous, cause, view));
        self.current[cpu] = decision.next;
        self.decisions.push((cpu, decision.next));
        if self.orderless.is_none() && !(self.is_orderless)(&self.scheduler) {
            self.orderless = Some(self.decisions.len());
        }
        if decision.next.is_none() && previous.is_some() {
            self.idle_since_ns[cpu] = self.now_ns;
        }
        let offered = previous.filter(|_| decision.offers);
        let offered =
            offered.and_then(|task| self.with_view(|scheduler, view| scheduler.offer(task, view)).kick);
        decision.kick.into_iter().chain(offered).for_each(|cpu| self.decide(cpu, Cause::Preemption));
    }

    fn cpu_of(&self, task: TaskId) -> usize {
        self.current.iter().position(|current| *current == Some(task)).expect("the task runs")
    }

    /// The timer of every CPU, in the order of their tasks' numbers, idle ones last; then those decide whose slice is over.
    fn tick(&mut self) {
        self.now_ns += TICK_NS;
        let mut running: Vec<(TaskId, usize)> =
            self.current.iter().enumerate().filter_map(|(cpu, current)| Some(((*current)?, cpu))).collect();
        running.sort_unstable();
        let idle = (0..self.current.len()).filter(|cpu| self.current[*cpu].is_none()).map(|cpu| (None, cpu));
        let all: Vec<(Option<TaskId>, usize)> =
            running.into_iter().map(|(task, cpu)| (Some(task), cpu)).chain(idle).collect();
        let mut ended = Vec::new();
        for (task, cpu) in all {
            let ends = self.with_view(|scheduler, view| {
                let used_up = task.is_some_and(|task| scheduler.charge(task, TICK_NS));
                scheduler.tick(cpu, task, TICK_NS, view) || used_up
            });
            ended.extend(ends.then_some((task, cpu)));
        }
        for (task, cpu) in ended {
            // Another CPU's decision may have replaced it.
            if self.current[cpu] == task {
                self.decide(cpu, Cause::Preemption);
            }
        }
    }

    fn after(&mut self, event: Event) -> Answer {
        match event {
            Event::Wake(task) => {
                if let Some(cpu) = self.with_view(|scheduler, view| scheduler.wake(task, view)).kick {
                    self.decide(cpu, Cause::Preemption);
                }
            }
            Event::Tick => self.tick(),
            Event::Yield(task) => {
                let cpu = self.cpu_of(task);
                if self.with_view(|scheduler, view| scheduler.yields(cpu, task, view)).decides {
                    self.decide(cpu, Cause::Yield);
                }
            }
            Event::Sleep(task) => self.decide(self.cpu_of(task), Cause::Sleep),
        }
        (std::mem::take(&mut self.decisions), self.current.clone())
    }
}

/// An event that is possible now.
fn next_event(random: &mut Random, current: &[Option<TaskId>], asleep: &mut Vec<TaskId>) -> Event {
    let running: Vec<TaskId> = current.iter().flatten().copied().collect();
    loop {
        let one_of = |random: &mut Random, tasks: &[TaskId]| tasks[random.below(tasks.len() as u64) as usize];
        match random.below(10) {
            0..4 => return Event::Tick,
            4..6 if !asleep.is_empty() => {
                let woken = asleep.swap_remove(random.below(asleep.len() as u64) as usize);
                return Event::Wake(woken);
            }
            6..8 if !running.is_empty() => {
                let sleeper = one_of(random, &running);
                asleep.push(sleeper);
                return Event::Sleep(sleeper);
            }
            8.. if !running.is_empty() => return Event::Yield(one_of(random, &running)),
            _ => {}
        }
    }
}

/// How the two must agree. The queues of some schedulers differ in what waits where.
enum Agree<S> {
    /// In each decision.
    Exactly,
    /// In the tasks that run. Such a scheduler does not distinguish CPUs, and the kernel lets one more look at the queue: that on
    /// which a woken task slept.
    InTasks,
    /// In each decision, until two tasks of the same worth on a CPU are taken. The first function is the worth of a task that ran last on one
    /// CPU for another. The second is false if what comes next may depend on the order of a queue; then the scenario ends.
    UntilTie(fn(&S, TaskId, LastCpu, usize) -> i32, fn(&S) -> bool),
}

/// The CPU where a task ran last.
type LastCpu = Option<usize>;

impl<S> Agree<S> {
    fn is_orderless(&self) -> fn(&S) -> bool {
        match self {
            Agree::UntilTie(_, is_orderless) => *is_orderless,
            Agree::Exactly | Agree::InTasks => |_| true,
        }
    }

    /// `None` if the answers differ, else whether the scenario goes on.
    fn check(
        &self,
        simulated: &Simulated<S>,
        last: &[LastCpu],
        here: &Answer,
        there: &Answer,
    ) -> Option<bool> {
        let tasks = |answer: &Answer| {
            let mut tasks: Vec<TaskId> = answer.1.iter().flatten().copied().collect();
            tasks.sort_unstable();
            tasks
        };
        match self {
            Agree::Exactly => (here == there).then_some(true),
            Agree::InTasks => (tasks(here) == tasks(there)).then_some(true),
            Agree::UntilTie(..) if here == there => Some(simulated.orderless.is_none()),
            Agree::UntilTie(worth, _) => {
                // What is decided after it in the same event may follow from it.
                let at = here.0.iter().zip(&there.0).position(|(here, there)| here != there)?;
                if simulated.orderless.is_some_and(|orderless| at >= orderless) {
                    return Some(false);
                }
                let ((cpu, here_next), (cpu_there, there_next)) = (here.0[at], there.0[at]);
                let mut last = last.to_vec();
                note(&here.0[..at], &mut last);
                let worth = |task: TaskId| worth(&simulated.scheduler, task, last[task as usize], cpu);
                let is_tie =
                    here_next.zip(there_next).is_some_and(|(here, there)| worth(here) == worth(there));
                (cpu == cpu_there && is_tie).then_some(false)
            }
        }
    }
}

/// Notes where tasks ran.
fn note(decisions: &[(usize, Option<TaskId>)], last: &mut [LastCpu]) {
    for (cpu, task) in decisions {
        task.iter().for_each(|task| last[*task as usize] = Some(*cpu));
    }
}

/// Replays many scenarios, and compares after each event. Returns the number of decisions that were equal.
fn replay<S: Scheduler>(
    scheduler: &str,
    knobs: &[&str],
    cpus: usize,
    new: impl Fn(&[i16]) -> S,
    agree: &Agree<S>,
) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::compile(scheduler, folder.path());
    let mut equal = 0;
    for seed in 0..SCENARIOS {
        let mut random = Random::new(seed);
        let tasks = 2 + random.below(6) + cpus as u64 - 1;
        let nice: Vec<i16> = (0..tasks).map(|_| random.below(40) as i16 - 20).collect();
        let mut kernel = Program::start(&program, knobs, cpus, &nice);
        let mut simulated = Simulated::new(new(&nice), cpus, agree.is_orderless());
        let (mut asleep, mut events) = (Vec::new(), Vec::new());
        let mut last: Vec<LastCpu> = vec![None; tasks as usize];
        for at in 0..EVENTS {
            // At first each task runs alone once, so that it has a last CPU; then all wake.
            let event = match at {
                _ if at < 2 * tasks && at % 2 == 1 => Event::Sleep((at / 2) as TaskId),
                _ if at < 2 * tasks => Event::Wake((at / 2) as TaskId),
                _ if at < 3 * tasks => Event::Wake((at - 2 * tasks) as TaskId),
                _ => next_event(&mut random, &simulated.current, &mut asleep),
            };
            events.push(event);
            let (here, there) = (simulated.after(event), kernel.after(event));
            match agree.check(&simulated, &last, &here, &there) {
                Some(true) => equal += here.0.len() as u64,
                Some(false) => break,
                None => panic!(
                    "{scheduler} {knobs:?}, {cpus} CPUs, scenario {seed}, nice {nice:?}, decisions and tasks: simulator {here:?}, BPF \
                     {there:?}, after {events:?}"
                ),
            }
            note(&here.0, &mut last);
        }
    }
    println!("{scheduler} {knobs:?}, {cpus} CPUs: {equal} equal decisions in {SCENARIOS} scenarios");
    equal
}

/// The numbers of CPUs of the scenarios.
const CPUS: [usize; 3] = [1, 2, 4];

fn goodness_tasks(nice: &[i16], version: Version) -> Vec<GoodnessTask> {
    nice.iter().map(|&nice| GoodnessTask::new(nice, 1, version)).collect()
}

/// The goodness of a task before the decision that took it.
fn worth_of(task: &GoodnessTask, last: LastCpu, terms: Terms) -> i32 {
    let mut before = task.clone();
    before.cpu = last.map_or(-1, |cpu| cpu as i16);
    before.goodness(terms)
}

/// Linux 2.3 and 2.4 as the BPF programs have them, with the knobs of those. A cache that takes a tick to fill lets tasks of whole ticks wait
/// for their CPU, too.
fn goodness_cases() -> [(&'static [&'static str], GoodnessKnobs); 3] {
    let slow_cache = GoodnessKnobs { cache_flush_us: 10_000, ..GoodnessKnobs::LINUX_2_3 };
    let linux_2_4 = GoodnessKnobs { yield_to_tail: true, ..GoodnessKnobs::LINUX_2_4_14 };
    [
        (&["version=23"], GoodnessKnobs::LINUX_2_3),
        (&["version=23", "cache_flush_us=10000"], slow_cache),
        (&["version=24"], linux_2_4),
    ]
}

fn new_goodness(knobs: GoodnessKnobs, cpus: usize, nice: &[i16]) -> Goodness {
    let spaces = vec![1; nice.len()];
    let mut goodness = Goodness::new(knobs, Placement::new(cpus, &spaces, &[]), &spaces, cpus);
    goodness.tasks = goodness_tasks(nice, knobs.version);
    goodness
}

fn replay_goodness(scheduler: &str, head: bool, agree: &Agree<Goodness>) {
    for (arguments, knobs) in goodness_cases() {
        let knobs = GoodnessKnobs { head, ..knobs };
        for cpus in CPUS {
            let bonus = format!("same_cpu_bonus={}", if cpus == 1 { 0 } else { SAME_CPU_BONUS });
            let arguments = [arguments, &[&bonus]].concat();
            let equal = replay(scheduler, &arguments, cpus, |nice| new_goodness(knobs, cpus, nice), agree);
            assert!(equal > 10_000, "{equal}");
        }
    }
}

#[test]
fn goodness_decides_as_its_bpf_program() {
    let worth = |goodness: &Goodness, task, last: LastCpu, cpu| {
        worth_of(&goodness.tasks[task as usize], last, goodness.terms(cpu, 1))
    };
    replay_goodness("goodness", false, &Agree::UntilTie(worth, |_| true));
}

#[test]
fn head_decides_as_its_bpf_program() {
    replay_goodness("head", true, &Agree::Exactly);
}

#[test]
fn multiqueue_decides_as_its_bpf_program() {
    let worth = |multiqueue: &Multiqueue, task, last: LastCpu, cpu: usize| {
        let terms =
            Terms { cpu: cpu as i32, mm: 1, epoch: 0, version: Version::Linux2_4, bonus: SAME_CPU_BONUS };
        worth_of(&multiqueue.tasks[task as usize], last, terms)
    };
    for cpus in CPUS {
        let new = |nice: &[i16]| {
            let spaces = vec![1; nice.len()];
            let placement = Placement::new(cpus, &spaces, &[]);
            let mut multiqueue = Multiqueue::new(MultiqueueKnobs::PUBLISHED, placement, &spaces, cpus);
            multiqueue.tasks = goodness_tasks(nice, Version::Linux2_4);
            multiqueue
        };
        let agree = Agree::UntilTie(worth, |multiqueue| !multiqueue.order_mattered);
        let equal = replay("multiqueue", &[], cpus, new, &agree);
        assert!(equal > 5_000, "{equal}");
    }
}

#[test]
fn o1_decides_as_its_bpf_program() {
    let policies = [
        (&["yield=1", "warm_us=10000"][..], YieldTo::BehindNext, false),
        (&["yield=2", "warm_us=10000"], YieldTo::Tail, false),
        (&["yield=3", "warm_us=10000"], YieldTo::Expired, false),
        (&["yield=2", "idle_pulls_warm=1"], YieldTo::Tail, true),
    ];
    for (arguments, yield_to, idle_pulls_warm) in policies {
        for cpus in CPUS {
            let new = |nice: &[i16]| {
                let knobs = O1Knobs { yield_to, idle_pulls_warm };
                let placement = Placement::new(cpus, &vec![1; nice.len()], &[]);
                let mut o1 = O1::new(knobs, placement, nice.len(), cpus);
                o1.tasks = nice.iter().map(|&nice| O1Task::new(nice.into())).collect();
                o1.tasks.iter_mut().for_each(|task| task.slept_at_ns = START_NS);
                o1.cpu.fill(0);
                o1
            };
            let equal = replay("o1", arguments, cpus, new, &Agree::Exactly);
            assert!(equal > 10_000, "{equal}");
        }
    }
}

/// On one CPU each decision is the same, on several the tasks that run are.
fn of_one_queue<S>(cpus: usize) -> Agree<S> {
    if cpus == 1 { Agree::Exactly } else { Agree::InTasks }
}

#[test]
fn fifo_decides_as_its_bpf_program() {
    for cpus in CPUS {
        let new = |nice: &[i16]| Fifo::new(Placement::new(cpus, &vec![1; nice.len()], &[]), nice.len());
        let equal = replay("fifo", &["slice_ms=60"], cpus, new, &of_one_queue(cpus));
        assert!(equal > 10_000, "{equal}");
    }
}

#[test]
fn sleepers_decides_as_its_bpf_program() {
    for cpus in CPUS {
        let new =
            |nice: &[i16]| Sleepers::new(15_000, Placement::new(cpus, &vec![1; nice.len()], &[]), nice.len());
        let equal = replay("sleepers", &["budget_us=15000"], cpus, new, &of_one_queue(cpus));
        assert!(equal > 10_000, "{equal}");
    }
}
