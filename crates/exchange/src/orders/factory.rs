//! One factory: its work orders in progress, each with the moment of its next step, and one request in flight.

use std::collections::BTreeMap;

use super::ledger::{ProductionLedger, UsedIds};
use super::moments::Moments;
use super::order::WorkOrder;
use super::population::Population;
use super::reply::WorkOrderReply;
use super::request::Request;
use crate::audited::{ReplyError, not_ok, parse, same};
use crate::random::{Part, Random, output, part_seed};

/// Time between two steps of a work order, ns.
const STEP_NS: u64 = 333_000_000;
/// Time after which a step is repeated for which a component was short, ns.
const SHORT_NS: u64 = 100_000_000;
/// Sequences of moments of planned work orders: three lines of 5 s.
const LINES: u64 = 3;
/// Most pieces of a planned work order.
const PIECES_MAX: u32 = 10;
/// The state of a work order that is complete.
const COMPLETE: u8 = 4;

/// A factory, which makes assemblies in four steps.
pub struct Factory {
    population: Population,
    /// The moments of planned work orders, one sequence for each line.
    planned: Vec<Moments>,
    random: Random,
    /// The work orders that wait for their next step, by its moment and the order in which they were put here.
    waiting: BTreeMap<(u64, u64), Job>,
    put: u64,
    in_flight: Option<Job>,
}

/// A work order in progress.
#[derive(Clone, Copy, Debug)]
struct Job {
    work_order: WorkOrder,
    /// Whether a large order made it; otherwise the factory plans it, and its id is not known at first.
    is_ordered: bool,
    /// The state that it has; 0 before the first step.
    state: u8,
    /// The moment at which it was meant to begin, ns.
    meant_ns: u64,
}

/// What follows a reply to a factory.
#[derive(Debug, PartialEq, Eq)]
pub enum FactoryReply {
    /// The work order has another step.
    Next,
    /// A component was short, so the step is to be repeated.
    Short,
    /// The work order that was meant to begin at this moment, ns, is complete.
    Complete(u64),
    /// The work order ends with a wrong reply.
    Failed(ReplyError),
}

impl Factory {
    /// The factory of the district with this number, from 0, which draws from `seed`.
    pub fn new(district: u32, population: Population, seed: u64) -> Factory {
        let sequence =
            |index| output(part_seed(seed, Part::Factories), u64::from(district) * (LINES + 1) + index);
        Factory {
            population,
            planned: (0..LINES).map(|line| Moments::new(sequence(line))).collect(),
            random: Random::new(sequence(LINES)),
            waiting: BTreeMap::new(),
            put: 0,
            in_flight: None,
        }
    }

    /// The moment of the next planned work order, ns after the gate opened.
    pub fn next_planned_ns(&self) -> u64 {
        self.planned.iter().map(Moments::next_ns).min().unwrap_or(u64::MAX)
    }

    /// The moment of the next step, ns; `None` if no work order waits for one, or while a request is in flight.
    pub fn next_step_ns(&self) -> Option<u64> {
        let (due_ns, _) = *self.waiting.keys().next().filter(|_| self.in_flight.is_none())?;
        Some(due_ns)
    }

    /// Work orders in progress.
    pub fn in_progress(&self) -> u64 {
        self.waiting.len() as u64 + u64::from(self.in_flight.is_some())
    }

    /// Draws the next planned work order, which is meant to begin at `meant_ns`.
    pub fn plan(&mut self, meant_ns: u64) {
        if let Some(line) = self.planned.iter_mut().min_by_key(|line| line.next_ns()) {
            line.advance();
        }
        let assembly = self.random.below(self.population.assemblies());
        let work_order = WorkOrder { id: 0, assembly, quantity: 1 + self.random.below(PIECES_MAX) };
        self.put(meant_ns, Job { work_order, is_ordered: false, state: 0, meant_ns });
    }

    /// Adds a work order of a large order, which is meant to begin at `meant_ns`.
    pub fn add(&mut self, work_order: WorkOrder, meant_ns: u64) {
        self.put(meant_ns, Job { work_order, is_ordered: true, state: 0, meant_ns });
    }

    /// Appends the request of the next step, which is then in flight.
    pub fn write_next(&mut self, host: &str, out: &mut Vec<u8>) {
        if let Some((_, job)) = self.waiting.pop_first() {
            job.request().write(host, out);
            self.in_flight = Some(job);
        }
    }

    /// The name of the request in flight, for messages.
    pub fn request_name(&self) -> &'static str {
        self.in_flight.map_or("none", |job| job.request().name())
    }

    /// Takes the reply to the request in flight.
    pub fn on_reply(
        &mut self,
        ids: &mut UsedIds,
        ledger: &mut ProductionLedger,
        (status, body): (u16, &[u8]),
        now_ns: u64,
    ) -> FactoryReply {
        let Some(mut job) = self.in_flight else {
            return FactoryReply::Failed(ReplyError("a reply without a request".to_owned()));
        };
        if status == 409 && job.state == 0 {
            self.in_flight = None;
            self.put(now_ns + SHORT_NS, job);
            return FactoryReply::Short;
        }
        let checked = if status == 200 { job.check(ids, body) } else { Err(not_ok(status, body)) };
        if let Err(error) = checked {
            self.on_lost(ledger);
            return FactoryReply::Failed(error);
        }
        self.in_flight = None;
        if job.state == COMPLETE {
            ledger.record_complete(&job.work_order);
            return FactoryReply::Complete(job.meant_ns);
        }
        self.put(now_ns + STEP_NS, job);
        FactoryReply::Next
    }

    /// No right reply to the request in flight will come: the work order is left.
    pub fn on_lost(&mut self, ledger: &mut ProductionLedger) {
        if let Some(job) = self.in_flight.take() {
            ledger.unfinished += 1;
            ledger.maybe_complete += u64::from(job.state == COMPLETE - 1);
        }
    }

    /// Leaves all work orders, at the end of a run that broke off.
    pub fn leave(&mut self, ledger: &mut ProductionLedger) {
        self.on_lost(ledger);
        // Planned ones that did not begin are not stored.
        ledger.unfinished +=
            self.waiting.values().filter(|job| job.is_ordered || job.state > 0).count() as u64;
        self.waiting.clear();
    }

    fn put(&mut self, due_ns: u64, job: Job) {
        self.put += 1;
        self.waiting.insert((due_ns, self.put), job);
    }
}

impl Job {
    fn request(&self) -> Request {
        let WorkOrder { id, assembly, quantity } = self.work_order;
        match (self.state, self.is_ordered) {
            (0, false) => Request::Plan { assembly, quantity },
            (0, true) => Request::Schedule { work_order: id },
            (state, _) => Request::Advance { work_order: id, state: state + 1 },
        }
    }

    /// Checks the reply to a step, and enters it.
    fn check(&mut self, ids: &mut UsedIds, body: &[u8]) -> Result<(), ReplyError> {
        let reply: WorkOrderReply = parse(body)?;
        if self.state == 0 && !self.is_ordered {
            self.work_order.id = reply.work_order;
            if !ids.use_work_order(reply.work_order) {
                return Err(ReplyError(format!(
                    "the id {} of a new work order is not new",
                    reply.work_order
                )));
            }
        }
        let id = self.work_order.id;
        same("work order", id, reply.work_order)?;
        same(format_args!("state of work order {id}"), self.state + 1, reply.state)?;
        same(format_args!("assembly of work order {id}"), self.work_order.assembly, reply.assembly)?;
        same(format_args!("quantity of work order {id}"), self.work_order.quantity, reply.quantity)?;
        self.state += 1;
        Ok(())
    }
}

#[cfg(test)]
#[path = "factory_tests.rs"]
mod tests;
