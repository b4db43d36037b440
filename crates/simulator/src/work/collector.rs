//! A garbage collector that stops the threads of its process one by one with signals, as JVMs on LinuxThreads did. The thread that
//! finds the heap full stops the others, marks and sweeps, and lets them continue. A thread that waits for something else need not be
//! signalled: it stops when it no longer waits.

use klatch_policies::TaskId;

use super::{Effect, Op, Work};
use crate::events::Cycles;
use crate::prices::Prices;

/// A thread marks in steps of this many cycles, half a millisecond at 700 MHz, because a CPU decides between two operations.
const MARK_STEP: Cycles = 350_000;

/// What the collecting thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Signals the thread with this index.
    Stop(usize),
    /// Waits for the last one.
    Wait,
    /// Marks and sweeps for this long.
    Mark(Cycles),
    /// Lets the thread with this index continue.
    Resume(usize),
}

/// One process and its heap.
struct Process {
    threads: Vec<TaskId>,
    /// The collecting thread and its phase.
    collecting: Option<(TaskId, Phase)>,
    /// Threads that have yet to stop.
    to_stop: usize,
    /// Messages after which the heap is full.
    full_at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thread {
    Running,
    /// It has been signalled and has not handled the signal yet.
    Signalled,
    /// It has handled the signal and is about to wait, or waits.
    Stopped,
    /// It waited for something else when it was to stop, and was not signalled. It stops when it no longer waits.
    Safe,
}

/// What the current operation of a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// One of the workload.
    Work,
    Handler,
    /// The handler's wait for the end of the collection.
    Park,
    Collection(Phase),
}

/// A workload whose processes collect garbage.
pub(crate) struct Collector<W> {
    work: W,
    processes: Vec<Process>,
    /// The process of each task.
    process: Vec<usize>,
    threads: Vec<Thread>,
    doing: Vec<Doing>,
    interval: u64,
    /// Threads that wait are not signalled.
    spares_waiting: bool,
    signal_send: Cycles,
    signal_receive: Cycles,
    mark: Cycles,
}

impl<W: Work> Collector<W> {
    /// `spares_waiting`: threads that wait are not signalled.
    pub(crate) fn new(work: W, prices: &Prices, spares_waiting: bool) -> Self {
        let mut spaces = work.address_spaces().to_vec();
        let process: Vec<usize> =
            spaces.iter().map(|&space| usize::try_from(space).expect("a small number") - 1).collect();
        let tasks = spaces.len();
        spaces.sort_unstable();
        spaces.dedup();
        let interval = prices.collector_interval;
        let processes = (0..spaces.len()).map(|number| Process {
            threads: (0..tasks).filter(|&task| process[task] == number).map(|task| task as TaskId).collect(),
            collecting: None,
            to_stop: 0,
            // The processes do not collect at the same time.
            full_at: interval * (number as u64 + 1) / spaces.len() as u64,
        });
        Self {
            processes: processes.collect(),
            process,
            threads: vec![Thread::Running; tasks],
            doing: vec![Doing::Work; tasks],
            interval,
            spares_waiting,
            signal_send: prices.signal_send,
            signal_receive: prices.signal_receive,
            mark: prices.collection,
            work,
        }
    }

    fn process_of(&mut self, task: TaskId) -> &mut Process {
        &mut self.processes[self.process[task as usize]]
    }

    /// The phase of the collection that a task runs.
    fn phase(&self, task: TaskId) -> Option<Phase> {
        let (collecting, phase) = self.processes[self.process[task as usize]].collecting?;
        (collecting == task).then_some(phase)
    }

    /// Begins a collection if the heap is full. Returns whether it does.
    fn begin_if_full(&mut self, task: TaskId) -> bool {
        let (messages, _) = self.work.progress();
        let interval = self.interval;
        let process = self.process_of(task);
        let begins = messages >= process.full_at && process.collecting.is_none();
        if begins {
            process.full_at = messages + interval;
            process.collecting = Some((task, Phase::Stop(0)));
            process.to_stop = process.threads.len() - 1;
        }
        begins
    }

    /// Ends an operation of the workload. A thread that is to stop, or to collect, does not wait for anything else.
    fn end_of_work(&mut self, task: TaskId, cpu: usize) -> Effect {
        let effect = self.work.complete(task, cpu);
        let collects = self.begin_if_full(task);
        if effect == Effect::Sleep && (collects || self.threads[task as usize] == Thread::Signalled) {
            self.work.interrupt(task);
            return Effect::Continue;
        }
        effect
    }

    /// Ends an operation of the collecting thread.
    fn collect(&mut self, task: TaskId, phase: Phase) -> Effect {
        let mark = self.mark;
        let process = self.process_of(task);
        let other = |index: usize| process.threads.get(index).copied().filter(|&other| other != task);
        let count = process.threads.len();
        let (effect, next) = match phase {
            Phase::Stop(index) => {
                let signalled = other(index);
                let next = if index + 1 < count { Phase::Stop(index + 1) } else { Phase::Wait };
                (signalled.map_or(Effect::Continue, |other| self.signal(other)), Some(next))
            }
            Phase::Wait if process.to_stop > 0 => (Effect::Sleep, Some(Phase::Wait)),
            Phase::Wait => (Effect::Continue, Some(Phase::Mark(mark))),
            Phase::Mark(left) if left > MARK_STEP => (Effect::Continue, Some(Phase::Mark(left - MARK_STEP))),
            Phase::Mark(_) => (Effect::Continue, Some(Phase::Resume(0))),
            Phase::Resume(index) => {
                let resumed = other(index);
                let next = (index + 1 < count).then_some(Phase::Resume(index + 1));
                (resumed.map_or(Effect::Continue, |other| self.resume(other)), next)
            }
        };
        self.process_of(task).collecting = next.map(|next| (task, next));
        effect
    }

    fn op_of(&self, phase: Phase) -> Op {
        match phase {
            Phase::Stop(_) | Phase::Resume(_) => Op::kernel(self.signal_send),
            Phase::Wait => Op::default(),
            Phase::Mark(left) => Op { collector: left.min(MARK_STEP), ..Op::default() },
        }
    }

    fn signal(&mut self, task: TaskId) -> Effect {
        if self.spares_waiting && self.work.is_waiting(task) {
            self.threads[task as usize] = Thread::Safe;
            self.process_of(task).to_stop -= 1;
            return Effect::Continue;
        }
        self.threads[task as usize] = Thread::Signalled;
        if self.work.interrupt(task) { Effect::Wake(task) } else { Effect::Continue }
    }

    fn resume(&mut self, task: TaskId) -> Effect {
        match std::mem::replace(&mut self.threads[task as usize], Thread::Running) {
            Thread::Safe => Effect::Continue,
            _ => Effect::Wake(task),
        }
    }

    /// A thread has handled the signal. The last one wakes the collecting thread.
    fn stop(&mut self, task: TaskId) -> Effect {
        self.threads[task as usize] = Thread::Stopped;
        let process = self.process_of(task);
        process.to_stop -= 1;
        match process.collecting {
            Some((collecting, Phase::Wait)) if process.to_stop == 0 => Effect::Wake(collecting),
            _ => Effect::Continue,
        }
    }
}

impl<W: Work> Work for Collector<W> {
    fn address_spaces(&self) -> &[u64] {
        self.work.address_spaces()
    }

    fn starters(&self) -> Vec<TaskId> {
        self.work.starters()
    }

    fn next(&mut self, task: TaskId) -> Op {
        let (doing, op) = match (self.phase(task), self.threads[task as usize]) {
            (Some(phase), _) => (Doing::Collection(phase), self.op_of(phase)),
            (None, Thread::Signalled) => (Doing::Handler, Op::kernel(self.signal_receive)),
            (None, Thread::Stopped | Thread::Safe) => (Doing::Park, Op::default()),
            (None, Thread::Running) => (Doing::Work, self.work.next(task)),
        };
        self.doing[task as usize] = doing;
        op
    }

    fn complete(&mut self, task: TaskId, cpu: usize) -> Effect {
        match self.doing[task as usize] {
            Doing::Collection(phase) => self.collect(task, phase),
            Doing::Work => self.end_of_work(task, cpu),
            Doing::Handler => self.stop(task),
            // The collection may have ended meanwhile.
            Doing::Park if self.threads[task as usize] != Thread::Running => {
                self.threads[task as usize] = Thread::Stopped;
                Effect::Sleep
            }
            Doing::Park => Effect::Continue,
        }
    }

    fn interrupt(&mut self, task: TaskId) -> bool {
        self.work.interrupt(task)
    }

    fn name(&self, task: TaskId) -> String {
        self.work.name(task)
    }

    fn is_waiting(&self, task: TaskId) -> bool {
        self.work.is_waiting(task)
    }

    fn progress(&self) -> (u64, u64) {
        self.work.progress()
    }
}
