//! Requests of clients on other machines to pools of server threads, which ask a database on another machine: the shape of Trade and
//! SPECjAppServer in the study of a Java application server (2005).
//!
//! Each request enters one Java monitor. Garbage collection is not part of it.

use std::collections::VecDeque;

use klatch_schedulers::policies::TaskId;

use super::monitor::{Monitor, Tier};
use super::{Effect, Op, Work};
use crate::events::Cycles;
use crate::prices::Prices;
use crate::random::Random;

/// Clients, servers and the parts of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestsSpec {
    /// Clients, each with one request at a time.
    pub clients: usize,
    /// Server processes. Clients are spread over them.
    pub servers: usize,
    /// Threads in the pool of each server.
    pub threads: usize,
    /// Mean time of a client between a reply and its next request.
    pub think_us: u64,
    /// Mean CPU time of a request outside the kernel.
    pub service_us: u64,
    /// Calls of the database per request.
    pub calls: u64,
    /// Mean time until the database answers.
    pub database_us: u64,
    /// Monitors of each server; a request enters one of them.
    pub locks: usize,
    /// CPU time in the monitor.
    pub hold_us: u64,
    /// Number of requests of all clients.
    pub requests: u64,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Looks for a request.
    Take,
    Receive,
    /// Computes for this many cycles, with this many calls of the database to follow.
    Serve(Cycles, u64),
    Ask(u64),
    /// The answer of the database has arrived.
    Answered(u64),
    Contend(Tier),
    Hold,
    /// Leaves the monitor, and wakes a blocked thread.
    Leave,
    Reply,
}

#[derive(Clone, Copy)]
struct Thread {
    state: State,
    client: u32,
    lock: usize,
}

#[derive(Clone, Default)]
struct Server {
    /// Clients whose requests wait for a thread.
    waiting: VecDeque<u32>,
    /// Threads without a request; the one that was used last is used next.
    idle: Vec<TaskId>,
}

/// The workload. A message is a request with its reply.
pub(crate) struct Requests {
    spec: RequestsSpec,
    mhz: u64,
    threads: Vec<Thread>,
    servers: Vec<Server>,
    monitors: Vec<Monitor>,
    spaces: Vec<u64>,
    /// What will happen on other machines: a delay, and the client or the thread that it concerns.
    outside: Vec<(Cycles, u32)>,
    random: Random,
    prices: Prices,
    replies: u64,
}

impl Requests {
    pub(crate) fn new(spec: RequestsSpec, mhz: u64, prices: Prices, seed: u64) -> Self {
        let tasks = spec.servers * spec.threads;
        let idle = |server: usize| {
            (server * spec.threads..(server + 1) * spec.threads).rev().map(|task| task as TaskId)
        };
        let server = |server| Server { waiting: VecDeque::new(), idle: idle(server).collect() };
        let mut work = Self {
            threads: vec![Thread { state: State::Take, client: 0, lock: 0 }; tasks],
            servers: (0..spec.servers).map(server).collect(),
            monitors: vec![Monitor::default(); spec.servers * spec.locks],
            spaces: (0..tasks).map(|task| (task / spec.threads) as u64 + 1).collect(),
            outside: Vec::with_capacity(spec.clients),
            random: Random::new(seed),
            mhz,
            spec,
            prices,
            replies: 0,
        };
        for client in 0..spec.clients as u32 {
            let delay = work.around(spec.think_us);
            work.outside.push((delay, client));
        }
        work
    }

    /// A random time from none to twice the mean, in cycles.
    fn around(&mut self, mean_us: u64) -> Cycles {
        self.random.below(2 * mean_us * self.mhz + 1)
    }

    /// A part of the service, with its calls of the database to follow.
    fn serve(&mut self, calls: u64) -> State {
        let mean_us = self.spec.service_us / (self.spec.calls + 1);
        State::Serve(self.around(mean_us), calls)
    }

    fn server_of(&self, task: usize) -> usize {
        task / self.spec.threads
    }

    /// Takes a request, or waits for one.
    fn take(&mut self, task: usize) -> Effect {
        let server = self.server_of(task);
        match self.servers[server].waiting.pop_front() {
            Some(client) => {
                self.threads[task].client = client;
                self.threads[task].state = State::Receive;
                Effect::Continue
            }
            None => {
                self.servers[server].idle.push(task as TaskId);
                Effect::Sleep
            }
        }
    }

    /// What follows when a part of the service is complete.
    fn served(&mut self, task: usize, calls: u64) {
        if calls > 0 {
            self.threads[task].state = State::Ask(calls - 1);
            return;
        }
        let (server, locks) = (self.server_of(task), self.spec.locks);
        let lock = server * locks + self.random.below(locks as u64) as usize;
        let entered = self.monitors[lock].try_enter();
        self.threads[task].lock = lock;
        self.threads[task].state = if entered { State::Hold } else { State::Contend(Tier::Spin) };
    }
}

impl Work for Requests {
    fn address_spaces(&self) -> &[u64] {
        &self.spaces
    }

    fn starters(&self) -> Vec<TaskId> {
        Vec::new()
    }

    fn next(&mut self, task: TaskId) -> Op {
        let prices = &self.prices;
        match self.threads[task as usize].state {
            State::Take => Op::kernel(prices.system_call),
            State::Receive | State::Answered(_) => Op::kernel(prices.tcp_receive),
            State::Serve(cycles, _) => Op::user(cycles),
            State::Ask(_) | State::Reply => Op::kernel(prices.tcp_send),
            State::Contend(tier) => tier.op(prices),
            State::Hold => Op::user(self.spec.hold_us * self.mhz),
            State::Leave => Op::kernel(prices.monitor_wake),
        }
    }

    fn complete(&mut self, task: TaskId, _cpu: usize) -> Effect {
        let (id, task) = (task, task as usize);
        let Thread { state, client, lock } = self.threads[task];
        let mut effect = Effect::Continue;
        let next = match state {
            State::Take => return self.take(task),
            State::Receive => self.serve(self.spec.calls),
            State::Serve(_, calls) => {
                self.served(task, calls);
                return Effect::Continue;
            }
            State::Ask(calls) => {
                let delay = self.around(self.spec.database_us);
                self.outside.push((delay, self.spec.clients as u32 + id));
                effect = Effect::Sleep;
                State::Answered(calls)
            }
            State::Answered(calls) => self.serve(calls),
            State::Contend(tier) => {
                let (done, next) = self.monitors[lock].attempt(id, tier, self.prices.monitor_yields);
                effect = done;
                next.map_or(State::Hold, State::Contend)
            }
            State::Hold if self.monitors[lock].has_blocked() => State::Leave,
            State::Hold | State::Leave => {
                effect = self.monitors[lock].leave();
                State::Reply
            }
            State::Reply => {
                self.replies += 1;
                let delay = self.around(self.spec.think_us);
                self.outside.push((delay, client));
                State::Take
            }
        };
        self.threads[task].state = next;
        effect
    }

    fn interrupt(&mut self, task: TaskId) -> bool {
        self.monitors[self.threads[task as usize].lock].unblock(task)
    }

    fn outside(&mut self) -> Option<(Cycles, u32)> {
        self.outside.pop()
    }

    fn arrive(&mut self, number: u32) -> Option<TaskId> {
        let clients = self.spec.clients as u32;
        if number >= clients {
            return Some(number - clients);
        }
        let servers = self.servers.len();
        let server = &mut self.servers[number as usize % servers];
        server.waiting.push_back(number);
        server.idle.pop()
    }

    fn is_waiting(&self, task: TaskId) -> bool {
        self.monitors[self.threads[task as usize].lock].is_blocked(task)
    }

    fn progress(&self) -> (u64, u64) {
        (self.replies, self.spec.requests)
    }
}
