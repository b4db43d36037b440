//! Costs as the integers that a simulation adds up.

use crate::costs::{Cost, Costs};
use crate::events::Cycles;
use crate::topology::{DISTANCES, Distance};

/// The parts of the user time of a message in a chat, in cycles of a message of 23,000. The server handles a message once for 19
/// deliveries, so its part is larger than it looks.
const USER_MESSAGE_PARTS: Cycles = 23_000;

/// Heap of the collections that the costs describe.
pub(crate) const HEAP_MB: u64 = 64;

/// What the costs of a run depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    /// The kernel is built for several CPUs.
    pub(crate) several_cpus: bool,
    /// Decisions are those of the O(1) scheduler.
    pub(crate) o1: bool,
    pub(crate) heap_mb: u64,
}

/// Cycles, bytes and counts for one machine, with all factors applied.
#[derive(Clone, Debug)]
pub(crate) struct Prices {
    pub(crate) element: Cycles,
    pub(crate) decision: Cycles,
    pub(crate) wake: Cycles,
    pub(crate) cpu_read: Cycles,
    /// A cache line of another CPU.
    pub(crate) line_read: Cycles,
    pub(crate) hand_over: Cycles,
    /// More for each CPU that waits for the lock.
    pub(crate) hand_over_waiter: Cycles,
    pub(crate) switch: Cycles,
    /// More for a switch to another address space.
    pub(crate) address_space: Cycles,
    /// A cache line of a returning task's data.
    pub(crate) refill_line: Cycles,
    pub(crate) remote_refill_factor: u64,
    pub(crate) interrupt: Cycles,
    pub(crate) footprint_bytes: u64,
    /// All lines of a message, by the distance of the CPU that wrote it.
    pub(crate) message_lines: [Cycles; DISTANCES],
    /// Timer interrupts per second of each CPU.
    pub(crate) timer_hz: u64,
    pub(crate) system_call: Cycles,
    pub(crate) tcp_send: Cycles,
    pub(crate) tcp_receive: Cycles,
    pub(crate) signal_send: Cycles,
    pub(crate) signal_receive: Cycles,
    /// User time of a counted message.
    user_message: Cycles,
    /// How much the user time of an operation varies, in 1/1024.
    pub(crate) jitter: u64,
    /// Marking and sweeping in one collection.
    pub(crate) collection: Cycles,
    /// Messages between two collections of a process.
    pub(crate) collector_interval: u64,
    pub(crate) monitor_spin: Cycles,
    pub(crate) monitor_yields: u64,
    /// To wake a thread that is blocked in a monitor, and for that thread to return.
    pub(crate) monitor_wake: Cycles,
    pub(crate) monitor_resume: Cycles,
}

impl Prices {
    pub(crate) fn new(costs: &Costs, conditions: Conditions) -> Self {
        let Conditions { several_cpus, o1, heap_mb } = conditions;
        let whole = |cost: &Cost| cost.value.round() as u64;
        let factor = costs.cold_kernel_factor.value * if several_cpus { costs.smp_factor.value } else { 1.0 };
        let kernel = |cost: &Cost| (cost.value * factor).round() as u64;
        let lines = costs.lines_per_message.value * costs.line_from_cpu.value;
        let mut message_lines = [lines.round() as u64; DISTANCES];
        message_lines[Distance::SameCpu as usize] = 0;
        for (distance, factor) in [
            (Distance::SameCore, &costs.core_factor),
            (Distance::SameLlc, &costs.llc_factor),
            (Distance::Far, &costs.far_factor),
        ] {
            message_lines[distance as usize] = (lines * factor.value).round() as u64;
        }
        // A message takes 63,500 cycles on one CPU of 700 MHz, 40 % of them outside the kernel.
        let message = costs.user_message.value / 0.4;
        Self {
            element: whole(&costs.element),
            decision: whole(if o1 { &costs.decision_o1 } else { &costs.decision }),
            wake: whole(&costs.wake),
            cpu_read: whole(&costs.cpu_read),
            line_read: whole(&costs.line_from_cpu),
            hand_over: whole(&costs.hand_over),
            hand_over_waiter: whole(&costs.hand_over_waiter),
            switch: whole(&costs.switch),
            address_space: whole(&costs.address_space),
            refill_line: whole(&costs.line_from_memory),
            remote_refill_factor: whole(&costs.remote_refill_factor),
            interrupt: whole(&costs.interrupt),
            footprint_bytes: whole(&costs.footprint),
            message_lines,
            timer_hz: whole(&costs.timer),
            system_call: kernel(&costs.system_call),
            tcp_send: kernel(&costs.tcp_send),
            tcp_receive: kernel(&costs.tcp_receive),
            signal_send: kernel(&costs.signal_send),
            signal_receive: kernel(&costs.signal_receive),
            user_message: whole(&costs.user_message),
            jitter: (1024.0 * costs.jitter.value).round() as u64,
            // Half of the collector's share is the server's, half the client's.
            collection: (costs.collector_share.value * message * costs.collector_interval.value / 2.0).round()
                as u64,
            collector_interval: (whole(&costs.collector_interval) * heap_mb / HEAP_MB).max(1),
            monitor_spin: whole(&costs.monitor_spin),
            monitor_yields: whole(&costs.monitor_yields),
            monitor_wake: kernel(&costs.signal_send),
            monitor_resume: kernel(&costs.signal_receive),
        }
    }

    /// Monitors that block in a futex, not until a signal: one system call to wake a thread, and nothing to handle.
    pub(crate) fn with_futexes(self) -> Self {
        Self { monitor_wake: self.system_call, monitor_resume: 0, ..self }
    }

    /// Nothing that a recorded CPU time contains already.
    pub(crate) fn without_scheduling(self) -> Self {
        Self {
            element: 0,
            decision: 0,
            wake: 0,
            cpu_read: 0,
            line_read: 0,
            hand_over: 0,
            hand_over_waiter: 0,
            switch: 0,
            address_space: 0,
            footprint_bytes: 0,
            system_call: 0,
            ..self
        }
    }

    /// User time of a part of a message, given as cycles of a message of [`USER_MESSAGE_PARTS`].
    pub(crate) fn user(&self, part: Cycles) -> Cycles {
        self.user_message * part / USER_MESSAGE_PARTS
    }
}
