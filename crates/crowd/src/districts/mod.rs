//! The districts of workload `orders`, without any I/O: each has five dealers, a factory and a supplier, and a connection for each.

mod dealers;
mod factories;
mod parties;
mod suppliers;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use klatch_exchange::orders::{
    DEALERS_PER_DISTRICT, Dealer, Factory, Ledgers, OperationKind, Population, ProductionLedger, Supplier,
    UsedIds, by_customer,
};
use klatch_record::{CONTENT_SEED, Fault, FaultKind, OrdersCounts, OrdersWorkload};

use crate::link::Link;
use crate::worker::Worker;

/// Dealers of a district.
const DEALERS: usize = DEALERS_PER_DISTRICT as usize;
/// Place of the factory among the connections of a district.
const FACTORY: usize = DEALERS;
/// Place of the supplier among the connections of a district.
const SUPPLIER: usize = DEALERS + 1;
/// Connections of a district.
const CONNECTIONS: usize = DEALERS + 2;

/// The progress of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The next request may be sent when it is due.
    Idle,
    /// A reply is missing.
    InFlight,
    /// Nothing more is to be sent.
    Done,
}

/// One connection of a district.
struct Seat {
    link: Link,
    state: State,
    /// Operations begun so far; of a supplier, polls too.
    begun: u32,
}

struct District {
    /// Its number in the whole crowd, from 1.
    number: u32,
    seats: Vec<Seat>,
    dealers: Vec<Dealer>,
    /// The operation in progress of each dealer.
    operations: Vec<dealers::Operation>,
    dealers_done: usize,
    factory: Factory,
    is_factory_done: bool,
    supplier: Supplier,
    polling: suppliers::Polling,
    /// Operations whose replies were all right.
    verified: u64,
}

/// What the workers of a crowd know about all its factories. A component that one of them lacks may be delivered by any supplier, so
/// no supplier stops before all factories do.
#[derive(Debug)]
pub(crate) struct Factories {
    /// Districts whose factory still has, or will have, a work order.
    active: AtomicU64,
    /// Work orders in progress.
    in_progress: AtomicU64,
}

impl Factories {
    pub(crate) fn new(districts: u32) -> Arc<Factories> {
        Arc::new(Factories { active: AtomicU64::new(districts.into()), in_progress: AtomicU64::new(0) })
    }

    fn all_done(&self) -> bool {
        self.active.load(Ordering::Acquire) == 0
    }

    fn in_progress(&self) -> u64 {
        self.in_progress.load(Ordering::Acquire)
    }
}

pub(crate) struct Districts {
    worker: Worker,
    workload: OrdersWorkload,
    ids: UsedIds,
    production: ProductionLedger,
    districts: Vec<District>,
    factories: Arc<Factories>,
    /// Operations of dealers and batches of suppliers that are not complete.
    in_flight: u64,
    /// Connections that may have something to send because of what another one received.
    ready: Vec<usize>,
    /// Districts whose supplier is done, so that nothing is left to do.
    done: usize,
    counts: OrdersCounts,
    /// Order entries and work orders of the steady state.
    in_steady: u64,
}

/// The population that a server loads for this workload.
pub(crate) fn population(workload: &OrdersWorkload) -> Population {
    Population { seed: CONTENT_SEED, rate: workload.population }
}

impl Districts {
    /// The districts `range`, counted from the first of the workload. They continue from `ledgers` of earlier runs.
    pub(crate) fn new(
        worker: Worker,
        workload: &OrdersWorkload,
        seed: u64,
        range: Range<u32>,
        ledgers: &Ledgers,
        factories: Arc<Factories>,
    ) -> Districts {
        let population = population(workload);
        let known = by_customer(ledgers);
        let seat = |_| Seat { link: Link::default(), state: State::Idle, begun: 0 };
        let district = |index| {
            let number = workload.start + index;
            let first_dealer = (number - 1) * DEALERS_PER_DISTRICT;
            let dealers = first_dealer..first_dealer + DEALERS_PER_DISTRICT;
            District {
                number,
                seats: (0..CONNECTIONS).map(seat).collect(),
                dealers: dealers.map(|dealer| Dealer::new(dealer, population, seed, &known)).collect(),
                operations: vec![dealers::Operation::default(); DEALERS],
                dealers_done: 0,
                factory: Factory::new(number - 1, population, seed),
                is_factory_done: false,
                supplier: Supplier::new(number - 1, workload.suppliers),
                polling: suppliers::Polling::new(number - 1, workload.suppliers),
                verified: 0,
            }
        };
        Districts {
            worker,
            workload: workload.clone(),
            ids: UsedIds::new(&population, ledgers),
            production: ProductionLedger::default(),
            districts: range.map(district).collect(),
            factories,
            in_flight: 0,
            ready: Vec::new(),
            done: 0,
            counts: OrdersCounts::default(),
            in_steady: 0,
        }
    }

    /// The moment from which the schedule counts, ns: the opening of the gate, later by the time in which a pause was requested and
    /// not complete.
    fn origin_ns(&self) -> u64 {
        self.worker.shared.gate_ns() + self.worker.shared.pausing_ns()
    }

    /// The end of the ramp, on the schedule, ns.
    fn ramp_ns(&self) -> u64 {
        (self.workload.ramp_s * 1e9) as u64
    }

    /// The end of the steady state, on the schedule, ns. Nothing begins later.
    fn end_ns(&self) -> u64 {
        ((self.workload.ramp_s + self.workload.duration_s) * 1e9) as u64
    }

    fn is_open(&self) -> bool {
        self.worker.shared.gate_ns() > 0
    }

    /// Counts a verified operation that was meant to begin at `meant_ns`.
    fn record(&mut self, district: usize, kind: OperationKind, meant_ns: u64, now_ns: u64) {
        self.districts[district].verified += 1;
        let on_schedule_ns = meant_ns.saturating_sub(self.origin_ns());
        let is_steady = (self.ramp_ns()..self.end_ns()).contains(&on_schedule_ns);
        let is_entry = !matches!(kind, OperationKind::WorkOrder | OperationKind::Delivery);
        if is_steady {
            self.worker.stats.record_operation(kind.name(), now_ns.saturating_sub(meant_ns));
            self.in_steady += u64::from(kind != OperationKind::Delivery);
        }
        // The latency of a work order has its three pauses, so it is not among those of the order entries.
        if is_steady && is_entry {
            self.worker.stats.record_delivery(self.worker.shared.gate_ns(), now_ns, meant_ns);
        } else {
            self.worker.stats.record_without_latency(now_ns);
        }
    }

    fn record_fault(&mut self, index: usize, kind: FaultKind, error: &dyn std::fmt::Display) {
        let (district, place) = (&self.districts[index / CONNECTIONS], index % CONNECTIONS);
        let (number, seat) = (district.number, &district.seats[place]);
        let detail = match place {
            FACTORY => format!("district {number}, factory, {}: {error}", district.factory.request_name()),
            SUPPLIER => format!("district {number}, supplier, {}: {error}", district.supplier.request_name()),
            dealer => {
                let (dealer, name) = (&district.dealers[dealer], district.dealers[dealer].request_name());
                format!("district {number}, customer {}, {name}: {error}", dealer.customer())
            }
        };
        let (connection, sequence) = (self.connection(index), seat.begun.saturating_sub(1));
        self.worker.stats.record_fault(Fault::of_connection(kind, connection, sequence, Some(detail)));
    }

    /// Number of a connection in the whole crowd, from 1.
    fn connection(&self, index: usize) -> u32 {
        (self.workload.start - 1) * CONNECTIONS as u32
            + (self.districts[index / CONNECTIONS].number - self.workload.start) * CONNECTIONS as u32
            + (index % CONNECTIONS) as u32
            + 1
    }

    fn seat(&mut self, index: usize) -> &mut Seat {
        &mut self.districts[index / CONNECTIONS].seats[index % CONNECTIONS]
    }

    /// Length of the steady state, seconds; shorter if the parent ended the run.
    fn steady_s(&self) -> f64 {
        let shared = &self.worker.shared;
        if !shared.finished() {
            return self.workload.duration_s;
        }
        let on_schedule_ns = shared.pause_requested_ns().saturating_sub(self.origin_ns());
        let steady_ns = on_schedule_ns.min(self.end_ns()).saturating_sub(self.ramp_ns());
        steady_ns as f64 / 1e9
    }

    /// A connection has no further reply to its request in flight.
    fn on_lost(&mut self, index: usize) {
        let district = &mut self.districts[index / CONNECTIONS];
        match index % CONNECTIONS {
            FACTORY => district.factory.on_lost(&mut self.production),
            SUPPLIER => district.supplier.on_lost(&mut self.production),
            dealer => {
                self.production.unfinished += district.dealers[dealer].unconfirmed_work_orders();
                district.dealers[dealer].on_lost();
            }
        }
    }
}

#[cfg(test)]
#[path = "../districts_tests.rs"]
mod tests;
