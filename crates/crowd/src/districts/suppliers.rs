//! The suppliers: each polls for its purchases twice a second, and delivers them.

use klatch_exchange::orders::{OperationKind, SupplierReply};
use klatch_record::FaultKind;

use super::{CONNECTIONS, District, Districts, SUPPLIER, State};
use crate::parties::Parties;
use crate::site::HOST;
use crate::worker::WorkerState;

/// Time between two polls, ns.
const PERIOD_NS: u64 = 500_000_000;

/// When a supplier polls for purchases.
pub(super) struct Polling {
    /// The moment of the next poll on the schedule, ns after the gate opened.
    next_ns: u64,
    /// The poll and its deliveries are not complete.
    in_progress: bool,
    /// All factories were done before the poll, so it finds the last purchases.
    is_last: bool,
    /// When the reply to the poll, or to the delivery before, arrived, ns.
    ready_ns: u64,
}

impl Polling {
    /// The polls of supplier `number`, from 0, of `suppliers`, which poll one after the other.
    pub(super) fn new(number: u32, suppliers: u32) -> Polling {
        let next_ns = PERIOD_NS * u64::from(number) / u64::from(suppliers);
        Polling { next_ns, in_progress: false, is_last: false, ready_ns: 0 }
    }
}

impl Districts {
    /// Sends the next delivery, or polls for purchases if it is time. Returns when that is.
    pub(super) fn queue_supplier(&mut self, number: usize, now_ns: u64) -> Option<u64> {
        if self.districts[number].seats[SUPPLIER].state != State::Idle {
            return None;
        }
        if !self.districts[number].polling.in_progress {
            // A work order that lacks a component goes on into a pause, and so do the suppliers.
            if self.worker.state == WorkerState::Pausing && self.factories.in_progress() == 0 {
                self.report_pause_if_complete();
                return None;
            }
            let (is_last, due_ns) = (self.factories.all_done(), self.poll_ns(number));
            if !is_last && due_ns > now_ns {
                return Some(due_ns);
            }
            let origin_ns = self.origin_ns();
            let polling = &mut self.districts[number].polling;
            let missed = now_ns.saturating_sub(origin_ns + polling.next_ns) / PERIOD_NS;
            polling.next_ns += (missed + 1) * PERIOD_NS;
            (polling.in_progress, polling.is_last) = (true, is_last);
            self.in_flight += 1;
        }
        let District { supplier, seats, .. } = &mut self.districts[number];
        let seat = &mut seats[SUPPLIER];
        supplier.write_next(HOST, &mut seat.link.out);
        seat.state = State::InFlight;
        seat.begun += 1;
        None
    }

    fn poll_ns(&self, number: usize) -> u64 {
        self.origin_ns() + self.districts[number].polling.next_ns
    }

    pub(super) fn on_supplier_reply(&mut self, number: usize, (status, body): (u16, &[u8]), now_ns: u64) {
        let district = &mut self.districts[number];
        let meant_ns = district.polling.ready_ns;
        district.polling.ready_ns = now_ns;
        match district.supplier.on_reply(&mut self.production, status, body) {
            SupplierReply::Purchases => {}
            SupplierReply::Delivered => {
                self.worker.stats.sent += 1;
                self.record(number, OperationKind::Delivery, meant_ns, now_ns);
            }
            SupplierReply::Failed(error) => {
                self.record_fault(number * CONNECTIONS + SUPPLIER, FaultKind::Wrong, &error);
            }
        }
        if !self.districts[number].supplier.has_next() {
            self.end_batch(number);
        }
    }

    /// Everything that the last poll found is delivered.
    pub(super) fn end_batch(&mut self, number: usize) {
        let district = &mut self.districts[number];
        district.polling.in_progress = false;
        self.in_flight -= 1;
        if district.polling.is_last {
            district.seats[SUPPLIER].state = State::Done;
            self.done += 1;
            if self.done == self.districts.len() {
                self.worker.report_complete();
            }
        }
        self.report_pause_if_complete();
    }
}
