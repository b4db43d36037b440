use std::collections::VecDeque;

use super::*;
use crate::costs::Costs;
use crate::prices::Conditions;

/// Threads of one process, each of which makes a message in every operation and never waits.
struct Makers {
    spaces: Vec<u64>,
    messages: u64,
}

impl Work for Makers {
    fn address_spaces(&self) -> &[u64] {
        &self.spaces
    }

    fn starters(&self) -> Vec<TaskId> {
        (0..self.spaces.len()).map(|task| task as TaskId).collect()
    }

    fn next(&mut self, _task: TaskId) -> Op {
        Op::user(1)
    }

    fn complete(&mut self, _task: TaskId, _cpu: usize) -> Effect {
        self.messages += 1;
        Effect::Continue
    }

    fn interrupt(&mut self, _task: TaskId) -> bool {
        false
    }

    fn is_waiting(&self, _task: TaskId) -> bool {
        false
    }

    fn allocates(&self, _task: TaskId) -> bool {
        true
    }

    fn progress(&self) -> (u64, u64) {
        (self.messages, u64::MAX)
    }
}

/// Ten threads of one process, and those of them that are runnable.
struct Machine {
    collector: Collector<Makers>,
    runnable: VecDeque<TaskId>,
    /// The most threads that had been signalled at the same time and not stopped yet.
    signalled_max: usize,
    /// The most messages during one collection.
    collecting_messages_max: u64,
}

impl Machine {
    fn new(spares_waiting: bool) -> Self {
        let conditions = Conditions { several_cpus: true, o1: false, heap_mb: 64 };
        let mut prices = Prices::new(&Costs::pentium_iii(), conditions);
        prices.collector_interval = 1000;
        let collector = Collector::new(Makers { spaces: vec![1; 10], messages: 0 }, &prices, spares_waiting);
        let runnable = collector.starters().into();
        Self { collector, runnable, signalled_max: 0, collecting_messages_max: 0 }
    }

    /// Every runnable thread performs one operation in turn, `operations` in all.
    fn run(&mut self, operations: u64) {
        let mut began_at = None;
        for _ in 0..operations {
            let task = self.runnable.pop_front().expect("some thread is always runnable");
            self.collector.next(task);
            let effect = self.collector.complete(task, 0);
            if effect != Effect::Sleep {
                self.runnable.push_back(task);
            }
            if let Effect::Wake(woken) = effect
                && !self.runnable.contains(&woken)
            {
                self.runnable.push_back(woken);
            }
            self.signalled_max = self.signalled_max.max(self.count(Thread::Signalled));
            let messages = self.collector.work.messages;
            if self.collector.must_wait(0) {
                let during = messages - *began_at.get_or_insert(messages);
                self.collecting_messages_max = self.collecting_messages_max.max(during);
            } else {
                began_at = None;
            }
        }
    }

    fn count(&self, state: Thread) -> usize {
        self.collector.threads.iter().filter(|&&thread| thread == state).count()
    }
}

#[test]
fn a_process_that_collects_completes_what_it_had_begun_and_no_more() {
    for spares_waiting in [false, true] {
        let mut machine = Machine::new(spares_waiting);
        machine.run(100_000);
        assert!(machine.collecting_messages_max <= 10, "{}", machine.collecting_messages_max);
        // One thread is stopped after the other; those that wait for memory are spared if waiting threads are.
        assert_eq!(machine.signalled_max, usize::from(!spares_waiting));
        assert!(machine.collector.work.messages > 50_000, "{}", machine.collector.work.messages);
    }
}

#[test]
fn every_thread_that_waited_for_memory_runs_again_after_the_collection() {
    for spares_waiting in [false, true] {
        let mut machine = Machine::new(spares_waiting);
        while machine.count(Thread::OutOfMemory) < 5 {
            machine.run(1);
        }
        machine.collector.processes[0].full_at = u64::MAX;
        machine.run(10_000);
        assert_eq!(machine.count(Thread::Running), 10);
        assert_eq!(machine.runnable.len(), 10);
    }
}
