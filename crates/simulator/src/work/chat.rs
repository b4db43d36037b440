//! VolanoMark's chat: four threads per user, a receiver and a sender in the client and the same in the server, connected by TCP.
//!
//! The users of a room speak in turn. A receiver reads all packets that have arrived and yields after each one; a sender writes all
//! messages of its queue, one packet each, and yields after the last. A thread with nothing to do waits: receivers in their socket,
//! senders for a signal of LinuxThreads. Queues and rooms are Java monitors, if the specification says so.

#[cfg(test)]
mod tests;
mod threads;

use klatch_schedulers::policies::TaskId;
use threads::{
    CLIENT, Kind, SERVER, State, THREADS, Thread, USERS, kind_of, number_of, room_of, sibling, task_of,
};

use super::monitor::{Monitor, Tier};
use super::spec::ChatSpec;
use super::{Effect, Op, Work};
use crate::prices::Prices;

/// Packets that one read returns at most: 8 kB with some 100 bytes each.
const READ_MAX: u32 = 80;
/// User time of the steps, in cycles of a message of 23,000.
const RECEIVE: u64 = 10_000;
const SEND: u64 = 8_000;
const ENQUEUE: u64 = 4_000;
/// The server parses a message once for 19 deliveries.
const HANDLE: u64 = 20_000;

/// A monitor: a sender's queue, or a room.
#[derive(Clone, Copy)]
enum Place {
    Queue(usize),
    Room(usize),
}

pub(crate) struct Chat {
    threads: Vec<Thread>,
    /// The queue of each sender; unused for receivers.
    queues: Vec<Monitor>,
    rooms: Vec<Monitor>,
    spaces: Vec<u64>,
    prices: Prices,
    spec: ChatSpec,
    messages: u64,
    goal: u64,
}

impl Chat {
    /// Heap and collections of `spec` are the [collector's](super::collector).
    pub(crate) fn new(spec: ChatSpec, prices: Prices) -> Self {
        let rooms = spec.rooms;
        let tasks = rooms * USERS * THREADS;
        let mut chat = Self {
            threads: vec![Thread::default(); tasks],
            queues: vec![Monitor::default(); tasks],
            rooms: vec![Monitor::default(); rooms],
            spaces: (0..tasks).map(|task| if kind_of(task).is_client() { CLIENT } else { SERVER }).collect(),
            prices,
            spec,
            messages: 0,
            goal: (rooms * USERS * USERS) as u64 * spec.count,
        };
        for (task, thread) in chat.threads.iter_mut().enumerate() {
            thread.waits = true;
            thread.state = if kind_of(task).is_receiver() { State::Take } else { State::Signal };
        }
        // The first user of each room opens.
        for room in 0..rooms {
            let sender = &mut chat.threads[task_of(room, 0, Kind::ClientSender)];
            (sender.arrived, sender.waits) = (1, false);
            chat.threads[task_of(room, 0, Kind::ClientReceiver)].sent = 1;
            chat.messages += 1;
        }
        chat
    }

    /// The monitor that a thread enters before it continues in `state`.
    fn monitor_of(&self, task: usize, state: State) -> Option<Place> {
        if !self.spec.monitors {
            return None;
        }
        match state {
            State::Take if !kind_of(task).is_receiver() => Some(Place::Queue(task)),
            State::Append => Some(Place::Queue(sibling(task, Kind::ClientSender))),
            State::Handle => Some(Place::Room(room_of(task))),
            State::Forward(to) => Some(Place::Queue(task_of(room_of(task), to, Kind::ServerSender))),
            _ => None,
        }
    }

    fn monitor(&mut self, task: usize, state: State) -> Option<&mut Monitor> {
        Some(match self.monitor_of(task, state)? {
            Place::Queue(of) => &mut self.queues[of],
            Place::Room(room) => &mut self.rooms[room],
        })
    }

    /// Continues in `state`, or begins to wait for its monitor.
    fn enter(&mut self, task: usize, state: State) {
        let entered = self.monitor(task, state).is_none_or(Monitor::try_enter);
        let thread = &mut self.threads[task];
        thread.state = state;
        thread.contends = (!entered).then_some(Tier::Spin);
    }

    /// Leaves the monitor of `state` and continues in `next`: at once, or with an operation of its own if that wakes a blocked thread.
    fn leave(&mut self, task: usize, state: State, next: State) -> Effect {
        match self.monitor(task, state) {
            Some(monitor) if monitor.has_blocked() => self.threads[task].leaves = Some((state, next)),
            Some(monitor) => {
                monitor.leave();
                self.enter(task, next);
            }
            None => self.enter(task, next),
        }
        Effect::Continue
    }

    /// Ends the operation that [`leave`](Self::leave) began.
    fn left(&mut self, task: usize, state: State, next: State) -> Effect {
        let effect = self.monitor(task, state).expect("a state with a monitor").leave();
        self.enter(task, next);
        effect
    }

    /// A message arrives in a socket or a queue. Wakes the thread if it waits for one.
    fn deliver(&mut self, to: usize, cpu: usize) -> Effect {
        let thread = &mut self.threads[to];
        thread.arrived += 1;
        thread.written_on = cpu;
        if std::mem::take(&mut thread.waits) { Effect::Wake(to as TaskId) } else { Effect::Continue }
    }

    /// Whether it is the user's turn after one more packet.
    fn speaks_next(&self, task: usize) -> bool {
        let thread = &self.threads[task];
        let said = thread.received + 1 + thread.sent;
        said % USERS as u64 == number_of(task) as u64 && thread.sent < self.spec.count
    }

    /// The first other user of the room, or the next one after `last`.
    fn next_member(&self, task: usize, last: Option<usize>) -> Option<usize> {
        let from = last.map_or(0, |last| last + 1);
        (from..USERS).find(|&user| user != number_of(task))
    }

    /// Takes what has arrived. Waits if that is nothing.
    fn take(&mut self, task: usize) -> Effect {
        let receiver = kind_of(task).is_receiver();
        let thread = &mut self.threads[task];
        let taken = if receiver { thread.arrived.min(READ_MAX) } else { thread.arrived };
        thread.arrived -= taken;
        thread.taken = taken;
        thread.waits = taken == 0;
        match (receiver, taken > 0) {
            (true, true) => self.enter(task, State::Packet),
            (true, false) => return Effect::Sleep,
            (false, true) => return self.leave(task, State::Take, State::Write),
            (false, false) => return self.leave(task, State::Take, State::Wait),
        }
        Effect::Continue
    }

    /// Ends the handling of a packet.
    fn handled(&mut self, task: usize) -> Effect {
        self.threads[task].taken -= 1;
        if kind_of(task) == Kind::ServerReceiver {
            self.enter(task, State::Handle);
            return Effect::Continue;
        }
        let speaks = self.speaks_next(task);
        let thread = &mut self.threads[task];
        thread.received += 1;
        thread.sent += u64::from(speaks);
        self.messages += 1 + u64::from(speaks);
        self.enter(task, if speaks { State::Append } else { State::Yield });
        Effect::Continue
    }

    /// Delivers to a queue. If that is a monitor, a woken sender contends for it until the thread has left.
    fn append(&mut self, task: usize, to: usize, cpu: usize, next: State) -> Effect {
        let state = self.threads[task].state;
        match self.deliver(to, cpu) {
            Effect::Continue => self.leave(task, state, next),
            wake if !self.spec.monitors => {
                self.enter(task, next);
                wake
            }
            wake => {
                self.threads[task].leaves = Some((state, next));
                wake
            }
        }
    }
}

impl Work for Chat {
    fn address_spaces(&self) -> &[u64] {
        &self.spaces
    }

    fn starters(&self) -> Vec<TaskId> {
        (0..self.threads.len()).filter(|&task| !self.threads[task].waits).map(|task| task as TaskId).collect()
    }

    fn next(&mut self, task: TaskId) -> Op {
        let task = task as usize;
        if let Some((state, _)) = self.threads[task].leaves {
            let wakes = self.monitor(task, state).is_some_and(|monitor| monitor.has_blocked());
            return if wakes { Op::kernel(self.prices.monitor_wake) } else { Op::default() };
        }
        let (thread, prices) = (&self.threads[task], &self.prices);
        if let Some(tier) = thread.contends {
            return tier.op(prices);
        }
        let signals = |to: usize| if self.threads[to].waits { prices.signal_send } else { 0 };
        match thread.state {
            State::Take if kind_of(task).is_receiver() && thread.arrived > 0 => {
                Op { kernel: prices.tcp_receive, written_on: Some(thread.written_on), ..Op::default() }
            }
            State::Take if kind_of(task).is_receiver() => Op::kernel(prices.system_call),
            State::Take => {
                Op { written_on: (thread.arrived > 0).then_some(thread.written_on), ..Op::default() }
            }
            State::Yield if !self.spec.yields => Op::default(),
            State::Wait | State::Yield => Op::kernel(prices.system_call),
            State::Signal => Op::kernel(prices.signal_receive),
            State::Packet if kind_of(task) == Kind::ClientReceiver => Op::user(prices.user(RECEIVE)),
            State::Packet => Op::user(prices.user(RECEIVE + HANDLE)),
            State::Handle => Op::default(),
            State::Append => {
                let kernel = signals(sibling(task, Kind::ClientSender));
                Op { user: prices.user(ENQUEUE), kernel, ..Op::default() }
            }
            State::Forward(to) => {
                let kernel = signals(task_of(room_of(task), to, Kind::ServerSender));
                Op { user: prices.user(ENQUEUE), kernel, ..Op::default() }
            }
            State::LeaveRoom => Op::default(),
            State::Write => Op { user: prices.user(SEND), kernel: prices.tcp_send, ..Op::default() },
        }
    }

    fn complete(&mut self, task: TaskId, cpu: usize) -> Effect {
        let (id, task) = (task, task as usize);
        let state = self.threads[task].state;
        if let Some(tier) = self.threads[task].contends {
            let yields_max = self.prices.monitor_yields;
            let monitor = self.monitor(task, state).expect("a thread contends for a monitor");
            let (effect, tier) = monitor.attempt(id, tier, yields_max);
            self.threads[task].contends = tier;
            return effect;
        }
        if let Some((state, next)) = self.threads[task].leaves.take() {
            return self.left(task, state, next);
        }
        match state {
            State::Take => self.take(task),
            State::Wait if self.threads[task].arrived > 0 => {
                self.threads[task].waits = false;
                self.enter(task, State::Take);
                Effect::Continue
            }
            State::Wait => {
                // A signal of the collector may have interrupted the thread before it waited.
                self.threads[task].waits = true;
                self.threads[task].state = State::Signal;
                Effect::Sleep
            }
            State::Signal => {
                self.enter(task, State::Take);
                Effect::Continue
            }
            State::Packet => self.handled(task),
            State::Append => self.append(task, sibling(task, Kind::ClientSender), cpu, State::Yield),
            State::Handle => {
                let first = self.next_member(task, None).expect("a room of 20");
                self.enter(task, State::Forward(first));
                Effect::Continue
            }
            State::Forward(to) => {
                let next = self.next_member(task, Some(to)).map_or(State::LeaveRoom, State::Forward);
                self.append(task, task_of(room_of(task), to, Kind::ServerSender), cpu, next)
            }
            State::LeaveRoom => self.leave(task, State::Handle, State::Yield),
            State::Write => {
                self.threads[task].taken -= 1;
                if self.threads[task].taken == 0 {
                    self.threads[task].state = State::Yield;
                }
                let reader =
                    if kind_of(task).is_client() { Kind::ServerReceiver } else { Kind::ClientReceiver };
                self.deliver(sibling(task, reader), cpu)
            }
            State::Yield => {
                let next = if self.threads[task].taken > 0 { State::Packet } else { State::Take };
                self.enter(task, next);
                if self.spec.yields { Effect::Yield } else { Effect::Continue }
            }
        }
    }

    fn interrupt(&mut self, task: TaskId) -> bool {
        let state = self.threads[task as usize].state;
        let contends = self.threads[task as usize].contends.is_some();
        let blocked =
            contends && self.monitor(task as usize, state).is_some_and(|monitor| monitor.unblock(task));
        std::mem::take(&mut self.threads[task as usize].waits) || blocked
    }

    fn name(&self, task: TaskId) -> String {
        let task = task as usize;
        let side = match kind_of(task) {
            Kind::ClientReceiver => "client receiver",
            Kind::ClientSender => "client sender",
            Kind::ServerReceiver => "server receiver",
            Kind::ServerSender => "server sender",
        };
        format!("room {} user {} {side}", room_of(task) + 1, number_of(task) + 1)
    }

    fn is_waiting(&self, task: TaskId) -> bool {
        let thread = &self.threads[task as usize];
        let blocked = || {
            self.monitor_of(task as usize, thread.state).is_some_and(|place| match place {
                Place::Queue(of) => self.queues[of].is_blocked(task),
                Place::Room(room) => self.rooms[room].is_blocked(task),
            })
        };
        thread.waits || (thread.contends.is_some() && blocked())
    }

    /// Strings are made of a packet, and a packet of a string.
    fn allocates(&self, task: TaskId) -> bool {
        let thread = &self.threads[task as usize];
        let makes_strings = matches!(thread.state, State::Packet | State::Write);
        makes_strings && thread.contends.is_none() && thread.leaves.is_none()
    }

    fn progress(&self) -> (u64, u64) {
        (self.messages, self.goal)
    }
}
