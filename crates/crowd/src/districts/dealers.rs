//! The dealers: their operations on a schedule that is fixed in advance.

use klatch_exchange::orders::OperationKind;
use klatch_record::FaultKind;

use super::{CONNECTIONS, District, Districts, FACTORY, State};
use crate::parties::Parties;
use crate::site::HOST;
use crate::worker::WorkerState;

/// The operation in progress of a dealer, or the last one.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    kind: OperationKind,
    /// Its intended moment, ns.
    meant_ns: u64,
    /// When the dealer was free for the next one, ns.
    free_ns: u64,
}

impl Default for Operation {
    fn default() -> Operation {
        Operation { kind: OperationKind::CustomerStatus, meant_ns: 0, free_ns: 0 }
    }
}

impl Districts {
    /// Begins the operation of a dealer that is due. Returns when the next one is.
    pub(super) fn queue_dealer(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        let (origin_ns, end_ns) = (self.origin_ns(), self.end_ns());
        let (district, place) = (index / CONNECTIONS, index % CONNECTIONS);
        let is_idle = self.seat(index).state == State::Idle && self.worker.state == WorkerState::Running;
        if !is_idle {
            return None;
        }
        let on_schedule_ns = self.districts[district].dealers[place].due_ns();
        // At the end the dealer is done, also if its next moment is later.
        let due_ns = origin_ns + on_schedule_ns.min(end_ns);
        if due_ns > now_ns {
            return Some(due_ns);
        }
        if on_schedule_ns >= end_ns {
            self.seat(index).state = State::Done;
            self.districts[district].dealers_done += 1;
            self.check_factory(district);
            return None;
        }
        let District { dealers, operations, seats, .. } = &mut self.districts[district];
        let (dealer, operation, seat) = (&mut dealers[place], &mut operations[place], &mut seats[place]);
        *operation = Operation { kind: dealer.begin(), meant_ns: due_ns, ..*operation };
        dealer.write_request(HOST, &mut seat.link.out);
        seat.state = State::InFlight;
        seat.begun += 1;
        self.in_flight += 1;
        self.worker.stats.sent += 1;
        // A dealer that waited for a reply is not late by itself.
        let lag_ns = now_ns - due_ns.max(operation.free_ns).min(now_ns);
        self.worker.stats.record_lag(lag_ns);
        None
    }

    pub(super) fn on_dealer_reply(&mut self, index: usize, (status, body): (u16, &[u8]), now_ns: u64) {
        let (number, place) = (index / CONNECTIONS, index % CONNECTIONS);
        let district = &mut self.districts[number];
        let dealer = &mut district.dealers[place];
        let reply = dealer.on_reply(&mut self.ids, status, body);
        self.counts.refused += u64::from(reply.is_refused);
        let work_orders = reply.work_orders.len() as u64;
        if reply.error.is_some() && work_orders == 0 {
            self.production.unfinished += dealer.unconfirmed_work_orders();
        }
        for work_order in reply.work_orders {
            district.factory.add(work_order, now_ns);
        }
        if work_orders > 0 {
            self.begin_work_orders(work_orders);
            self.ready.push(number * CONNECTIONS + FACTORY);
        }
        match reply.error {
            Some(error) => self.record_fault(index, FaultKind::Wrong, &error),
            None => {
                let Operation { kind, meant_ns, .. } = self.districts[number].operations[place];
                self.record(number, kind, meant_ns, now_ns);
            }
        }
        self.end_operation(index, now_ns);
    }

    pub(super) fn end_operation(&mut self, index: usize, now_ns: u64) {
        self.districts[index / CONNECTIONS].operations[index % CONNECTIONS].free_ns = now_ns;
        self.in_flight -= 1;
        self.report_pause_if_complete();
    }
}
