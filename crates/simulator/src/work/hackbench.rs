//! hackbench (Rusty Russell, 2001): groups of 20 senders and 20 receivers, all of them processes. Each sender writes to every receiver of its
//! group in turn. A receiver's socket holds a limited number of messages; a sender waits while it is full.
//!
//! Sockets are priced as TCP: costs of socket pairs on the machine of 2000 are not published.

use std::collections::VecDeque;

use klatch_schedulers::policies::TaskId;

use super::{Effect, Op, Work};
use crate::prices::Prices;

/// Senders of a group, and receivers.
const SIDE: usize = 20;
/// Messages of 100 bytes that a socket holds: 64 kB, with some 550 bytes of bookkeeping each.
const SOCKET_MAX: u32 = 100;

/// Number of groups and of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HackbenchSpec {
    /// Groups of 40 processes.
    pub groups: usize,
    /// Messages from each sender to each receiver of its group.
    pub loops: u64,
}

#[derive(Clone, Default)]
struct Process {
    /// A sender's messages so far; those that a receiver has read.
    messages: u64,
    /// Messages in a receiver's socket.
    queued: u32,
    /// Where the last of them was written.
    written_on: usize,
    /// A receiver waits for a message.
    waits: bool,
    /// Senders that wait for space in a receiver's socket.
    senders: VecDeque<TaskId>,
}

/// The workload. A message is counted when it has been read.
pub(crate) struct Hackbench {
    processes: Vec<Process>,
    spaces: Vec<u64>,
    prices: Prices,
    /// Messages that each process sends or receives.
    each: u64,
    read: u64,
}

impl Hackbench {
    pub(crate) fn new(spec: HackbenchSpec, prices: Prices) -> Self {
        let tasks = spec.groups * 2 * SIDE;
        Self {
            processes: vec![Process::default(); tasks],
            spaces: (1..=tasks as u64).collect(),
            prices,
            each: spec.loops * SIDE as u64,
            read: 0,
        }
    }

    fn is_sender(task: usize) -> bool {
        task % (2 * SIDE) < SIDE
    }

    /// The receiver of a sender's next message.
    fn target(&self, sender: usize) -> usize {
        let group = sender / (2 * SIDE) * 2 * SIDE;
        group + SIDE + (self.processes[sender].messages % SIDE as u64) as usize
    }

    fn send(&mut self, task: usize, cpu: usize) -> Effect {
        if self.processes[task].messages == self.each {
            return Effect::Sleep;
        }
        let to = self.target(task);
        let receiver = &mut self.processes[to];
        if receiver.queued == SOCKET_MAX {
            receiver.senders.push_back(task as TaskId);
            return Effect::Sleep;
        }
        receiver.queued += 1;
        receiver.written_on = cpu;
        let wakes = std::mem::take(&mut receiver.waits);
        self.processes[task].messages += 1;
        if wakes { Effect::Wake(to as TaskId) } else { Effect::Continue }
    }

    fn receive(&mut self, task: usize) -> Effect {
        let process = &mut self.processes[task];
        if process.queued == 0 {
            process.waits = process.messages < self.each;
            return Effect::Sleep;
        }
        process.queued -= 1;
        process.messages += 1;
        self.read += 1;
        process.senders.pop_front().map_or(Effect::Continue, Effect::Wake)
    }
}

impl Work for Hackbench {
    fn address_spaces(&self) -> &[u64] {
        &self.spaces
    }

    fn starters(&self) -> Vec<TaskId> {
        (0..self.processes.len()).map(|task| task as TaskId).collect()
    }

    fn next(&mut self, task: TaskId) -> Op {
        let process = &self.processes[task as usize];
        if Self::is_sender(task as usize) {
            Op::kernel(self.prices.tcp_send)
        } else if process.queued > 0 {
            let written_on = Some(process.written_on);
            Op { kernel: self.prices.tcp_receive, written_on, ..Op::default() }
        } else {
            Op::kernel(self.prices.system_call)
        }
    }

    fn complete(&mut self, task: TaskId, cpu: usize) -> Effect {
        let task = task as usize;
        if Self::is_sender(task) { self.send(task, cpu) } else { self.receive(task) }
    }

    fn interrupt(&mut self, task: TaskId) -> bool {
        std::mem::take(&mut self.processes[task as usize].waits)
    }

    fn is_waiting(&self, task: TaskId) -> bool {
        self.processes[task as usize].waits
    }

    fn progress(&self) -> (u64, u64) {
        (self.read, self.each * (self.processes.len() / 2) as u64)
    }
}

#[test]
fn every_receiver_reads_every_message_and_no_socket_overflows() {
    use crate::costs::Costs;
    use crate::prices::Conditions;

    let conditions = Conditions { several_cpus: true, o1: false, heap_mb: 64 };
    let prices = Prices::new(&Costs::pentium_iii(), conditions);
    let mut hackbench = Hackbench::new(HackbenchSpec { groups: 2, loops: 30 }, prices);
    // Every process goes on until it waits, so that senders fill the sockets first.
    let mut runnable: VecDeque<TaskId> = hackbench.starters().into();
    while let Some(task) = runnable.pop_front() {
        loop {
            match hackbench.complete(task, 0) {
                Effect::Sleep => break,
                Effect::Wake(woken) => runnable.push_back(woken),
                Effect::Continue | Effect::Yield => {}
            }
            assert!(hackbench.processes.iter().all(|process| process.queued <= SOCKET_MAX));
        }
    }
    assert_eq!(hackbench.progress(), (2 * 20 * 20 * 30, 2 * 20 * 20 * 30));
    assert!(hackbench.processes.iter().all(|process| process.messages == 20 * 30));
}
