//! The factories: work orders on a schedule and those of large orders, any number of them in progress on one connection.

use std::sync::atomic::Ordering;

use klatch_exchange::orders::{Factory, FactoryReply, OperationKind};
use klatch_record::FaultKind;

use super::{CONNECTIONS, DEALERS, District, Districts, FACTORY, SUPPLIER, State};
use crate::parties::Parties;
use crate::site::HOST;
use crate::worker::WorkerState;

impl Districts {
    /// Sends the next step that is due. Returns when the next one is, or the next work order.
    pub(super) fn queue_factory(&mut self, number: usize, now_ns: u64) -> Option<u64> {
        let (origin_ns, end_ns) = (self.origin_ns(), self.end_ns());
        let is_running = self.worker.state == WorkerState::Running;
        let next_planned_ns = |factory: &Factory| {
            let on_schedule_ns = Some(factory.next_planned_ns()).filter(|ns| is_running && *ns < end_ns);
            on_schedule_ns.map(|ns| origin_ns + ns)
        };
        let factory = &mut self.districts[number].factory;
        let mut planned = 0;
        while let Some(meant_ns) = next_planned_ns(factory).filter(|meant_ns| *meant_ns <= now_ns) {
            factory.plan(meant_ns);
            planned += 1;
        }
        self.begin_work_orders(planned);
        let District { factory, seats, .. } = &mut self.districts[number];
        let seat = &mut seats[FACTORY];
        if seat.state != State::Idle {
            return None;
        }
        match factory.next_step_ns() {
            Some(due_ns) if due_ns <= now_ns => {
                factory.write_next(HOST, &mut seat.link.out);
                seat.state = State::InFlight;
                seat.begun += 1;
                None
            }
            next_ns => {
                let due_ns = next_ns.into_iter().chain(next_planned_ns(factory)).min();
                self.check_factory(number);
                due_ns
            }
        }
    }

    pub(super) fn on_factory_reply(&mut self, number: usize, (status, body): (u16, &[u8]), now_ns: u64) {
        let factory = &mut self.districts[number].factory;
        match factory.on_reply(&mut self.ids, &mut self.production, (status, body), now_ns) {
            FactoryReply::Next => {}
            FactoryReply::Short => self.counts.short += 1,
            FactoryReply::Complete(meant_ns) => {
                self.record(number, OperationKind::WorkOrder, meant_ns, now_ns);
                self.end_work_order(number);
            }
            FactoryReply::Failed(error) => {
                self.record_fault(number * CONNECTIONS + FACTORY, FaultKind::Wrong, &error);
                self.end_work_order(number);
            }
        }
    }

    pub(super) fn begin_work_orders(&mut self, count: u64) {
        self.worker.stats.sent += count;
        self.factories.in_progress.fetch_add(count, Ordering::AcqRel);
    }

    pub(super) fn end_work_order(&mut self, number: usize) {
        self.factories.in_progress.fetch_sub(1, Ordering::AcqRel);
        self.check_factory(number);
        self.report_pause_if_complete();
    }

    /// A factory is done when no work order is in progress and none follows: the dealers of its district are done, and so is its
    /// schedule.
    pub(super) fn check_factory(&mut self, number: usize) {
        let end_ns = self.end_ns();
        let district = &mut self.districts[number];
        let has_work = district.factory.in_progress() > 0 || district.factory.next_planned_ns() < end_ns;
        if district.is_factory_done || has_work || district.dealers_done < DEALERS {
            return;
        }
        district.is_factory_done = true;
        district.seats[FACTORY].state = State::Done;
        self.factories.active.fetch_sub(1, Ordering::AcqRel);
        if self.factories.all_done() {
            // Nothing is purchased any more, so each supplier polls for the last time. Those of other workers do when they poll next.
            self.ready.extend((0..self.districts.len()).map(|number| number * CONNECTIONS + SUPPLIER));
        }
    }
}
