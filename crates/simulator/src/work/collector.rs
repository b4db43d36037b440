//! A garbage collector that stops the threads of its process one by one with signals, as JVMs on LinuxThreads did. The thread that
//! finds the heap full stops each other thread and waits for it, then marks and sweeps, and lets them continue. A thread that needs memory
//! meanwhile waits for the end of the collection: there is one heap, and the collector has its lock.
//!
//! Two published numbers of the study of 2000 decide how threads stop. Collections took less than 5 % of the time with 2,000 threads, so a
//! process that collects does not work on. At most 414 tasks were runnable, so a thousand threads are not signalled at once.

mod process;
#[cfg(test)]
mod tests;

use klatch_schedulers::policies::TaskId;
use process::{Phase, Process};

use super::{Effect, Op, Work};
use crate::events::Cycles;
use crate::prices::Prices;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thread {
    Running,
    /// It has been signalled and has not handled the signal yet.
    Signalled,
    /// It has handled the signal and is about to wait, or waits.
    Stopped,
    /// It waited for something else when it was to stop, and was not signalled. It stops when it no longer waits.
    Safe,
    /// It waits for memory.
    OutOfMemory,
    /// It has been woken from that, and will wake the next one.
    GotMemory,
}

/// What the current operation of a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// One of the workload.
    Work,
    /// The call that waits for memory.
    Allocation,
    /// Wakes the next thread that waits for memory.
    PassOn,
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
    system_call: Cycles,
    signal_send: Cycles,
    signal_receive: Cycles,
    mark: Cycles,
}

impl<W: Work> Collector<W> {
    /// `spares_waiting`: threads that wait are not signalled.
    pub(crate) fn new(work: W, prices: &Prices, spares_waiting: bool) -> Self {
        let spaces = work.address_spaces();
        let process: Vec<usize> =
            spaces.iter().map(|&space| usize::try_from(space).expect("a small number") - 1).collect();
        let tasks = spaces.len();
        Self {
            processes: Process::all(&process, prices.collector_interval),
            process,
            threads: vec![Thread::Running; tasks],
            doing: vec![Doing::Work; tasks],
            interval: prices.collector_interval,
            spares_waiting,
            system_call: prices.system_call,
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

    /// Whether a task can get no memory, as its process collects.
    fn must_wait(&self, task: TaskId) -> bool {
        self.processes[self.process[task as usize]].has_no_memory()
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
        let process = self.process_of(task);
        let count = process.threads.len();
        let other = |index: usize| Some(process.threads[index]).filter(|&other| other != task);
        let (effect, next) = match phase {
            Phase::Stop(index) => {
                (other(index).map_or(Effect::Continue, |other| self.signal(other)), Some(Phase::Await(index)))
            }
            Phase::Await(index) => {
                let awaited = process.threads[index];
                if self.threads[awaited as usize] == Thread::Signalled {
                    (Effect::Sleep, Some(phase))
                } else if index + 1 < count {
                    (Effect::Continue, Some(Phase::Stop(index + 1)))
                } else {
                    (Effect::Continue, Some(Phase::Mark))
                }
            }
            Phase::Mark => (Effect::Continue, Some(Phase::Resume(0))),
            Phase::Resume(index) => {
                let next = if index + 1 < count { Phase::Resume(index + 1) } else { Phase::Release };
                (other(index).map_or(Effect::Continue, |other| self.resume(other)), Some(next))
            }
            Phase::Release => (self.give_memory(task), None),
        };
        self.process_of(task).collecting = next.map(|next| (task, next));
        effect
    }

    /// The operation of a phase. A thread that stops answers by a signal, which the collecting thread handles.
    fn op_of(&self, task: TaskId, phase: Phase) -> Op {
        match phase {
            Phase::Stop(_) => Op::kernel(self.signal_send + self.signal_receive),
            Phase::Resume(_) => Op::kernel(self.signal_send),
            Phase::Await(_) => Op::default(),
            Phase::Mark => Op { collector: self.mark, ..Op::default() },
            Phase::Release => Op::kernel(self.wake_next(task)),
        }
    }

    /// Kernel time to wake the next thread that waits for memory.
    fn wake_next(&self, task: TaskId) -> Cycles {
        let waits = !self.processes[self.process[task as usize]].out_of_memory.is_empty();
        if waits { self.signal_send } else { 0 }
    }

    /// Wakes the thread that has waited longest for memory.
    fn give_memory(&mut self, task: TaskId) -> Effect {
        let Some(next) = self.process_of(task).out_of_memory.pop_front() else { return Effect::Continue };
        self.threads[next as usize] = Thread::GotMemory;
        Effect::Wake(next)
    }

    fn signal(&mut self, task: TaskId) -> Effect {
        let out_of_memory = self.threads[task as usize] == Thread::OutOfMemory;
        if self.spares_waiting && (out_of_memory || self.work.is_waiting(task)) {
            if !out_of_memory {
                self.threads[task as usize] = Thread::Safe;
            }
            return Effect::Continue;
        }
        self.threads[task as usize] = Thread::Signalled;
        if out_of_memory {
            self.process_of(task).out_of_memory.retain(|&other| other != task);
        }
        if out_of_memory || self.work.interrupt(task) { Effect::Wake(task) } else { Effect::Continue }
    }

    fn resume(&mut self, task: TaskId) -> Effect {
        if self.threads[task as usize] == Thread::OutOfMemory {
            return Effect::Continue;
        }
        match std::mem::replace(&mut self.threads[task as usize], Thread::Running) {
            Thread::Safe => Effect::Continue,
            _ => Effect::Wake(task),
        }
    }

    /// A thread has handled the signal. It wakes the collecting thread, which waits for it.
    fn stop(&mut self, task: TaskId) -> Effect {
        self.threads[task as usize] = Thread::Stopped;
        match self.process_of(task).collecting {
            Some((collecting, Phase::Await(_))) => Effect::Wake(collecting),
            _ => Effect::Continue,
        }
    }

    /// A thread waits for memory, unless the collection has ended or has stopped it meanwhile.
    fn allocate(&mut self, task: TaskId) -> Effect {
        if self.threads[task as usize] != Thread::Running || !self.must_wait(task) {
            return Effect::Continue;
        }
        self.threads[task as usize] = Thread::OutOfMemory;
        self.process_of(task).out_of_memory.push_back(task);
        Effect::Sleep
    }

    /// A thread that got memory wakes the next one, unless another collection has begun: that will wake it.
    fn pass_on(&mut self, task: TaskId) -> Effect {
        if self.threads[task as usize] == Thread::GotMemory {
            self.threads[task as usize] = Thread::Running;
        }
        if self.must_wait(task) { Effect::Continue } else { self.give_memory(task) }
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
            (Some(phase), _) => (Doing::Collection(phase), self.op_of(task, phase)),
            (None, Thread::Signalled) => (Doing::Handler, Op::kernel(self.signal_receive + self.signal_send)),
            (None, Thread::Stopped | Thread::Safe) => (Doing::Park, Op::default()),
            (None, Thread::GotMemory) => {
                (Doing::PassOn, Op::kernel(self.signal_receive + self.wake_next(task)))
            }
            (None, _) if self.must_wait(task) && self.work.allocates(task) => {
                (Doing::Allocation, Op::kernel(self.system_call))
            }
            (None, _) => (Doing::Work, self.work.next(task)),
        };
        self.doing[task as usize] = doing;
        op
    }

    fn complete(&mut self, task: TaskId, cpu: usize) -> Effect {
        match self.doing[task as usize] {
            Doing::Collection(phase) => self.collect(task, phase),
            Doing::Work => self.end_of_work(task, cpu),
            Doing::Allocation => self.allocate(task),
            Doing::PassOn => self.pass_on(task),
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
