//! Planted bugs of a policy, which the machine must find, and the cost of a run without any contention.

use klatch_schedulers::policies::TaskId;

use super::*;
use crate::costs::Costs;
use crate::placement::Placement;
use crate::prices::Conditions;
use crate::schedulers::{Decision, Fifo, View, Wake, Yield};
use crate::topology::Topology;
use crate::work::Op;
use crate::work::chat::Chat;
use crate::work::spec::ChatSpec;

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
    ticked: Vec<Option<TaskId>>,
}

impl Broken {
    fn new(spaces: &[u64], bug: Bug) -> Self {
        let fifo = Fifo::new(Placement::new(4, spaces, &[]), spaces.len());
        Self { fifo, bug, calls: 0, first: None, ticked: Vec::new() }
    }

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

    fn tick(&mut self, _cpu: usize, task: Option<TaskId>, _tick_ns: u64, _view: &View<'_>) -> bool {
        self.ticked.push(task);
        true
    }

    fn switches_without_lock(&self) -> bool {
        true
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
    let chat = Chat::new(ChatSpec { rooms, count: 20, ..ChatSpec::VOLANOMARK }, prices());
    let spaces = chat.address_spaces().to_vec();
    Machine::new(HARDWARE, prices(), Broken::new(&spaces, bug), chat, 1).run();
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

/// Tasks that count a message with each operation of 1,000 cycles, half of them in the kernel, and then let the next one run.
struct InTurn {
    spaces: Vec<u64>,
    done: u64,
}

impl Work for InTurn {
    fn address_spaces(&self) -> &[u64] {
        &self.spaces
    }

    fn starters(&self) -> Vec<TaskId> {
        (0..self.spaces.len()).map(|task| task as TaskId).collect()
    }

    fn next(&mut self, _task: TaskId) -> Op {
        Op { user: 500, kernel: 500, ..Op::default() }
    }

    fn complete(&mut self, _task: TaskId, _cpu: usize) -> Effect {
        self.done += 1;
        Effect::Yield
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

/// A machine with one CPU, and its prices.
fn in_turn(spaces: &[u64]) -> (Machine<Fifo, InTurn>, Prices) {
    let hardware = Hardware { topology: Topology::flat(1), ..HARDWARE };
    let prices = Prices::new(
        &Costs::pentium_iii().with("jitter", 0.0),
        Conditions { several_cpus: false, o1: false, heap_mb: 64 },
    );
    let fifo = Fifo::new(Placement::new(1, spaces, &[]), spaces.len());
    let work = InTurn { spaces: spaces.to_vec(), done: 0 };
    (Machine::new(hardware, prices.clone(), fifo, work, 1), prices)
}

#[test]
fn one_task_alone_takes_the_sum_of_its_costs() {
    let counts = in_turn(&[1]).0.run();
    // Counted after the first tenth. Nobody waits, so a yield has no effect.
    assert_eq!((counts.messages, counts.cycles), (90, 90 * 1000));
    assert_eq!((counts.accounts.get(Account::User), counts.accounts.kernel()), (90 * 500, 90 * 500));
}

#[test]
fn a_switch_to_another_address_space_costs_more() {
    let [(threads, prices), (processes, _)] = [[1, 1], [1, 2]].map(|spaces| in_turn(&spaces));
    let [threads, processes] = [threads, processes].map(Machine::run);
    assert_eq!(processes.cycles - threads.cycles, 90 * prices.address_space);
    let switching = |counts: &Counts| counts.accounts.get(Account::Switch);
    assert_eq!(switching(&threads), 90 * prices.switch);
    assert_eq!(switching(&processes), 90 * (prices.switch + prices.address_space));
}

#[test]
fn an_interrupt_from_another_cpu_takes_time_of_a_busy_one_once() {
    let (mut machine, prices) = in_turn(&[1]);
    machine.cpus[0].activity = Activity::Op;
    machine.kick(0, true);
    machine.kick(0, true);
    assert_eq!((machine.cpus[0].interrupted, machine.cpus[0].need_resched), (prices.interrupt, true));

    let (mut machine, _) = in_turn(&[1]);
    machine.cpus[0].activity = Activity::Op;
    machine.kick(0, false);
    assert_eq!((machine.cpus[0].interrupted, machine.cpus[0].need_resched), (0, true));
}

#[test]
fn a_tick_during_a_decision_is_the_previous_task_s_and_asks_for_no_other_decision() {
    let work = InTurn { spaces: vec![1; 2], done: 0 };
    let scheduler = Broken::new(&work.spaces, Bug::Lost);
    let mut machine = Machine::new(HARDWARE, prices(), scheduler, work, 1);
    machine.tasks.wake(1, 0);
    machine.tasks.switch_to(0, Some(1), 0);
    machine.cpus[0].decided.after = Some(0);
    let decides = Activity::Hold { lock: 0, purpose: Purpose::Decide(Cause::Yield), kick: None };
    for (activity, need_resched) in [(decides, false), (Activity::Op, true)] {
        machine.cpus[0].activity = activity;
        machine.tick(0);
        assert_eq!(machine.cpus[0].need_resched, need_resched);
    }
    assert_eq!(machine.scheduler.ticked, [Some(0), Some(1)]);
}
