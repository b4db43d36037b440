//! Planted bugs of a policy, which the machine must find, and the cost of a run without any contention.

use crate::topology::Topology;
use klatch_policies::TaskId;

use super::*;
use crate::costs::Costs;
use crate::placement::Placement;
use crate::prices::Conditions;
use crate::schedulers::{Decision, Fifo, View, Wake, Yield};
use crate::work::Op;

/// How a scheduler is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    /// It loses a woken task.
    Lost,
    /// It wakes no idle CPU.
    NoKick,
    /// It chooses a task that already runs.
    Twice,
    /// It chooses a task that waits for something.
    Asleep,
}

/// A correct scheduler with a bug: no CPU is ever woken, or every hundredth call is wrong.
struct Broken {
    fifo: Fifo,
    bug: Bug,
    calls: u32,
    first: Option<TaskId>,
}

impl Broken {
    fn is_due(&mut self, bug: Bug) -> bool {
        self.calls += u32::from(self.bug == bug);
        self.bug == bug && (bug == Bug::NoKick || self.calls.is_multiple_of(100))
    }
}

impl Scheduler for Broken {
    fn locks(&self) -> usize {
        self.fifo.locks()
    }

    fn lock_of_task(&self, task: TaskId) -> usize {
        self.fifo.lock_of_task(task)
    }

    fn lock_of_cpu(&self, cpu: usize) -> usize {
        self.fifo.lock_of_cpu(cpu)
    }

    fn wake(&mut self, task: TaskId, view: &View<'_>) -> Wake {
        if self.is_due(Bug::Lost) {
            return Wake::default();
        }
        let wake = self.fifo.wake(task, view);
        if self.is_due(Bug::NoKick) { Wake { kick: None, ..wake } } else { wake }
    }

    fn decide(&mut self, cpu: usize, previous: Option<TaskId>, cause: Cause, view: &View<'_>) -> Decision {
        let decision = self.fifo.decide(cpu, previous, cause, view);
        let other = view.current.iter().enumerate().find_map(|(at, task)| task.filter(|_| at != cpu));
        let wrong = if self.is_due(Bug::Twice) {
            other
        } else if self.is_due(Bug::Asleep) {
            previous.filter(|_| cause == Cause::Sleep).or(self.first)
        } else {
            None
        };
        self.first = previous;
        Decision { next: wrong.or(decision.next), ..decision }
    }

    fn yields(&mut self, cpu: usize, task: TaskId, view: &View<'_>) -> Yield {
        self.fifo.yields(cpu, task, view)
    }

    fn charge(&mut self, task: TaskId, ns: u64) -> bool {
        self.fifo.charge(task, ns)
    }

    fn never_strands(&self) -> bool {
        true
    }

    fn queue_length(&self, cpu: usize) -> u32 {
        self.fifo.queue_length(cpu)
    }
}

const HARDWARE: Hardware =
    Hardware { topology: Topology::flat(4), mhz: 700, cache_bytes: 2 << 20, line_bytes: 32 };

fn prices() -> Prices {
    Prices::new(&Costs::pentium_iii(), Conditions { several_cpus: true, o1: false, heap_mb: 64 })
}

fn run_with(bug: Bug, rooms: usize) {
    let chat = crate::work::chat::Chat::new(rooms, 20, true, prices());
    let spaces = chat.address_spaces().to_vec();
    let fifo = Fifo::new(Placement::new(4, &spaces, &[]), spaces.len());
    Machine::new(HARDWARE, prices(), Broken { fifo, bug, calls: 0, first: None }, chat, 1).run();
}

#[test]
#[should_panic(expected = "a task waits beside an idle CPU")]
fn a_lost_task_is_found() {
    run_with(Bug::Lost, 4);
}

#[test]
#[should_panic(expected = "a task waits beside an idle CPU")]
fn an_idle_cpu_that_is_not_woken_is_found() {
    run_with(Bug::NoKick, 1);
}

#[test]
#[should_panic(expected = "a task that runs on another CPU")]
fn a_task_on_two_cpus_is_found() {
    run_with(Bug::Twice, 4);
}

#[test]
#[should_panic(expected = "a task that is asleep")]
fn a_sleeping_task_that_is_chosen_is_found() {
    run_with(Bug::Asleep, 4);
}

/// One task that counts a message with each operation of 1,000 cycles, half of them in the kernel.
struct Alone {
    done: u64,
}

impl Work for Alone {
    fn address_spaces(&self) -> &[u64] {
        &[1]
    }

    fn starters(&self) -> Vec<TaskId> {
        vec![0]
    }

    fn next(&mut self, _task: TaskId) -> Op {
        Op { user: 500, kernel: 500, ..Op::default() }
    }

    fn complete(&mut self, _task: TaskId, _cpu: usize) -> Effect {
        self.done += 1;
        Effect::Continue
    }

    fn interrupt(&mut self, _task: TaskId) -> bool {
        false
    }

    fn is_waiting(&self, _task: TaskId) -> bool {
        false
    }

    fn progress(&self) -> (u64, u64) {
        (self.done, 100)
    }
}

#[test]
fn one_task_alone_takes_the_sum_of_its_costs() {
    let hardware = Hardware { topology: Topology::flat(1), ..HARDWARE };
    let prices = Prices::new(
        &Costs::pentium_iii().with("jitter", 0.0),
        Conditions { several_cpus: false, o1: false, heap_mb: 64 },
    );
    let counts =
        Machine::new(hardware, prices, Fifo::new(Placement::new(1, &[1], &[]), 1), Alone { done: 0 }, 1)
            .run();
    // Counted after the first tenth.
    assert_eq!((counts.messages, counts.cycles), (90, 90 * 1000));
    assert_eq!((counts.accounts.get(Account::User), counts.accounts.kernel()), (90 * 500, 90 * 500));
}
